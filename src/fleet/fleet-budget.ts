// Fleet budget: the service's limits are all mounts' together; each has a part of the requests in flight while it needs it.
import { noop } from '../noop.js'
import type { Clock } from '../remote/clock.js'
import type { SharedBudget } from '../remote/shared-budget.js'
import { nonsense } from './engine/fleet-lane.js'
import { partsKey, spokeKey, sumsKey } from './engine/fleet-scripts.js'
import type { FleetStore } from './engine/fleet-store.js'
import type { Seal } from './engine/seal.js'

export interface FleetBudget extends SharedBudget {
  /** The fleet is used again, or passed by. */
  look(): void
  /** Gives its part back. */
  end(): Promise<void>
}

export interface FleetBudgetPorts {
  readonly store: Pick<FleetStore, 'commands' | 'breaker'>
  readonly seal: Seal
  readonly clock: Clock
  readonly node: string
  /** Of all mounts together. */
  readonly connections: number
  /** How many mounts there were at the last look. */
  readonly mounts: () => number
  readonly changed: () => void
}

/** Milliseconds between two words of a node about its part, and where it wants more than it has. */
const wordMs = 100
const shortWordMs = 25
/** A node that is silent for longer has no part any more. */
const forgottenMs = 3_000

export function openFleetBudget(ports: FleetBudgetPorts): FleetBudget {
  const { store, clock, node, connections, changed } = ports
  const name = ports.seal.nameOf('budget', '')
  const sums = sumsKey(name)
  let part = 0
  let inFlight = 0
  let waiting = 0
  /** The most that was needed since the last word, which ebbs away. */
  let needed = 0
  let isAsking = false
  let isStale = false
  /** As of the last word: others want more than they have; there are fewer than mounts, so that each has one for one request. */
  let othersWait = false
  let isScarce = false
  let givesBack = false
  /** The last word was answered. Where it was not, no request waits for the next one. */
  let isAnswered = true
  let isEnded = false
  let stop = noop

  /** What is left to a mount that cannot ask the others. */
  const alone = (): number => Math.max(1, Math.floor(connections / ports.mounts()))

  async function ask(): Promise<void> {
    stop()
    if (isEnded || store.breaker.isOpen) return
    if (isAsking) {
      isStale = true
      return
    }
    isAsking = true
    isStale = false
    if (isAnswered && (needed === 0 || givesBack)) part = inFlight
    const keeps = Math.max(inFlight, part)
    const wants = needed === 0 || givesBack ? 0 : Math.min(connections, needed * 2 + 2)
    givesBack = false
    needed = Math.max(inFlight + waiting, Math.floor(needed / 2))
    try {
      const keys = [partsKey(name), spokeKey(name), sums] as const
      const [mine, short, scarce] = await store.commands.run(scripts =>
        scripts.fleetShare(...keys, node, keeps, wants, connections, forgottenMs),
      )
      if (![mine, short, scarce].every(Number.isSafeInteger)) throw new Error(nonsense)
      part = mine
      isAnswered = true
      othersWait = short > 0
      isScarce = scarce > 0
    } catch {
      // The fleet is passed by, or full, and says so itself.
      part = alone()
      isAnswered = false
    }
    isAsking = false
    changed()
    later()
  }

  function later(): void {
    stop()
    const isShort = inFlight + waiting > part
    if (isEnded || (needed === 0 && part === 0 && inFlight === 0 && !isShort)) return
    // Apart from the others' words.
    const pause = (isShort ? shortWordMs : wordMs) * (0.75 + Math.random() / 2)
    stop = clock.after(isStale ? 0 : pause, () => void ask(), 'in-background')
  }

  return {
    get allowed() {
      return store.breaker.isOpen ? alone() : part
    },
    wanted(flying, queued) {
      const [before, flew] = [inFlight + waiting, inFlight]
      inFlight = flying
      waiting = queued
      const now = flying + queued
      needed = Math.max(needed, now)
      if (store.breaker.isOpen || isAsking) return
      if (now > part && now > before) void ask()
      if (!othersWait || flying >= flew) return
      // The others need not wait for its next word.
      givesBack = isScarce
      if (isScarce || flying >= part) void ask()
    },
    async turn(spacing) {
      try {
        const ahead = await store.commands.run(scripts => scripts.fleetTurn(sums, Math.ceil(spacing * 1_000)))
        if (!Number.isFinite(ahead)) throw new Error(nonsense)
        return ahead / 1_000
      } catch {
        return spacing * ports.mounts()
      }
    },
    pushedBack() {
      store.commands.run(scripts => scripts.fleetSlow(sums, connections)).catch(noop)
      void ask()
    },
    look() {
      changed()
      void ask()
    },
    async end() {
      isEnded = true
      stop()
      const keys = [partsKey(name), spokeKey(name), sums] as const
      await store.commands
        .run(scripts => scripts.fleetShare(...keys, node, 0, 0, connections, forgottenMs))
        .catch(noop)
    },
  }
}
