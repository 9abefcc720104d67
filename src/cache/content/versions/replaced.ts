// Replaced contents and the time of their replacement: their readers begin again, and their mtime moves.
import { type Instant, instant } from '../../../remote/remote.js'
import type { Ledger } from '../../ledger/ledger.js'

export interface ReplacedContents {
  /** Undefined for nearly all: contents do not change. */
  at(name: string): Instant | undefined
  note(name: string): void
}

const room = 'replaced'

/**
 * Remembered over restarts, for a time that was shown stays. Several mounts may share the ledger: `elsewhere` is called for a
 * content that another of them has found replaced, before its new time is told, for what is open here is of the old version.
 */
export function openReplacedContents(
  ledger: Ledger,
  { now, elsewhere, changed }: { now: () => Instant; elsewhere: (name: string) => void; changed: () => void },
): ReplacedContents {
  const known = new Map<string, Instant>()
  for (const [name, { value }] of ledger.entries(room)) known.set(name, instant(Number(value)))

  function at(name: string): Instant | undefined {
    const before = known.get(name)
    const kept = Number(ledger.getShort(room, name) ?? before)
    if (Number.isNaN(kept) || kept === before) return before
    known.set(name, instant(kept))
    elsewhere(name)
    changed()
    return instant(kept)
  }

  return {
    at,
    note(name) {
      const before = at(name)
      const time = instant(before === undefined ? now() : Math.max(now(), before + 1))
      known.set(name, time)
      ledger.set(room, name, String(time))
      changed()
    },
  }
}
