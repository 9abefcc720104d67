// What `rm -r` of a calculation has unlinked so far: hidden for ten minutes, in memory only, until the rmdir deletes it all at once.
import type { Instant } from '../remote/remote.js'

/** Entries go by the key of their node. */
export interface Whiteouts {
  add(key: string): void
  has(key: string): boolean
  remove(key: string): void
}

const lifeMs = 10 * 60_000

export function openWhiteouts(now: () => Instant): Whiteouts {
  const until = new Map<string, number>()

  function has(key: string): boolean {
    const end = until.get(key)
    if (end === undefined) return false
    if (now() < end) return true
    until.delete(key)
    return false
  }

  return {
    add: key => until.set(key, now() + lifeMs),
    has,
    remove: key => until.delete(key),
  }
}
