// Delete budget: at most so many deletions a minute in all mounts of a state directory; what is taken back does not count.
import { randomUUID } from 'node:crypto'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { Instant } from '../../remote/remote.js'

export interface DeleteBudget {
  /** False where the minute has no room for this one; the same thing counts once. */
  take(key: string): boolean
  giveBack(key: string): void
  readonly perMinute: number
  /** The mount ends in order: what it has taken counts no more. */
  end(): void
}

export interface BudgetSources {
  /** Shared by the mounts of one state directory. */
  readonly ledger: Ledger
  /** The time in which this process has not stood still. */
  readonly awake: () => Instant
  /** The time that other processes have, too. */
  readonly now: () => Instant
}

const minute = 60_000
const room = 'deleted lately'

/** Of its own deletions a mount counts the minute by its own time awake; of another mount's by the clock. */
export function openDeleteBudget(perMinute: number, { ledger, awake, now }: BudgetSources): DeleteBudget {
  const taken = new Map<string, Instant>()
  const own = randomUUID()
  const nameOf = (key: string): string => `${own} ${key}`

  /** The things that other mounts, or one that was killed, have taken. */
  function others(): ReadonlySet<string> {
    const keys = new Set<string>()
    for (const [name, { stored }] of ledger.entries(room)) {
      if (name.startsWith(own)) continue
      if (Math.abs(now() - stored) >= minute) ledger.delete(room, name)
      else keys.add(name.slice(own.length + 1))
    }
    return keys
  }

  function giveBack(key: string): void {
    taken.delete(key)
    ledger.delete(room, nameOf(key))
    ledger.flush()
  }

  return {
    take(key) {
      for (const [old, at] of taken) if (Math.abs(awake() - at) >= minute) giveBack(old)
      const counted = (): number => new Set([...taken.keys(), ...others(), key]).size
      if (counted() > perMinute) return false
      taken.set(key, awake())
      ledger.set(room, nameOf(key), '')
      ledger.flush()
      // Two mounts may have taken the last place at once: neither has it then.
      if (counted() <= perMinute) return true
      giveBack(key)
      return false
    },
    giveBack,
    perMinute,
    end() {
      for (const key of [...taken.keys()]) giveBack(key)
    },
  }
}
