// Time as a parameter: a clock that does not jump when the machine's clock is set, deadlines, and waiting for them.
import { Failure } from '../failure.js'
import { type MachineClocks, machineClocks } from '../system/machine-clocks.js'
import { type Instant, instant, type RequestContext } from './remote.js'

export interface Clock {
  now(): Instant
  /** The returned function cancels it. An 'in-background' timer keeps no process alive. */
  after(milliseconds: number, action: () => void, how?: 'in-background'): () => void
}

/** Rate correction until the clock agrees with the date: deadlines and ages are wrong by no more than this. */
const slew = 0.1
/** A jump of the date that is longer, in milliseconds, may mean that the machine slept. */
const jumpMs = 1_000

/**
 * Starts at the machine's date and then counts elapsed time: a date that is set forward or back (NTP, by hand) ends no
 * wait and makes nothing old or new. Sleep of the machine counts as elapsed time. A differing date is approached
 * gradually, as adjtime(3) does.
 */
export function monotonicTime(machine: MachineClocks): () => Instant {
  let time = machine.wall()
  let monotonic = machine.monotonic()
  let ahead = time - monotonic
  let slept = machine.uptime() - monotonic
  let seenWall = time
  let told = instant(Math.floor(time))

  function sleepSince(seen: number): number {
    const before = slept
    slept = machine.uptime() - seen
    return slept - before > jumpMs ? slept - before : 0
  }

  return () => {
    const wall = machine.wall()
    const seen = machine.monotonic()
    // Each call of a program asks a hundred times for the time.
    if (wall === seenWall && seen - monotonic < 1) return told
    seenWall = wall
    let passed = seen - monotonic
    monotonic = seen
    const jumped = Math.abs(wall - seen - ahead) > jumpMs
    ahead = wall - seen
    if (jumped) passed += sleepSince(seen)
    const most = passed * slew
    time += passed + Math.max(-most, Math.min(most, wall - time - passed))
    told = Math.floor(time) as Instant
    return told
  }
}

export const systemClock: Clock = {
  now: monotonicTime(machineClocks),
  after: (milliseconds, action, how) => {
    const timer = setTimeout(action, milliseconds)
    if (how === 'in-background') timer.unref()
    return () => clearTimeout(timer)
  },
}

export const sleep = (clock: Clock, milliseconds: number): Promise<void> =>
  new Promise(resolve => clock.after(milliseconds, resolve))

/** First after so many milliseconds, in the background, until the returned function is called. */
export function every(clock: Clock, milliseconds: number, action: () => void): () => void {
  let callOff = () => {}
  const next = (): void => {
    callOff = clock.after(milliseconds, again, 'in-background')
  }
  const again = (): void => {
    next()
    action()
  }
  next()
  return () => callOff()
}

export const dueIn = (
  milliseconds: number,
  { now }: Pick<Clock, 'now'>,
  priority: RequestContext['priority'] = 'user',
): RequestContext => ({ deadline: instant(now() + milliseconds), priority })

export const dueSooner = (
  context: RequestContext,
  milliseconds: number,
  { now }: Pick<Clock, 'now'>,
): RequestContext => ({ ...context, deadline: instant(Math.min(context.deadline, now() + milliseconds)) })

/** The promise's value if it comes in time. @throws Failure 'timeout' with this sentence; the awaited operation itself goes on */
export function withDeadline<Value>(
  waiting: Promise<Value>,
  { deadline: due }: Pick<RequestContext, 'deadline'>,
  clock: Clock,
  late: string,
): Promise<Value> {
  // One promise in place of a race of several: most requests wait for a few of these.
  return new Promise((resolve, reject) => {
    const expire = (): void => reject(new Failure('timeout', late))
    const callOff = clock.after(Math.max(0, due - clock.now()), expire)
    waiting.then(
      value => {
        callOff()
        resolve(value)
      },
      (thrown: unknown) => {
        callOff()
        reject(thrown)
      },
    )
  })
}
