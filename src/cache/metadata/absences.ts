// Absences: what the service does not have, or does not show to this user, is believed for a while.
import { LRUCache } from 'lru-cache'
import type { Failure } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import type { Instant } from '../../remote/remote.js'

export interface Absences {
  note(name: string, failure: Failure): void
  /** The failure to throw without a request. */
  find(name: string): Failure | undefined
  forget(name: string): void
  clear(): void
}

const absencesAtMost = 10_000

/** `believedMs`: milliseconds for which one counts. */
export function openAbsences(believedMs: number, now: () => Instant): Absences {
  const noted = new LRUCache<string, { failure: Failure; until: number }>(upTo(absencesAtMost))
  return {
    note: (name, failure) => void noted.set(name, { failure, until: now() + believedMs }),
    find(name) {
      const absence = noted.get(name)
      return absence !== undefined && now() < absence.until ? absence.failure : undefined
    },
    forget: name => void noted.delete(name),
    clear: () => noted.clear(),
  }
}
