// Time as a parameter: a clock that never jumps when the machine's clock is set, and waiting no longer than a deadline.
import { Failure } from '../failure.js'
import { type MachineClocks, machineClocks } from '../system/machine-clocks.js'
import { type Instant, instant, type RequestContext } from './remote.js'

export interface Clock {
  now(): Instant
  /** Does something after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, action: () => void): () => void
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
export function monotonicTime(machine: MachineClocks): () => Instant {
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

export const systemClock: Clock = {
  now: monotonicTime(machineClocks),
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
export async function withDeadline<Value>(
  waiting: Promise<Value>,
  context: RequestContext,
  clock: Clock,
  late: string,
): Promise<Value> {
  let callOff = () => {}
  const deadline = new Promise<never>((_, reject) => {
    callOff = clock.after(Math.max(0, context.deadline - clock.now()), () =>
      reject(new Failure('timeout', late)),
    )
  })
  try {
    return await Promise.race([waiting, deadline])
  } finally {
    callOff()
  }
}
