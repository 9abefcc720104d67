// Reserve: a part of the deadline is kept for checking a request whose answer is lost.
import { type Instant, instant, type RequestContext } from '../../remote/remote.js'

/** A third of the time left is kept for reading again after a lost answer. */
export function withReserve(context: RequestContext, now: Instant): RequestContext {
  return { ...context, deadline: instant(context.deadline - Math.max(0, context.deadline - now) / 3) }
}
