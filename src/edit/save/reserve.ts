// A part of the time is kept for looking what became of a request whose answer is lost.
import { type Ask, type Instant, instant } from '../../remote/remote.js'

/** A third of the time left is kept for reading again after a lost answer. */
export function withReserve(ask: Ask, now: Instant): Ask {
  return { ...ask, deadline: instant(ask.deadline - Math.max(0, ask.deadline - now) / 3) }
}
