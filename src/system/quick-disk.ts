// Short synchronous work on the local disk: handing it to another thread and back costs more than the work itself.

export interface QuickDisk {
  /** Runs it now and measures it; undefined where the disk is slow just now: then use the asynchronous call. */
  now<Value>(work: () => Value): { readonly done: Value } | undefined
}

/** A page cache answers in microseconds; a disk that must be waited for takes milliseconds. */
const slowAfterMs = 5
/** A single wait may be another's: a collection of garbage, or a program that had the processor. */
const verySlowAfterMs = 50
/** Milliseconds for which a slow disk is left to the thread pool; a second wait within them says that it is one. */
const restMs = 2_000

/** One for each directory that may be on a disk of its own. */
export function openQuickDisk(): QuickDisk {
  let restUntil = 0
  let waitedAt = Number.NEGATIVE_INFINITY
  return {
    now(work) {
      const began = performance.now()
      if (began < restUntil) return undefined
      try {
        return { done: work() }
      } finally {
        const ended = performance.now()
        if (ended - began > slowAfterMs) {
          const isSlow = ended - began > verySlowAfterMs || began - waitedAt < restMs
          if (isSlow) restUntil = ended + restMs
          waitedAt = ended
        }
      }
    },
  }
}
