// Traffic budget: how many requests may be in flight and go out a second; this process's own, or a share of many's.
import { noop } from '../../noop.js'
import type { Clock } from '../clock.js'
import type { SharedBudget } from '../shared-budget.js'

export interface TrafficBudget extends Omit<SharedBudget, 'turn'> {
  turn(spacing: number): number | Promise<number>
  /** `admit` is called when more may be allowed than before. */
  watch(admit: () => void): void
  /** From now on it is a share. The source calls the function that it is made with when its share is another one. */
  share(source: (changed: () => void) => SharedBudget): void
}

/** At first this process alone uses `connections`. */
export function openTrafficBudget(connections: number, clock: Clock): TrafficBudget {
  let shared: SharedBudget | undefined
  let admit = noop
  let free = Number.NEGATIVE_INFINITY

  return {
    get allowed() {
      return shared === undefined ? connections : Math.min(connections, shared.allowed)
    },
    wanted: (inFlight, waiting) => shared?.wanted(inFlight, waiting),
    turn(spacing) {
      if (shared !== undefined) return shared.turn(spacing)
      const turn = Math.max(free, clock.now())
      free = turn + spacing
      return turn - clock.now()
    },
    pushedBack: () => shared?.pushedBack(),
    watch(then) {
      admit = then
    },
    share(source) {
      shared = source(() => admit())
    },
  }
}
