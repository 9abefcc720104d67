// The clocks of the machine: the one that may be set, the one that only runs, and the time since the start.
import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'

/** What the machine's clocks show, in milliseconds. */
export interface MachineClocks {
  /** The date, which may be set at any time. */
  wall(): number
  /** Time that only runs, and may stand while the machine sleeps. */
  monotonic(): number
  /** Time since the machine was started, its sleep included. */
  uptime(): number
}

export const machineClocks: MachineClocks = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * 1000,
}
