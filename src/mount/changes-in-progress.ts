// Changes in progress: their answers reach the user's program before the mount ends.
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** Milliseconds for an answer to reach the program, and for the program's next call (write, then close). */
const answerMs = 50

export function openPendingCalls() {
  const pending = new Set<Promise<unknown>>()

  return {
    begin(work: Promise<unknown>): void {
      pending.add(work)
      const done = (): void => void pending.delete(work)
      work.then(done, done)
    },
    /** Resolves when no change is in progress and the kernel had time for the answers; at the latest at the limit. */
    async ended(limitMs: number): Promise<void> {
      if (pending.size === 0) return
      const until = performance.now() + limitMs
      while (pending.size > 0 && performance.now() < until) {
        const left = until - performance.now()
        await Promise.race([Promise.allSettled([...pending]), setTimeout(left, undefined, { ref: false })])
        await setTimeout(Math.min(answerMs, left), undefined, { ref: false })
      }
    },
  }
}

export type PendingCalls = ReturnType<typeof openPendingCalls>
