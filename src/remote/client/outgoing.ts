// Outgoing request, its answer as it arrives and how that is read, and what all requests to one service share.
import type { Requests } from '../../activity/kernel-calls.js'
import { Failure } from '../../failure.js'
import type { Clock } from '../clock.js'
import {
  type BodyStream,
  CollectedBytes,
  type DeclaredBody,
  declaredBody,
  tooManyBytes,
} from '../connection/body.js'
import type { ServiceConnections, WireRequest } from '../connection/connections.js'
import type { Exchange, Head } from '../connection/exchange.js'
import type { RequestContext } from '../remote.js'
import { redactSecrets, secretsIn } from '../secrets.js'
import type { AnswerTimes, Breaker } from './breaker.js'
import type { LateWrites, Subject } from './late-answer.js'
import type { Limiter, TrafficClass } from './limiter.js'

export interface Outgoing extends WireRequest {
  /** The operation: the path below the service's address, without its query. */
  readonly endpoint: string
  readonly authorization: string | undefined
  readonly weight: TrafficClass
  /** False for a write: if its answer is lost, the outcome is unknown. */
  readonly repeatable: boolean
  /** The subject of a write. */
  readonly subject?: Subject | undefined
}

export interface AnswerHead extends Head {
  readonly declared: DeclaredBody
}

/** Takes the body of an answer; what it throws ends the attempt. */
export interface Sink<Value> {
  /** True where the rest is not wanted. */
  take(piece: Uint8Array): boolean | undefined
  /** Every byte has come, or all that are wanted. */
  end(): Value
}

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

/** How an answer is read: its value by its head alone, while the body is discarded or streams on, or by its whole body. */
export type Reading<Value> =
  | { readonly value: Value; readonly rest: 'discarded' | 'ended' | BodyStream }
  | { readonly sink: Sink<Value> }

/** How one kind of question reads its answers, and which statuses are answers to it. */
export interface Question<Value> {
  readonly accepts: (status: number) => boolean
  readonly read: (answer: AnswerHead, exchange: Exchange) => Reading<Value>
  /** Names and values by turns. */
  readonly headers: readonly string[]
  readonly weight: TrafficClass
}

export interface Meaning {
  /** The service has too much to do. */
  isOverload(status: number): boolean
  refused(outgoing: Outgoing, head: Head, said: string | undefined, now: number): AttemptResult<never>
}

export interface Traffic {
  readonly clock: Clock
  readonly connections: ServiceConnections
  readonly limiter: Limiter
  readonly breaker: Breaker
  readonly times: AnswerTimes
  readonly late: LateWrites
  readonly meaning: Meaning
  readonly spend: (bytes: number) => Promise<void> | undefined
  readonly told: Told
}

export interface Told {
  readonly counter?: Requests | undefined
  readonly trace?: TraceRequest | undefined
  /** Called for each long metadata answer that was read. */
  readonly longAnswer?: ((bytes: number) => void) | undefined
}

interface RequestTrace {
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

/** The subject of a write; names of one project are one subject. */
export function subjectsOf({ subject }: Outgoing, { names }: RequestContext): readonly Subject[] {
  if (subject === undefined) return []
  return names === undefined ? [subject] : [subject, `names in ${names}`]
}

export const describeRequest = ({ method, path }: Pick<Outgoing, 'method' | 'path'>): string =>
  `${method} ${path.slice(0, 300)}`

/** The failure of a write that may have been carried out. */
export function unknownOutcome(outgoing: Outgoing, cause: Failure): Failure {
  const sentence = `${describeRequest(outgoing)} was sent, but whether it was carried out is unknown: ${cause.message}`
  return new Failure('outcome-unknown', sentence, { cause, said: cause.said })
}

/** For a sentence. */
export const seconds = (milliseconds: number): string =>
  `${(Math.max(0, milliseconds) / 1000).toFixed(1).replace('.0', '')} s`

/** No more of an error page than this is read. */
const mostOfWords = 64 * 1024

/** The first 300 characters of a refusal. */
class WordsSink implements Sink<string | undefined> {
  readonly #bytes = new CollectedBytes()

  constructor(private readonly authorization: string | undefined) {}

  take(piece: Uint8Array): undefined {
    this.#bytes.add(piece)
    if (this.#bytes.length > mostOfWords) throw tooManyBytes(mostOfWords)
  }

  end(): string | undefined {
    const words = redactSecrets(this.#bytes.bytes.toString(), secretsIn(this.authorization)).trim()
    return words === '' ? undefined : words.slice(0, 300)
  }
}

/** An answer whose head has come. */
export class Arriving<Value> {
  readonly isRefusal: boolean
  /** Bytes of its body so far. */
  count = 0
  /** Of a body that its reader takes piece by piece. */
  stream: BodyStream | undefined
  #length: number | undefined
  #sink: Sink<unknown> | undefined

  constructor(
    readonly head: Head,
    readonly call: Exchange,
    private readonly outgoing: Outgoing,
    private readonly question: Question<Value>,
  ) {
    this.isRefusal = !question.accepts(head.status)
  }

  /** The value, where the head alone tells it. @throws Failure for a head that contradicts itself, or is none of an answer */
  open(): Extract<Reading<Value>, { value: Value }> | undefined {
    const { head, call, outgoing, question } = this
    const declared = declaredBody(head.headers)
    this.#length = outgoing.method === 'HEAD' ? undefined : declared.length
    if (this.isRefusal) {
      this.#sink = new WordsSink(outgoing.authorization)
      return undefined
    }
    const reading = question.read({ ...head, declared }, call)
    if ('sink' in reading) {
      this.#sink = reading.sink
      return undefined
    }
    if (typeof reading.rest !== 'string') this.stream = reading.rest
    return reading
  }

  /** True where the rest is not wanted. @throws Failure for more bytes than were claimed, and what its reader throws */
  take(piece: Uint8Array): boolean {
    this.count += piece.length
    if (this.count > (this.#length ?? Number.POSITIVE_INFINITY)) throw this.#wrongLength
    this.stream?.push(piece)
    return this.#sink?.take(piece) === true
  }

  /** Why the body is not whole where it ends now. */
  get shortage(): Failure | undefined {
    return this.#length === undefined || this.count === this.#length ? undefined : this.#wrongLength
  }

  /** What was made of the body: the value, or the words of a refusal; undefined where the head told the value. */
  read(): unknown {
    return this.#sink?.end()
  }

  get #wrongLength(): Failure {
    return new Failure('broken', `the answer claimed ${this.#length} bytes and had ${this.count}`)
  }
}
