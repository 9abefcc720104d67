// Marks a change that has waited for another request: the read that it is based on counts as stale.
import { instant, type RequestContext } from './remote.js'

/** The same request after a wait in which its target may have changed: its base is read again. */
export function lookedLongAgo(context: RequestContext): RequestContext {
  const { look } = context
  return look === undefined
    ? context
    : { ...context, look: { at: instant(0), again: within => look.again(within) } }
}
