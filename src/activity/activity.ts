// Activity of one mount: the counters of its layers, each filled by its own layer and read by metrics and `calcfs top`.
import { KernelCalls, Requests } from './kernel-calls.js'

export class Activity {
  readonly kernel: KernelWay = { way: 'session', because: undefined }
  readonly calls = new KernelCalls()
  readonly requests = new Requests()
  readonly cache = new CacheUse()
  readonly foresight = new Foresight()
}

/** How this mount speaks to the kernel, and why not by the session. */
export interface KernelWay {
  way: 'session' | 'libfuse'
  because: string | undefined
}

export class CacheUse {
  /** Questions of users and of foresight that what is kept did not answer. */
  missed = 0
  /** Listings and records that were known and fresh, and those that a request was waited for. */
  answersKnown = 0
  answersAsked = 0
  /** Bytes of files that programs read from what is kept, and from what is arriving. */
  bytesKept = 0
  bytesArriving = 0
  readsKept = 0
  readsArriving = 0
}

/** The number of guesses remembered; the oldest beyond that count as wasted. */
const rememberedAtMost = 20_000

/** Answers and contents asked ahead of a user, and their use. */
export class Foresight {
  readonly bytes = { used: 0, wasted: 0 }
  readonly #waiting = new Map<string, number>()
  readonly #counts = { used: 0, wasted: 0 }

  get counts(): { readonly used: number; readonly wasted: number; readonly waiting: number } {
    return { ...this.#counts, waiting: this.#waiting.size }
  }

  /** It was brought although nothing waited for it. */
  brought(name: string, bytes: number): void {
    this.#end(name, 'wasted')
    const [oldest] = this.#waiting.size < rememberedAtMost ? [] : this.#waiting.keys()
    if (oldest !== undefined) this.#end(oldest, 'wasted')
    this.#waiting.set(name, bytes)
  }

  /** A program asks for it: it was right to ask ahead. */
  used(name: string): void {
    this.#end(name, 'used')
  }

  dropped(name: string): void {
    this.#end(name, 'wasted')
  }

  #end(name: string, how: 'used' | 'wasted'): void {
    // The usual case, on the way of each read.
    if (this.#waiting.size === 0) return
    const length = this.#waiting.get(name)
    if (length === undefined) return
    this.#waiting.delete(name)
    this.#counts[how] += 1
    this.bytes[how] += length
  }
}
