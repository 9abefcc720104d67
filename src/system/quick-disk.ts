// Short synchronous work on the local disk: handing it to another thread and back costs more than the work itself.

export interface QuickDisk {
  /** Runs it now and measures it; undefined where the disk was slow a moment ago: then use the asynchronous call. */
  now<Value>(work: () => Value): { readonly done: Value } | undefined
}

/** A page cache answers in microseconds; a disk that must be waited for takes milliseconds. */
const slowAfterMs = 5
/** Milliseconds for which a slow disk is left to the thread pool. */
const restMs = 2_000

/** One for each directory that may be on a disk of its own. */
export function openQuickDisk(): QuickDisk {
  let restUntil = 0
  return {
    now(work) {
      const began = performance.now()
      if (began < restUntil) return undefined
      try {
        return { done: work() }
      } finally {
        const ended = performance.now()
        if (ended - began > slowAfterMs) restUntil = ended + restMs
      }
    },
  }
}
