// Attempt: one request on its way, however often it is sent: what it changes, who hears of it, and what it means where it ends without an answer.
import { Failure, isA } from '../../failure.js'
import type { Exchange } from '../connection/exchange.js'
import type { Instant, RequestContext } from '../remote.js'
import type { Subject } from './late-answer.js'
import type { Place, TrafficClass } from './limiter.js'
import type { AttemptResult } from './retry.js'

export interface Outgoing {
  readonly method: string
  /** Path and query as they are sent. */
  readonly path: string
  /** The operation: the path below the service's address as it was asked first, without its query; a redirect keeps it. */
  readonly endpoint?: string | undefined
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly weight: TrafficClass
  /** False for a write: if its answer is lost, the outcome is unknown. */
  readonly repeatable: boolean
  /** What a write changes. */
  readonly subject?: Subject | undefined
}

/** What a write changes; names of one project are one subject. */
export function subjectsOf({ subject }: Outgoing, { names }: RequestContext): readonly Subject[] {
  if (subject === undefined) return []
  return names === undefined ? [subject] : [subject, `names in ${names}`]
}

/** The failure of a write that may have been carried out. */
export function unknownOutcome(outgoing: Outgoing, cause: Failure): Failure {
  const sentence = `${describeRequest(outgoing)} was sent, but whether it was carried out is unknown: ${cause.message}`
  return new Failure('outcome-unknown', sentence, { cause, said: cause.said })
}

/** A request in an error's sentence. */
export const describeRequest = (outgoing: Outgoing): string =>
  `${outgoing.method} ${outgoing.path.slice(0, 300)}`

/** For the connection. */
export const wireOptions = (
  origin: string,
  outgoing: Pick<Outgoing, 'method' | 'path' | 'headers' | 'body'>,
) => ({
  origin,
  path: outgoing.path,
  method: outgoing.method,
  headers: { ...outgoing.headers },
  body: outgoing.body ?? null,
  // undici closes the connection after a HEAD unless `reset` is false.
  reset: false,
})

export class Attempt {
  /** Milliseconds. */
  readonly allowed: number
  /** At most two, the newest last. */
  readonly calls: Exchange[] = []
  isTried = false
  /** Since when nothing has come that is waited for. */
  silentSince: Instant | undefined
  /** One more caller has come since it became silent. A drip of bytes is silence, too. */
  hasNewCaller = false
  /** The newest call. */
  sentAt: Instant
  place: Place | undefined
  /** Undefined before the head of an answer. */
  status: number | undefined

  constructor(
    readonly outgoing: Outgoing,
    readonly context: RequestContext,
    readonly began: Instant,
  ) {
    this.allowed = context.deadline - began
    this.sentAt = began
  }

  /** How long its caller waits, for a sentence: of a request that outlives its first caller what that one had. */
  get within(): string {
    const patience = Math.max(0, Math.min(this.allowed, this.context.patience ?? this.allowed))
    return `${(patience / 1000).toFixed(1).replace('.0', '')} s`
  }

  /** Built on demand: even an error that is never thrown costs its stack. */
  get late(): Failure {
    return new Failure('timeout', `no answer to ${describeRequest(this.outgoing)} within ${this.within}`)
  }

  /** Without an answer a sent change may or may not have been carried out; every question simply failed. */
  failed(failure: Failure, isAway: boolean): AttemptResult<never> {
    const { repeatable } = this.outgoing
    if (!repeatable && this.calls.some(call => call.sent()))
      return { ended: 'badly', failure: unknownOutcome(this.outgoing, failure), again: false }
    const again = !isAway && repeatable && isA('transient', failure)
    return { ended: 'badly', failure, again, unasked: isAway && !this.isTried }
  }

  /** The head of a download says nothing of its body. */
  isWhole(result: AttemptResult<unknown>): boolean {
    if (result.ended === 'well') return this.outgoing.weight === 'question'
    return result.failure.cause === undefined && result.failure.kind !== 'timeout'
  }

  abort(reason: Failure): void {
    for (const call of this.calls) call.abort(reason)
  }
}

export const superseded = (): Failure =>
  new Failure('busy', 'the same question was answered by another request')
export const neededElsewhere = (): Failure =>
  new Failure('busy', 'it was silent, and its connection was needed for others')

export interface RequestTrace {
  readonly method: string
  /** Path and query. */
  readonly path: string
  readonly priority: RequestContext['priority']
  /** From the call until its answer was read, the wait for a slot included. */
  readonly milliseconds: number
  /** Undefined where no head of an answer came. */
  readonly status: number | undefined
  /** Why it failed, if it failed. */
  readonly failure: string | undefined
}

/** Called for each request once it has ended. */
export type TraceRequest = (request: RequestTrace) => void
