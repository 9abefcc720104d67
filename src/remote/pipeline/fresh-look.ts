// Age limit for the read that a change is based on: after a long wait the target is read again before sending.
import { Failure } from '../../failure.js'
import type { Clock } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** Milliseconds between the start of that read and the first byte of the change. */
const freshMs = 1_000
/** The read takes several requests: on a slow service its age is as many response times when it ends. */
const requestsOfLook = 4

export interface FreshLook {
  /** Why the request must not be sent now: its base became too old while it waited for a connection. */
  refusal(): Failure | undefined
  /** Reads again where the base is too old; undefined where it is not. @throws Failure of `Look.again`: nothing is to be sent */
  renew(): Promise<void> | undefined
}

/** Of a request that is based on nothing that was read before. */
export const alwaysFresh: FreshLook = { refusal: () => undefined, renew: () => undefined }

/**
 * The base of one attempt that holds its slot; a request without one is always fresh. `usual` is the usual response time
 * in milliseconds.
 */
export function openFreshLook(context: RequestContext, clock: Clock, usual: () => number): FreshLook {
  const { look, ...rest } = context
  let at: Instant | undefined = look?.at
  const isOld = (): boolean =>
    at !== undefined && clock.now() - at >= Math.max(freshMs, requestsOfLook * usual())
  return {
    refusal: () => (isOld() ? outdated : undefined),
    renew() {
      if (look === undefined || !isOld()) return undefined
      return look.again({ ...rest, holdsSlot: true }).then(() => {
        at = clock.now()
      })
    },
  }
}

/** The failure of a request that was not sent because of its age. */
export const outdated = new Failure('busy', 'it waited too long for its connection')
