// Client: what all requests to one service share, and retries: only where repeating does no harm, with growing jittered waits, never past the deadline.
import { Failure } from '../../failure.js'
import { type Clock, systemClock } from '../clock.js'
import { type ConnectionOptions, pathBelow, ServiceConnections } from '../connection/connections.js'
import { isFault } from '../connection/network-errors.js'
import { firstQuestion } from '../known-question.js'
import type { RequestContext } from '../remote.js'
import { Attempt } from './attempt.js'
import { AnswerTimes, Breaker } from './breaker.js'
import { LateWrites, type Subject, type UnansweredChanges } from './late-answer.js'
import { Limiter, openBandwidthLimiter } from './limiter.js'
import type { AttemptResult, Meaning, Outgoing, Question, Told, Traffic } from './outgoing.js'

export interface ClientOptions extends ConnectionOptions, Told {
  readonly base: URL
  /** Requests a second. */
  readonly maxRequests?: number | undefined
  /** Bytes a second, all bodies together. */
  readonly bwlimit?: number | undefined
  readonly clock?: Clock | undefined
  /** Unanswered changes of earlier processes. */
  readonly unanswered?: UnansweredChanges | undefined
  /** The path of a probe, below the base: a question that this service answers somehow. */
  readonly question?: (() => string) | undefined
}

/** Opens nothing yet: connections are made for the first request, and kept. */
export class Client {
  readonly clock: Clock
  readonly #traffic: Traffic
  /** Of the latest request, for probes. */
  #authorization: string | undefined

  constructor(
    private readonly options: ClientOptions,
    meaning: Meaning,
  ) {
    const { base, connections, maxRequests, bwlimit, unanswered, clock = systemClock } = options
    const times = new AnswerTimes()
    this.clock = clock
    this.#traffic = {
      clock,
      connections: new ServiceConnections(base, options, clock),
      limiter: new Limiter(connections, clock, maxRequests),
      breaker: new Breaker(
        clock,
        () => this.#probed(),
        () => times.patience,
      ),
      times,
      late: new LateWrites(clock, unanswered),
      meaning,
      spend: openBandwidthLimiter(bwlimit, clock),
      told: options,
    }
  }

  /** How many background requests may be in flight now. */
  get guesses(): number {
    return this.#traffic.limiter.guesses
  }

  /** Since when the service answers nothing at all, while requests fail without being sent. */
  get away(): Breaker['away'] {
    return this.#traffic.breaker.away
  }

  /** Milliseconds that an answer usually takes; 0 before the first one. */
  get usual(): number {
    return this.#traffic.times.median
  }

  /** The answer, within the deadline. @throws Failure */
  ask<Value>(outgoing: Outgoing, context: RequestContext, question: Question<Value>): Promise<Value> {
    this.#authorization = outgoing.authorization
    const { clock } = this
    return withRetries(context, clock, () => new Attempt(outgoing, context, question, this.#traffic).start())
  }

  /** Resolves when no earlier change of it is on its way unanswered. @throws Failure 'timeout' at the deadline */
  readonly answered = async (subject: Subject, context: RequestContext): Promise<void> => {
    await this.#traffic.late.settled([subject], context)
  }

  /** Ends every connection; requests under way fail. */
  readonly close = async (): Promise<void> => {
    this.#traffic.late.end()
    await this.#traffic.connections.destroy()
  }

  /** A question of calcfs itself, on a new connection apart from all places. */
  async #probed(): Promise<void> {
    const { connections, breaker } = this.#traffic
    const path = pathBelow(this.options.base, (this.options.question ?? (() => firstQuestion))())
    const headers = this.#authorization === undefined ? [] : ['authorization', this.#authorization]
    const { status } = await connections.probe(path, headers)
    if (isFault(status))
      throw new Failure('refuses-all', `the service answered ${status} to GET ${path.slice(0, 300)}`)
    // Connections kept while nothing was answered may lead nowhere.
    if (breaker.away !== undefined) connections.renew()
  }
}

const attempts = 4
const firstWait = 100

/** The value of the first attempt that ends well. @throws the Failure of the last attempt */
export function withRetries<Value>(
  context: RequestContext,
  clock: Clock,
  attempt: () => Promise<AttemptResult<Value>>,
): Promise<Value> {
  // Where this fails, a caller that has come later asks again.
  const answerBy = Math.min(context.deadline, context.answerBy ?? context.deadline)
  let made = 0
  let before: Failure | undefined
  return new Promise((resolve, reject) => {
    const next = (): void => void attempt().then(judge)
    const judge = (end: AttemptResult<Value>): void => {
      if (end.ended === 'well') return void resolve(end.value)
      made += 1
      const wait = Math.max(end.after ?? 0, firstWait * 2 ** (made - 1) * (0.5 + Math.random()))
      // A timeout at the end, or an open breaker, says less than the failure of the attempt itself.
      const saysLess = before !== undefined && (end.failure.kind === 'timeout' || end.unasked === true)
      // A wait past the deadline could only end in a timeout, which says less than the failure at hand.
      if (saysLess || !end.again || made >= attempts || clock.now() + wait >= answerBy)
        return void reject(saysLess ? before : end.failure)
      before = end.failure
      clock.after(wait, next)
    }
    next()
  })
}
