// Which contents were found to be another version than before, and when: their readers begin again, and their time moves.
import { type Instant, instant } from '../remote/remote.js'
import type { Ledger } from './ledger.js'

export interface Replaced {
  /** So that the usual case costs no name. */
  readonly none: boolean
  /** Undefined for nearly all: contents do not change. */
  at(name: string): Instant | undefined
  note(name: string): void
}

const room = 'replaced'

/** Remembered over restarts, for a time that was shown stays. */
export function openReplaced(ledger: Ledger, now: () => Instant): Replaced {
  const all = new Map<string, Instant>()
  for (const [name, { value }] of ledger.entries(room)) all.set(name, instant(Number(value)))

  return {
    get none() {
      return all.size === 0
    },
    at: name => all.get(name),
    note(name) {
      const before = all.get(name)
      const at = instant(before === undefined ? now() : Math.max(now(), before + 1))
      all.set(name, at)
      ledger.set(room, name, String(at))
    },
  }
}
