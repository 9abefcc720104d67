// Activity of one mount: the counters of its layers, each filled by its own layer and read by metrics and `calcfs top`.
import { type KernelCalls, openKernelCalls } from './kernel-calls.js'
import { Pauses } from './pauses.js'
import { openRequests, type Requests } from './requests.js'

export interface Activity {
  readonly kernel: KernelWay
  readonly calls: KernelCalls
  readonly pauses: Pauses
  readonly requests: Requests
  readonly cache: CacheUse
  readonly foresight: Foresight
}

export const openActivity = (): Activity => ({
  kernel: { way: 'session', because: undefined },
  calls: openKernelCalls(),
  pauses: new Pauses(),
  requests: openRequests(),
  cache: openCacheUse(),
  foresight: openForesight(),
})

/** How this mount speaks to the kernel, and why not by the session. */
export interface KernelWay {
  way: 'session' | 'libfuse'
  because: string | undefined
}

/** Counters since the mount. */
export interface CacheUse {
  /** Listings and records that were known and fresh, and those that a request was waited for. */
  answersKnown: number
  answersAsked: number
  /** Bytes of files that programs read from what is kept, and from what is arriving. */
  bytesKept: number
  bytesArriving: number
  /** Reads, likewise. */
  readsKept: number
  readsArriving: number
}

export const openCacheUse = (): CacheUse => ({
  answersKnown: 0,
  answersAsked: 0,
  bytesKept: 0,
  bytesArriving: 0,
  readsKept: 0,
  readsArriving: 0,
})

/** What was asked ahead of a user, and whether it was used afterwards. */
export interface Foresight {
  /** It was brought although nothing waited for it. */
  brought(name: string, bytes: number): void
  /** A program asks for it: it was right to ask ahead. */
  used(name: string): void
  /** It is gone, or no longer fresh. */
  dropped(name: string): void
  readonly counts: { readonly used: number; readonly wasted: number; readonly waiting: number }
  readonly bytes: { readonly used: number; readonly wasted: number }
}

/** What is remembered of it; the oldest beyond that count as wasted. */
const rememberedAtMost = 20_000

export function openForesight(): Foresight {
  const waiting = new Map<string, number>()
  const counts = { used: 0, wasted: 0 }
  const bytes = { used: 0, wasted: 0 }

  function end(name: string, how: 'used' | 'wasted'): void {
    // The usual case, on the way of each read.
    if (waiting.size === 0) return
    const length = waiting.get(name)
    if (length === undefined) return
    waiting.delete(name)
    counts[how] += 1
    bytes[how] += length
  }

  return {
    brought(name, length) {
      end(name, 'wasted')
      const [oldest] = waiting.size < rememberedAtMost ? [] : waiting.keys()
      if (oldest !== undefined) end(oldest, 'wasted')
      waiting.set(name, length)
    },
    used: name => end(name, 'used'),
    dropped: name => end(name, 'wasted'),
    get counts() {
      return { ...counts, waiting: waiting.size }
    },
    bytes,
  }
}
