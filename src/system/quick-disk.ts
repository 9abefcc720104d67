// Short synchronous work on the local disk: handing it to another thread and back costs more than the work itself.
import { readFileSync } from 'node:fs'

/** A page cache answers in microseconds; a disk that must be waited for takes milliseconds. */
const slowAfterMs = 5
/** A single wait may be another's, such as a collection of garbage. */
const verySlowAfterMs = 50
/** Milliseconds for which a slow disk is left to the thread pool; a second wait within them says that it is one. */
const restMs = 2_000

/** Milliseconds after which it is looked up again how long this thread was busy: a look costs as much as short work. */
const lookEveryMs = 100

/** One for each directory that may be on a disk of its own. */
export function openQuickDisk() {
  let restUntil = 0
  let waitedAt = Number.NEGATIVE_INFINITY
  let watchedUntil = 0
  return {
    /** Runs it now and measures it; undefined where the disk is slow just now: then use the asynchronous call. */
    now<Value>(work: () => Value): { readonly done: Value } | undefined {
      const began = performance.now()
      if (began < restUntil) return undefined
      if (began < watchedUntil || began - busy.lookedAt > lookEveryMs) look()
      try {
        return { done: work() }
      } finally {
        const ended = performance.now()
        if (ended - began > slowAfterMs) {
          // The time after a long step is measured exactly.
          watchedUntil = ended + restMs
          const waited = ended - began - busySinceLook()
          const isSlow = waited > verySlowAfterMs || (waited > slowAfterMs && began - waitedAt < restMs)
          if (isSlow) restUntil = ended + restMs
          if (waited > slowAfterMs) waitedAt = ended
        }
      }
    },
  }
}

/** How long this thread has computed, or waited for a processor, since its start, as looked up last. */
const busy = { ms: 0, lookedAt: Number.NEGATIVE_INFINITY }

function look(): void {
  busy.ms = busyMs()
  busy.lookedAt = performance.now()
}

/** On a machine that other programs keep busy a step takes as long as their turns: that is no slow disk. */
function busySinceLook(): number {
  const before = busy.ms
  look()
  return busy.ms - before
}

/**
 * Source: "sched-stats" of the kernel's documentation, nanoseconds on a processor and in the queue for one. 0 where the kernel
 * does not tell it: all of a step then counts as waiting.
 */
function busyMs(): number {
  try {
    const [running, queued] = readFileSync('/proc/self/schedstat', 'latin1').split(' ')
    return (Number(running) + Number(queued)) / 1e6
  } catch {
    return 0
  }
}
