// Callers of a shared answer: a request without callers yields its slot, a new caller checks on its progress.
import { RequestLog } from '../activity/request-log.js'

export interface Askers {
  readonly waiting: boolean
  /** Which requests it sends. */
  readonly requests: RequestLog
  /** Reports every caller that joins or leaves, until it is cancelled. */
  watch(changed: (what: 'came' | 'left') => void): () => void
}

/** The same for the owner of a shared answer. */
export interface CountedAskers extends Askers {
  /** One more caller waits, for the requests of this one; the returned function ends that, once. */
  join(own?: RequestLog): () => void
}

/** Without a caller that waits. */
export function openAskers(): CountedAskers {
  const watchers = new Set<(what: 'came' | 'left') => void>()
  const requests = new RequestLog()
  let count = 0

  function change(by: 1 | -1): void {
    count += by
    if (watchers.size > 0) for (const watcher of [...watchers]) watcher(by > 0 ? 'came' : 'left')
  }

  return {
    requests,
    get waiting() {
      return count > 0
    },
    watch(changed) {
      watchers.add(changed)
      return () => watchers.delete(changed)
    },
    join(own) {
      let joined = true
      own?.join(requests)
      change(1)
      return () => {
        if (joined) change(-1)
        joined = false
      }
    },
  }
}

/**
 * Joins for a request that has callers of its own, while `counts` holds; each new one of those counts as a new caller here,
 * too. The returned function ends that.
 */
export function joinFor(shared: CountedAskers, own: Askers | undefined, counts: () => boolean): () => void {
  let leave: (() => void) | undefined
  const look = (): void => {
    const before = leave
    leave = counts() ? shared.join() : undefined
    before?.()
  }
  const unwatch = own?.watch(look)
  look()
  return () => {
    unwatch?.()
    leave?.()
  }
}
