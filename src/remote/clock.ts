// Time as a parameter: what the remote room asks the clock for, the machine's own clock, and waiting no longer than a deadline.
import { Failure } from '../failure.js'
import { type Ask, type Instant, instant } from './remote.js'

export interface Clock {
  now(): Instant
  /** Does something after so many milliseconds; the answer calls it off. */
  after(milliseconds: number, action: () => void): () => void
}

export const systemClock: Clock = {
  now: () => instant(Date.now()),
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
