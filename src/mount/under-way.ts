// Changes that a program waits for: their answers go out before the mount ends.
import { performance } from 'node:perf_hooks'
import { setTimeout } from 'node:timers/promises'

/** Verbs whose answer says what became of a change. */
const changes = new Set([
  'create',
  'flush',
  'fsync',
  'ftruncate',
  'mkdir',
  'release',
  'rename',
  'rmdir',
  'symlink',
  'truncate',
  'unlink',
  'write',
])

export interface PendingCalls {
  /** Counts the work if it is a change. */
  begin(verb: string, work: Promise<unknown>): void
  /** Resolves when no change is under way and the kernel has had a moment for the answers; at the latest at the limit. */
  ended(limitMs: number): Promise<void>
}

/** Milliseconds that an answer needs to the program, and the program to its next call (write, then close). */
const answerMs = 50

export function openPendingCalls(): PendingCalls {
  const pending = new Set<Promise<unknown>>()

  return {
    begin(verb, work) {
      if (!changes.has(verb)) return
      pending.add(work)
      const done = (): void => void pending.delete(work)
      work.then(done, done)
    },
    async ended(limitMs) {
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
