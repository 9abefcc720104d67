// Short work on the local disk, done at once: handing it to another thread and back costs more than the work itself.

export interface QuickDisk {
  /** Does it now and measures it; undefined where the disk was slow a moment ago, and the caller takes the other way. */
  now<Value>(work: () => Value): { readonly done: Value } | undefined
}

/** A page cache answers in microseconds; a disk that must be waited for takes milliseconds. */
const slowAfterMs = 5
/** Milliseconds for which a slow disk is left to the other threads. */
const restMs = 2_000

/** One for each directory whose disk may be another. */
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
