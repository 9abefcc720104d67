// Attempt: one request on its way, however often it is sent, and what it means where it ends without an answer.
import { Failure, isA } from '../../failure.js'
import type { Exchange } from '../connection/exchange.js'
import type { Instant, RequestContext } from '../remote.js'
import type { Place } from './limiter.js'
import { describeRequest, type Outgoing, unknownOutcome } from './outgoing.js'
import type { AttemptResult } from './retry.js'

export interface Attempt {
  readonly outgoing: Outgoing
  readonly context: RequestContext
  /** Milliseconds. */
  readonly allowed: number
  readonly late: Failure
  /** How long that is, for a sentence: what its first caller had, where the request outlives that one. */
  readonly within: string
  /** At most two, the newest last. */
  readonly calls: Exchange[]
  isTried: boolean
  /** Since when nothing has come that is waited for. */
  silentSince: Instant | undefined
  /** The newest call. */
  sentAt: Instant
  place: Place | undefined
}

export function attemptOf(outgoing: Outgoing, context: RequestContext, now: Instant): Attempt {
  const allowed = context.deadline - now
  const patience = Math.max(0, Math.min(allowed, context.patience ?? allowed))
  return {
    outgoing,
    context,
    allowed,
    within: `${(patience / 1000).toFixed(1).replace('.0', '')} s`,
    // Built on demand: even an error that is never thrown costs its stack.
    get late() {
      return new Failure('timeout', `no answer to ${describeRequest(outgoing)} within ${this.within}`)
    },
    calls: [],
    isTried: false,
    silentSince: undefined,
    sentAt: now,
    place: undefined,
  }
}

/** Without an answer a sent change may or may not have been carried out; every question simply failed. */
export function failedAttempt(
  { outgoing, calls, isTried }: Attempt,
  failure: Failure,
  isAway: boolean,
): AttemptResult<never> {
  if (!outgoing.repeatable && calls.some(call => call.sent()))
    return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
  const again = !isAway && outgoing.repeatable && isA('transient', failure)
  return { ended: 'badly', failure, again, unasked: isAway && !isTried }
}

/** The head of a download says nothing of its body. */
export function isWholeAnswer({ outgoing }: Attempt, result: AttemptResult<unknown>): boolean {
  if (result.ended === 'well') return outgoing.weight === 'question'
  return result.failure.cause === undefined && result.failure.kind !== 'timeout'
}

export function abortAll({ calls }: Attempt, reason: Failure): void {
  for (const call of calls) call.abort(reason)
}

export const superseded = (): Failure =>
  new Failure('busy', 'the same question was answered by another request')
export const neededElsewhere = (): Failure =>
  new Failure('busy', 'it was silent, and its connection was needed for others')
