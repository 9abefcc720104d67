// Callers of a shared answer: a request without callers yields its slot, a new caller checks on its progress.
import { RequestLog } from '../activity/kernel-calls.js'

export class Askers {
  /** The requests that it sends. */
  readonly requests = new RequestLog()
  readonly #watchers = new Set<(what: 'came' | 'left') => void>()
  #count = 0

  get waiting(): boolean {
    return this.#count > 0
  }

  /** Reports every caller that joins or leaves, until it is cancelled. */
  watch(changed: (what: 'came' | 'left') => void): () => void {
    this.#watchers.add(changed)
    return () => this.#watchers.delete(changed)
  }

  /** One more caller waits, for the requests of this one; the returned function ends that, once. */
  join(own?: RequestLog): () => void {
    let joined = true
    own?.join(this.requests)
    this.#change(1)
    return () => {
      if (joined) this.#change(-1)
      joined = false
    }
  }

  #change(by: 1 | -1): void {
    this.#count += by
    if (this.#watchers.size > 0) for (const watcher of [...this.#watchers]) watcher(by > 0 ? 'came' : 'left')
  }
}
