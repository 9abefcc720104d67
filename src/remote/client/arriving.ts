// Arriving answer: its body as it comes, counted against the length that its head claims; read whole, streamed on, or the words of a refusal.
import { Failure } from '../../failure.js'
import { type BodyStream, declaredBody } from '../connection/body.js'
import type { Exchange, Head } from '../connection/exchange.js'
import { type Outgoing, type Question, type Reading, type Sink, WordsSink } from './outgoing.js'

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
