// Clocks of the tests: one that a test turns by hand, and the real one that a test lets run ahead.
import { type Clock, systemClock } from '../../src/remote/clock.js'
import { type Instant, instant } from '../../src/remote/remote.js'

/** Its timers are the machine's. */
export function handClock(start = 1_700_000_000_000) {
  let at = start
  return {
    now: () => instant(at),
    after: systemClock.after,
    turn(milliseconds: number): void {
      at += milliseconds
    },
  }
}

/** Real time, so far ahead as a test wants. */
export interface HastyClock extends Clock {
  /** What is done in the background is done as if so many milliseconds had passed; a wait for an answer goes on. */
  pass(milliseconds: number): void
}

export function hastyClock(): HastyClock {
  const waiting = new Set<{ readonly due: number; readonly action: () => void }>()
  let ahead = 0
  const now = (): Instant => instant(Date.now() + ahead)

  return {
    now,
    after(milliseconds, action, how) {
      if (how === undefined) return systemClock.after(milliseconds, action)
      const one = {
        due: now() + milliseconds,
        action() {
          callOff()
          action()
        },
      }
      waiting.add(one)
      const end = systemClock.after(milliseconds, one.action, how)
      const callOff = (): void => {
        waiting.delete(one)
        end()
      }
      return callOff
    },
    pass(milliseconds) {
      ahead += milliseconds
      for (const { due, action } of [...waiting].sort((one, other) => one.due - other.due)) {
        if (due <= now()) action()
      }
    },
  }
}

/** The same clock for requests: waits between two tries are over so many times faster, and longer ones take their time. */
export const speedingClock = (clock: Clock, times: number): Clock => ({
  now: clock.now,
  after: (milliseconds, action, how) =>
    clock.after(
      how === undefined && milliseconds < longestWait ? milliseconds / times : milliseconds,
      action,
      how,
    ),
})

/** Milliseconds: what takes longer is a deadline, and a machine that has much to do needs all of it. */
const longestWait = 5_000
