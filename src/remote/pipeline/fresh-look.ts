// How old the look may be that a change rests on: one that waited on its way is looked at once more before it goes out.
import { Failure } from '../../failure.js'
import type { Clock } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** Milliseconds between the beginning of the look and the first byte of the change. */
const freshMs = 1_000
/** A look takes several requests: at a slow service it is as old as so many of them when it ends. */
const requestsOfLook = 4

export interface FreshLook {
  /** Why the request must not start now: its look has become too old while it waited for a connection. */
  refusal(): Failure | undefined
  /** Looks once more where the look is too old. @throws Failure of `Look.again`: nothing is to be sent */
  renew(): Promise<void>
}

/**
 * The look of one sending that holds its slot; a request without one is always fresh. `usual` is how many milliseconds an
 * answer takes here.
 */
export function openFreshLook(context: RequestContext, clock: Clock, usual: () => number): FreshLook {
  const { look, ...rest } = context
  let at: Instant | undefined = look?.at
  const isOld = (): boolean =>
    at !== undefined && clock.now() - at >= Math.max(freshMs, requestsOfLook * usual())
  return {
    refusal: () => (isOld() ? outdated : undefined),
    async renew() {
      if (look === undefined || !isOld()) return
      await look.again({ ...rest, holdsSlot: true })
      at = clock.now()
    },
  }
}

/** What a request fails with that was not started because of its look. */
export const outdated = new Failure('busy', 'it waited too long for its connection')
