// At most so many deletions a minute through the files of a mount; what was taken back does not count.
import type { Instant } from '../remote/remote.js'

export interface DeleteBudget {
  /** False where the minute has no room for this one; the same thing counts once. */
  take(key: string): boolean
  giveBack(key: string): void
  readonly perMinute: number
}

const minute = 60_000

export function openDeleteBudget(perMinute: number, now: () => Instant): DeleteBudget {
  const taken = new Map<string, Instant>()

  return {
    take(key) {
      for (const [old, at] of taken) if (Math.abs(now() - at) >= minute) taken.delete(old)
      if (taken.size >= perMinute && !taken.has(key)) return false
      taken.set(key, now())
      return true
    },
    giveBack: key => taken.delete(key),
    perMinute,
  }
}
