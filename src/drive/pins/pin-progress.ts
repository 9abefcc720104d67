// Pin progress: how much of a pin is here, and why not all of it.
import type { PinLine } from '../interface/control.js'
import type { SizedContent } from './pin-fetch.js'
import type { Pin } from './pin-store.js'

/** One pin's state in this process. */
export class PinProgress {
  state: PinLine['state'] = 'looking'
  because: string | undefined
  /** How many files there are, and what is known of each. */
  files = 0
  bytes = 0
  /** Whether all of it was looked at in this process. */
  isFound = false
  #filesKept = 0
  #bytesKept = 0
  readonly #coming = new Set<SizedContent>()

  constructor(private readonly share: (one: SizedContent) => number) {}

  /** All of it was looked at: these are here. */
  found(all: readonly SizedContent[], here: ReadonlySet<SizedContent>): void {
    this.isFound = true
    this.files = all.length
    this.bytes = sum(all)
    this.#filesKept = here.size
    this.#bytesKept = sum(here)
    this.#coming.clear()
  }

  begun(one: SizedContent): void {
    this.#coming.add(one)
  }

  kept(one: SizedContent): void {
    this.#coming.delete(one)
    this.#filesKept += 1
    this.#bytesKept += one.bytes
  }

  stopped(state: PinLine['state'], because?: string): void {
    this.#coming.clear()
    this.state = state
    this.because = because
  }

  report({ path, target, since }: Pin): PinLine {
    const coming = [...this.#coming].reduce(
      (bytes, one) => bytes + one.bytes * Math.min(1, this.share(one)),
      0,
    )
    return {
      path,
      kind: target.kind,
      id: idOf(target),
      since,
      state: this.state,
      because: this.because,
      files: this.files,
      filesKept: this.#filesKept,
      bytes: this.bytes,
      bytesKept: Math.floor(this.#bytesKept + coming),
    }
  }
}

function idOf(target: Pin['target']): string | undefined {
  if (target.kind === 'content') return target.content.calculation
  return target.kind === 'top' ? undefined : target.id
}

function sum(all: Iterable<SizedContent>): number {
  let bytes = 0
  for (const one of all) bytes += one.bytes
  return bytes
}
