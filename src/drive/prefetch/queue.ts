// Prefetch queue: started in order while the service has room, and dropped when the traversal has ended.
import { setMaxListeners } from 'node:events'
import { asFailure, isA } from '../../failure.js'
import { dueIn } from '../../remote/clock.js'
import type { Instant, RequestContext } from '../../remote/remote.js'

/** Asks ahead; `signal` ends it once it is not wanted any more. */
type PrefetchTask = (context: RequestContext, signal: AbortSignal) => Promise<unknown>

/** Guesses that stand or fall together. */
export interface PrefetchBatch {
  add(task: PrefetchTask): void
  /** What has not begun is forgotten, what can be stopped is stopped. */
  cancel(): void
}

export interface PrefetchQueue {
  batch(): PrefetchBatch
}

/** Milliseconds after which a guess has come too late anyway. */
const patienceMs = 30_000

/** `room` is how many guesses may be under way side by side, now. */
export function openPrefetchQueue(room: () => number, now: () => Instant): PrefetchQueue {
  // One queue for all batches: the order in which they are wanted.
  let waiting: { readonly task: PrefetchTask; readonly signal: AbortSignal }[] = []
  let first = 0
  let underWay = 0
  const batches = new Set<PrefetchBatch>()

  function begin(): void {
    while (first < waiting.length && underWay < room()) {
      const next = waiting[first]
      first += 1
      if (next === undefined || next.signal.aborted) continue
      underWay += 1
      void run(next.task, next.signal)
    }
    if (first < waiting.length && first < 1024) return
    waiting = waiting.slice(first)
    first = 0
  }

  async function run(task: PrefetchTask, signal: AbortSignal): Promise<void> {
    try {
      await task(dueIn(patienceMs, { now }, 'guess'), signal)
    } catch (thrown) {
      // A guess that fails costs nothing: the program's own call gets the failure.
      // A service in trouble is asked for nothing more that no program waits for.
      if (isA('strain', asFailure(thrown)) && !signal.aborted) for (const batch of batches) batch.cancel()
    } finally {
      underWay -= 1
      begin()
    }
  }

  return {
    batch() {
      // Most batches end without a single guess, or without being called off.
      let control: AbortController | undefined
      const batch: PrefetchBatch = {
        add(task) {
          batches.add(batch)
          control ??= signalOfMany()
          waiting.push({ task, signal: control.signal })
          begin()
        },
        cancel() {
          batches.delete(batch)
          control?.abort()
          control = undefined
        },
      }
      return batch
    },
  }
}

/** More guesses than the ten that Node warns of hear one signal. */
function signalOfMany(): AbortController {
  const control = new AbortController()
  setMaxListeners(0, control.signal)
  return control
}
