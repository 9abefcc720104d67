// Retries: only where repeating does no harm, with growing jittered waits, never past the deadline.
import type { Failure } from '../../failure.js'
import { type Clock, sleep } from '../clock.js'
import type { RequestContext } from '../remote.js'

/** How one attempt ended. `after` is the service's Retry-After, in milliseconds. */
export type AttemptResult<Value> =
  | { readonly ended: 'well'; readonly value: Value }
  | {
      readonly ended: 'badly'
      readonly failure: Failure
      readonly again: boolean
      /** True if nothing was sent, because the service is known to be away. */
      readonly unasked?: boolean | undefined
      readonly after?: number | undefined
    }

const attempts = 4
const firstWait = 100

/** The value of the first attempt that ends well. @throws the Failure of the last attempt */
export async function withRetries<Value>(
  context: RequestContext,
  clock: Clock,
  attempt: () => Promise<AttemptResult<Value>>,
): Promise<Value> {
  let answerBy = Math.min(context.deadline, context.answerBy ?? context.deadline)
  const patience = context.patience ?? answerBy - clock.now()
  let made = 0
  // Each caller may expect as many retries as the first one; the request itself still ends at its deadline.
  const unwatch = context.askers?.watch(what => {
    if (what !== 'came') return
    answerBy = Math.min(context.deadline, clock.now() + patience)
    made = Math.min(made, attempts - 2)
  })
  let before: Failure | undefined
  try {
    for (;;) {
      const end = await attempt()
      if (end.ended === 'well') return end.value
      made += 1
      // A timeout at the end, or an open breaker, says less than the failure of the attempt itself.
      if (before !== undefined && (end.failure.kind === 'timeout' || end.unasked === true)) throw before
      const wait = Math.max(end.after ?? 0, firstWait * 2 ** (made - 1) * (0.5 + Math.random()))
      // A wait past the deadline could only end in a timeout, which says less than the failure at hand.
      if (!end.again || made >= attempts || clock.now() + wait >= answerBy) throw end.failure
      before = end.failure
      await sleep(clock, wait)
    }
  } finally {
    unwatch?.()
  }
}

/** Milliseconds of a Retry-After header (seconds or an HTTP date); undefined for none or an invalid one. */
export function retryAfter(header: unknown, now: number): number | undefined {
  if (typeof header !== 'string') return undefined
  if (/^\s*\d{1,9}\s*$/.test(header)) return Number(header) * 1000
  const date = Date.parse(header)
  return Number.isNaN(date) ? undefined : Math.max(0, date - now)
}
