// Client: one request within its deadline, through limiter, rate and breaker; a silent question is sent once more, a change once.
import type { Requests } from '../../activity/requests.js'
import { Failure } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { type Clock, systemClock } from '../clock.js'
import type { FlowControl, TextLimits } from '../connection/body.js'
import {
  type ConnectionOptions,
  openServiceConnections,
  type ServiceConnections,
} from '../connection/connections.js'
import { anyAnswer, type Exchange, type IncomingResponse, sendOnConnection } from '../connection/exchange.js'
import { isElsewhere, isFault, networkFailure } from '../connection/network-errors.js'
import { firstQuestion } from '../known-question.js'
import { type RequestContext, requestLogOf } from '../remote.js'
import {
  Attempt,
  describeRequest,
  neededElsewhere,
  type Outgoing,
  subjectsOf,
  superseded,
  type TraceRequest,
  wireOptions,
} from './attempt.js'
import { AnswerTimes, Breaker } from './breaker.js'
import {
  FreshLook,
  LateWrites,
  lateAtMost,
  lookedLongAgo,
  outdated,
  type Subject,
  type UnansweredChanges,
} from './late-answer.js'
import { isBackground, Limiter } from './limiter.js'
import { openBandwidthLimiter, RateLimiter } from './rate-limit.js'
import type { AttemptResult } from './retry.js'

export interface ClientOptions extends ConnectionOptions {
  readonly base: URL
  /** Requests a second. */
  readonly maxRequests?: number | undefined
  /** Bytes a second, all bodies together. */
  readonly bwlimit?: number | undefined
  readonly clock?: Clock | undefined
  /** Unanswered changes of earlier processes. */
  readonly unanswered?: UnansweredChanges | undefined
  readonly counter?: Requests | undefined
  readonly trace?: TraceRequest | undefined
  /** Called for each long metadata answer that was read. */
  readonly longAnswer?: ((bytes: number) => void) | undefined
  /** The path of a probe, below the base: a question that this service answers somehow. */
  readonly question?: (() => string) | undefined
}

/** Reads an answer, at once where its head tells all; what it throws ends the attempt. */
export type AnswerReader<Value> = (
  response: IncomingResponse,
  flow: FlowControl,
) => MaybePromise<AttemptResult<Value>>

/** The limit in bytes of an answer that is not content. */
const mostOfAnswer = 16 << 20
/** Milliseconds before the connection of a probe is abandoned. */
const probeLimit = 10_000
/** Milliseconds between two times that all connections are replaced by new ones. */
const renewEvery = 1_000
/** Bytes that arrived while this process itself was busy are read first. */
const busyGrace = 50
/** Bytes of a piece that shows that the service is there: a drip does not. */
const pieceAtLeast = 1024

/** Opens nothing yet: connections are made for the first request, and kept. */
export class Client {
  readonly clock: Clock
  readonly #base: URL
  readonly #question: () => string
  readonly #pools: ServiceConnections
  readonly #limiter: Limiter
  readonly #rate: RateLimiter | undefined
  readonly #spend: (bytes: number) => Promise<void> | undefined
  readonly #counter: Requests | undefined
  readonly #trace: TraceRequest | undefined
  readonly #texts: TextLimits
  readonly #lateWrites: LateWrites
  readonly #times = new AnswerTimes()
  readonly #breaker: Breaker
  /** Of the latest request, for probes. */
  #authorization: string | undefined
  #renewedAt = Number.NEGATIVE_INFINITY

  /** @param overload the statuses that mean it */
  constructor(
    options: ClientOptions,
    private readonly overload: ReadonlySet<number>,
  ) {
    const { base, connections, maxRequests } = options
    this.clock = options.clock ?? systemClock
    this.#base = base
    this.#question = options.question ?? (() => firstQuestion)
    this.#pools = openServiceConnections(base, options, lateAtMost)
    this.#limiter = new Limiter(connections, this.clock)
    this.#rate = maxRequests === undefined ? undefined : new RateLimiter(maxRequests, this.clock)
    this.#spend = openBandwidthLimiter(options.bwlimit, this.clock)
    this.#counter = options.counter
    this.#trace = options.trace
    this.#texts = { limit: mostOfAnswer, long: bytes => options.longAnswer?.(bytes) }
    this.#lateWrites = new LateWrites(this.clock, options.unanswered)
    this.#breaker = new Breaker(
      this.clock,
      () => this.#probed(),
      () => this.#times.patience,
    )
  }

  /** How many background requests may be in flight now. */
  get guesses(): number {
    return this.#limiter.guesses
  }

  /** Since when the service answers nothing at all, while requests fail without being sent. */
  get away(): Breaker['away'] {
    return this.#breaker.away
  }

  /** Resolves when no earlier change of it is on its way unanswered. @throws Failure 'timeout' at the deadline */
  readonly answered = async (subject: Subject, context: RequestContext): Promise<void> =>
    void (await this.#lateWrites.settled([subject], context))

  /** Ends every connection; requests under way fail. */
  readonly close = async (): Promise<void> => {
    this.#lateWrites.end()
    await this.#pools.destroy()
  }

  /** One attempt. Never throws; `read` has until the deadline. */
  async send<Value>(
    outgoing: Outgoing,
    context: RequestContext,
    read: AnswerReader<Value>,
  ): Promise<AttemptResult<Value>> {
    const attempt = new Attempt(outgoing, context, this.clock.now())
    this.#counter?.begin()
    const logged = requestLogOf(context)?.begin(describeRequest(outgoing)) ?? (() => {})
    let result: AttemptResult<Value>
    try {
      if (attempt.allowed <= 0) throw attempt.late
      const response = await (outgoing.repeatable ? this.#asked(attempt) : this.#changed(attempt))
      response.bytes.onClose(logged)
      const reading = this.#readInTime(attempt, response, read)
      result = reading instanceof Promise ? await reading : reading
    } catch (thrown) {
      attempt.place?.leave()
      result = attempt.failed(networkFailure(thrown), this.#breaker.away !== undefined)
    }
    if (result.ended === 'badly') logged()
    this.#observe(attempt, result)
    return result
  }

  #observe({ outgoing, context, began, status }: Attempt, result: AttemptResult<unknown>): void {
    const { method, path, endpoint = '' } = outgoing
    const { priority } = context
    const milliseconds = this.clock.now() - began
    const failure = result.ended === 'badly' ? result.failure : undefined
    this.#counter?.ended({ method, endpoint, outcome: String(status ?? failure?.kind), milliseconds })
    this.#trace?.({ method, path, priority, milliseconds, status, failure: failure?.message })
  }

  /** Its place, and whatever else it has to wait for; most requests wait for nothing here. */
  #admitted(attempt: Attempt): MaybePromise<void> {
    const { outgoing, context } = attempt
    const entrant = {
      weight: outgoing.weight,
      context,
      isSilent: () => this.#isSilent(attempt),
      giveUp: outgoing.repeatable ? () => attempt.abort(neededElsewhere()) : undefined,
    }
    return chain(this.#limiter.enter(entrant), place => {
      attempt.place = place
      return chain(this.#rate?.turn(context), () => this.#breaker.admit(context))
    })
  }

  /** The first answer to a question. */
  #asked(attempt: Attempt): MaybePromise<IncomingResponse> {
    return chain(this.#admitted(attempt), () => this.#firstOf(attempt))
  }

  #firstOf(attempt: Attempt): Promise<IncomingResponse> {
    return new Promise((resolve, reject) => {
      const { calls, context } = attempt
      const dispatch = (): void => {
        const call = this.#dispatch(attempt)
        call.response.then(
          response => {
            end()
            for (const other of calls.splice(0, calls.length, call))
              if (other !== call) other.abort(superseded())
            resolve(response)
          },
          reason => {
            const place = calls.indexOf(call)
            if (place === -1) return
            calls.splice(place, 1)
            if (calls.length > 0) return
            end()
            reject(reason)
          },
        )
      }
      const again = async (): Promise<void> => {
        await this.#rate?.turn(context)
        if (isOver) return
        if (!this.#breaker.heardSince(attempt.sentAt)) this.#renew()
        const newest = calls.length > 1 ? calls.pop() : undefined
        dispatch()
        newest?.abort(superseded())
      }
      dispatch()
      let isOver = false
      // Where the limit of requests leaves no time for another one, the first has to do.
      const unwatch = this.#watchSilence(attempt, () => void again().catch(() => {}))
      const left = context.deadline - this.clock.now()
      const lateOff = this.clock.after(left, () => attempt.abort(attempt.late))
      const end = (): void => {
        isOver = true
        unwatch()
        lateOff()
      }
    })
  }

  /** The answer to a change, which is sent once, on a base that is not old. */
  async #changed(attempt: Attempt): Promise<IncomingResponse> {
    const subjects = subjectsOf(attempt.outgoing, attempt.context)
    const hasWaited = subjects.length > 0 && (await this.#lateWrites.settled(subjects, attempt.context))
    const context = hasWaited ? lookedLongAgo(attempt.context) : attempt.context
    const look = new FreshLook(context, this.clock, () => this.#times.median)
    await this.#admitted(attempt)
    await look.renew()
    return this.#sentChange(attempt, subjects, look).catch(async failure => {
      if (failure !== outdated) throw failure
      // Once: where every connection is slow to open, waiting longer does not help.
      await look.renew()
      return this.#sentChange(attempt, subjects)
    })
  }

  async #sentChange(
    attempt: Attempt,
    subjects: readonly Subject[],
    look?: FreshLook,
  ): Promise<IncomingResponse> {
    const { context, allowed } = attempt
    attempt.calls.length = 0
    const call = this.#dispatch(attempt, look?.refusal)
    const unwatch = this.#watchSilence(attempt, () => {})
    try {
      const sent = { subjects, context, allowed, late: () => attempt.late }
      return await this.#lateWrites.response(call, sent)
    } finally {
      unwatch()
    }
  }

  #dispatch(attempt: Attempt, refusal?: FreshLook['refusal']): Exchange {
    const { outgoing } = attempt
    const pool = outgoing.method === 'HEAD' ? this.#pools.heads : this.#pools.requests
    const call = sendOnConnection(pool, wireOptions(this.#base.origin, outgoing), refusal)
    const sentAt = this.clock.now()
    this.#authorization = outgoing.headers['authorization']
    attempt.calls.push(call)
    attempt.isTried = true
    attempt.silentSince ??= sentAt
    attempt.sentAt = sentAt
    call.response.then(
      ({ status }) => {
        const took = this.clock.now() - sentAt
        this.#times.note(took)
        if (this.overload.has(status)) attempt.place?.pushedBack()
        else attempt.place?.answered(took)
      },
      (reason: unknown) => {
        if (attempt.calls.includes(call) && networkFailure(reason).kind !== 'untrusted')
          this.#breaker.failed(sentAt)
      },
    )
    return call
  }

  #isSilent({ silentSince }: Attempt): boolean {
    return silentSince !== undefined && this.clock.now() - silentSince >= this.#times.patience
  }

  /** Once it is silent for unusually long the service is suspected; `act` is called while a user waits, again for each that comes later. */
  #watchSilence(attempt: Attempt, act: () => void): () => void {
    let lookOff = () => {}
    const look = (): void => {
      lookOff()
      const since = attempt.silentSince ?? this.clock.now()
      const left = Math.max(since, attempt.sentAt) + this.#times.patience - this.clock.now()
      if (left > 0) {
        lookOff = this.clock.after(left, look)
        return
      }
      this.#limiter.review()
      this.#breaker.silent(since)
      if (!isBackground(attempt.context)) act()
    }
    const unwatch = attempt.context.askers?.watch(what => {
      if (what === 'left') return this.#limiter.review()
      attempt.hasNewCaller = true
      look()
    })
    look()
    return () => {
      lookOff()
      unwatch?.()
    }
  }

  /** The head alone tells most: then no timer is needed. */
  #readInTime<Value>(
    attempt: Attempt,
    response: IncomingResponse,
    read: AnswerReader<Value>,
  ): MaybePromise<AttemptResult<Value>> {
    // Also of a body that is not read yet.
    attempt.silentSince = this.clock.now()
    attempt.hasNewCaller = false
    attempt.status = response.status
    response.bytes.onClose(() => attempt.place?.leave())
    const judged = chain(read(response, this.#flow(attempt)), result => {
      if (!isFault(response.status) || this.overload.has(response.status)) {
        if (attempt.isWhole(result)) this.#breaker.heard()
      } else if (attempt.outgoing.repeatable) this.#breaker.failed(attempt.sentAt)
      if (result.ended === 'badly' && isElsewhere(response.status, result.failure)) this.#renew()
      return result
    })
    if (!(judged instanceof Promise)) return judged
    const left = attempt.context.deadline - this.clock.now()
    return judged.finally(this.clock.after(left, () => attempt.abort(attempt.late)))
  }

  /** A body may take long as a whole, but no longer for one piece than its request had for the answer. */
  #flow(attempt: Attempt): FlowControl {
    // A body that stands still is taken up on another connection once another caller comes for it.
    const cut = (): void => {
      const cause = new Error('replaced by another connection')
      attempt.abort(new Failure('unreachable', 'the answer stalled', { cause }))
    }
    const stalled = (): void =>
      attempt.abort(new Failure('timeout', `the answer stalled for ${attempt.within}`))
    return {
      expectPiece: () => {
        attempt.silentSince ??= this.clock.now()
        const lateOff = this.clock.after(attempt.allowed, stalled)
        let lookOff = () => {}
        const unwatch = this.#watchSilence(attempt, () => {
          if (attempt.hasNewCaller && attempt.outgoing.repeatable) lookOff = this.clock.after(busyGrace, cut)
        })
        return () => {
          lateOff()
          lookOff()
          unwatch()
        }
      },
      text: this.#texts,
      spend: bytes => {
        if (bytes >= pieceAtLeast) {
          attempt.silentSince = undefined
          attempt.hasNewCaller = false
          if (attempt.status === undefined || !isFault(attempt.status)) this.#breaker.heard()
        }
        this.#counter?.received(bytes)
        return this.#spend(bytes)
      },
    }
  }

  #renew(): void {
    if (this.clock.now() < this.#renewedAt + renewEvery) return
    this.#renewedAt = this.clock.now()
    this.#pools.renew()
  }

  /** A question of calcfs itself, on a new connection apart from all places. */
  async #probed(): Promise<void> {
    const headers = this.#authorization === undefined ? {} : { authorization: this.#authorization }
    const path = `${this.#base.pathname.replace(/\/$/, '')}${this.#question()}`
    const options = wireOptions(this.#base.origin, { method: 'GET', path, headers, body: undefined })
    await anyAnswer(this.#pools.probes, options, { limit: probeLimit, clock: this.clock })
    // What was kept while nothing was answered may lead nowhere.
    if (this.#breaker.away !== undefined) this.#renew()
  }
}
