// A change that has waited for another request: what it rests on counts as looked at long ago.
import { instant, type RequestContext } from './remote.js'

/** The same request after a wait in which the thing may have changed: what it rests on is looked at again. */
export function lookedLongAgo(context: RequestContext): RequestContext {
  const { look } = context
  return look === undefined
    ? context
    : { ...context, look: { at: instant(0), again: within => look.again(within) } }
}
