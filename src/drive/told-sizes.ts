// Which size the kernel was told for a path a moment ago: until it asks again, a read stops there.
import type { Instant } from '../remote/remote.js'

export interface ToldSizes {
  /** A stat of this path has answered this size, in bytes. */
  note(path: string, size: number): void
  /** Milliseconds for which the kernel may still count on another size than this one; undefined is a size nobody knows yet. */
  wait(path: string, size: number | undefined): number
}

interface Told {
  readonly size: number
  readonly at: Instant
}

/** The kernel keeps attributes for `keptMs`, counted from when it gets them. */
export function openToldSizes(keptMs: number, now: () => Instant): ToldSizes {
  let recent = new Map<string, Told>()
  let before = new Map<string, Told>()
  let turnedAt = now()

  /** What is older than two periods is forgotten, without looking at each of them. */
  function turn(): void {
    if (now() - turnedAt < keptMs) return
    before = now() - turnedAt < 2 * keptMs ? recent : new Map()
    recent = new Map()
    turnedAt = now()
  }

  return {
    note(path, size) {
      turn()
      recent.set(path, { size, at: now() })
    },
    wait(path, size) {
      turn()
      const told = recent.get(path) ?? before.get(path)
      return told === undefined || told.size === size ? 0 : Math.max(0, told.at + keptMs - now())
    },
  }
}
