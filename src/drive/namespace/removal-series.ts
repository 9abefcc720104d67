// Removal series: removals that follow one another without a pause, of any program, anywhere in the drive.
import { parentOf } from '../../layout.js'

import { noop } from '../../noop.js'
import type { AwakeClock } from './awake-clock.js'
import type { Scope } from './lineage.js'

export interface RemovalSeries {
  /** A removal is tried at this path: every pause begins again. */
  active(path: string): void
  /** A call at this path waits for the service; the answer is called at its end. The time between is no pause. */
  waits(path: string): () => void
  /** Milliseconds for which nothing was removed, and no call waited where something was; 0 while one waits. */
  quietFor(): number
  /** Something that lies directly in this scope was tried; in a scope itself it is the scope's own name. */
  tried(scope: Scope, key: string): void
  /** It was no removal after all: an editor created the file again. */
  notTried(scope: Scope, key: string): void
  triedIn(scope: Scope): ReadonlySet<string>
}

/** Milliseconds without a removal after which the next one begins a new series. */
export const seriesPauseMs = 3000
/** Milliseconds after the last removal for which calls that wait may hold up what is due: readers must not do so for ever. */
const patienceMs = 60_000

export function openRemovalSeries(awake: AwakeClock): RemovalSeries {
  const { now } = awake
  const directories = new Set<string>()
  const tried = new Map<Scope, Set<string>>()
  const none: ReadonlySet<string> = new Set()
  let removed = Number.NEGATIVE_INFINITY
  let waited = Number.NEGATIVE_INFINITY
  let waiting = 0
  let still = 0

  /** After a standstill the next removal of the same program may be about to arrive: the pause begins again. */
  function noteStandstill(): void {
    const stood = awake.stoodStill()
    if (stood === still) return
    still = stood
    removed = Math.max(removed, directories.size > 0 ? now() : removed)
  }

  function quietFor(): number {
    noteStandstill()
    // A clock that was set back begins the pause again.
    removed = Math.min(removed, now())
    waited = Math.min(waited, now())
    if (now() - removed > patienceMs) return now() - removed
    return waiting > 0 ? 0 : now() - Math.max(removed, waited)
  }

  function endIfQuiet(): void {
    if (quietFor() < seriesPauseMs) return
    directories.clear()
    tried.clear()
  }

  return {
    active(path) {
      awake.watch()
      endIfQuiet()
      removed = now()
      directories.add(`${parentOf(path)}/`)
    },
    waits(path) {
      if (directories.size === 0) return noop
      endIfQuiet()
      if (![...directories].some(directory => path.startsWith(directory))) return noop
      waiting += 1
      return () => {
        waiting -= 1
        waited = now()
      }
    },
    quietFor,
    tried(scope, key) {
      tried.set(scope, (tried.get(scope) ?? new Set()).add(key))
    },
    notTried(scope, key) {
      tried.get(scope)?.delete(key)
    },
    triedIn(scope) {
      endIfQuiet()
      return tried.get(scope) ?? none
    },
  }
}
