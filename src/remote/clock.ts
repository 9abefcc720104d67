// Time as a parameter: a clock that never jumps when the machine's clock is set, and waiting no longer than a deadline.
import { uptime } from 'node:os'
import { performance } from 'node:perf_hooks'
import { Failure } from '../failure.js'
import { type Ask, type Instant, instant } from './remote.js'

export interface Clock {
  now(): Instant
  /** Does something after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, action: () => void): () => void
}

/** What the machine's clocks show, in milliseconds. */
export interface MachineClocks {
  /** The date, which may be set at any time. */
  wall(): number
  /** Time that only runs, and may stand while the machine sleeps. */
  monotonic(): number
  /** Time since the machine was started, its sleep included. */
  uptime(): number
}

/** So much faster or slower runs the time until it is the date again: deadlines and ages are wrong by no more. */
const slew = 0.1
/** A jump of the date that is longer, in milliseconds, may mean that the machine slept. */
const jumpMs = 1_000

/**
 * The date at first, and from then on time that passes: a date that is set forward or back (NTP, a person) ends no wait
 * and makes nothing old or new. Sleep of the machine is time that passes. A date that differs is approached by and by, as
 * adjtime(3) does.
 */
export function steadyTime(machine: MachineClocks): () => Instant {
  let time = machine.wall()
  let monotonic = machine.monotonic()
  let ahead = time - monotonic
  let slept = machine.uptime() - monotonic

  function sleepSince(seen: number): number {
    const before = slept
    slept = machine.uptime() - seen
    return slept - before > jumpMs ? slept - before : 0
  }

  return () => {
    const wall = machine.wall()
    const seen = machine.monotonic()
    let passed = seen - monotonic
    monotonic = seen
    const jumped = Math.abs(wall - seen - ahead) > jumpMs
    ahead = wall - seen
    if (jumped) passed += sleepSince(seen)
    const most = passed * slew
    time += passed + Math.max(-most, Math.min(most, wall - time - passed))
    return instant(Math.floor(time))
  }
}

const machine: MachineClocks = {
  wall: () => Date.now(),
  monotonic: () => performance.now(),
  uptime: () => uptime() * 1000,
}

export const systemClock: Clock = {
  now: steadyTime(machine),
  after: (milliseconds, action) => {
    const timer = setTimeout(action, milliseconds)
    return () => clearTimeout(timer)
  },
}

/** Resolves after so many milliseconds of that clock. */
export const sleep = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise(resolve => clock.after(milliseconds, resolve))

/**
 * What is waited for, if it comes before the deadline of the question.
 * @throws Failure 'timeout' with this sentence; the awaited thing itself goes on
 */
export async function inTime<Value>(
  waiting: Promise<Value>,
  ask: Ask,
  clock: Clock,
  late: string,
): Promise<Value> {
  let callOff = () => {}
  const deadline = new Promise<never>((_, reject) => {
    callOff = clock.after(Math.max(0, ask.deadline - clock.now()), () => reject(new Failure('timeout', late)))
  })
  try {
    return await Promise.race([waiting, deadline])
  } finally {
    callOff()
  }
}
