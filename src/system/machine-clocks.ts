// The machine's clocks: the date, which may be set, the monotonic clock, and the time since the start.
import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'

/** The readings of the machine's clocks, in milliseconds. */
export interface MachineClocks {
  /** The date, which may be set at any time. */
  wall(): number
  /** Monotonic time, which may stop while the machine sleeps. */
  monotonic(): number
  /** Time since the machine was started, its sleep included. */
  uptime(): number
}

export const machineClocks: MachineClocks = {
  wall: Date.now,
  monotonic: performance.now.bind(performance),
  uptime: () => uptime() * 1000,
}
