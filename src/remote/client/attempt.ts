// Attempt: one request from its place to its answer; a silent question is sent once more, a change once.
import { Failure, isA } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { foldedFrom } from '../../record/json/walk.js'
import { Exchange, type ExchangeListener, type Head } from '../connection/exchange.js'
import { isElsewhere, isFault, networkFailure, truncatedBodyFailure } from '../connection/network-errors.js'
import { type Instant, type RequestContext, requestLogOf } from '../remote.js'
import { type FreshLook, outdated } from './late-answer.js'
import { type Entrant, isBackground, type TrafficClass } from './limiter.js'
import {
  Arriving,
  type AttemptResult,
  describeRequest,
  type Outgoing,
  type Question,
  seconds,
  subjectsOf,
  type Traffic,
  unknownOutcome,
} from './outgoing.js'

/** Bytes that arrived while this process itself was busy are read first. */
const busyGrace = 50
/** A piece of so many bytes shows that the service is there; a drip does not. */
const pieceAtLeast = 1024

const superseded = new Failure('busy', 'the same question was answered by another request')
const neededElsewhere = new Failure('busy', 'it was silent, and its connection was needed for others')
const notWanted = new Failure('busy', 'the rest of the answer is not wanted')

const stalled = (): Failure =>
  new Failure('unreachable', 'the answer stalled', { cause: new Error('replaced by another connection') })

/**
 * Used once, in three states: waiting for its place (no calls), asked (one call or two), answered (from the first head on). `start`
 * never rejects; its result may be given while the body still streams.
 */
export class Attempt<Value> implements ExchangeListener, Entrant {
  readonly weight: TrafficClass
  readonly giveUp: (() => void) | undefined
  readonly #began: Instant
  /** Milliseconds until the deadline. */
  readonly #allowed: number
  /** Undefined once the result is given. */
  #give: ((result: AttemptResult<Value>) => void) | undefined
  /** Sent and without an answer: at most two, the newest last. */
  #calls: Exchange[] = []
  #isSent = false
  #look: FreshLook | undefined
  #answer: Arriving<Value> | undefined
  /** The start of the present silence, a drip of bytes included; undefined before it is sent. */
  #silentSince: Instant | undefined
  #isSilenceTold = false
  /** One more caller has come since it became silent. */
  #hasNewCaller = false
  /** When the newest question was sent, or the newest piece of an answer came. */
  #movedAt: Instant
  #timerOff: (() => void) | undefined
  #unwatch: (() => void) | undefined
  #logged: (() => void) | undefined

  constructor(
    private readonly outgoing: Outgoing,
    readonly context: RequestContext,
    private readonly question: Question<Value>,
    private readonly traffic: Traffic,
  ) {
    this.weight = outgoing.weight
    if (outgoing.repeatable) this.giveUp = () => this.#abort(neededElsewhere)
    this.#began = traffic.clock.now()
    this.#allowed = context.deadline - this.#began
    this.#movedAt = this.#began
  }

  start(): Promise<AttemptResult<Value>> {
    this.traffic.told.counter?.begin()
    this.#logged = requestLogOf(this.context)?.begin(describeRequest(this.outgoing))
    return new Promise(resolve => {
      this.#give = resolve
      const failed = (thrown: unknown): void => this.#fail(networkFailure(thrown))
      try {
        if (this.#allowed <= 0) throw this.#late
        const ready = this.outgoing.repeatable ? this.#admitted() : this.#prepared()
        if (ready instanceof Promise) ready.then(() => this.#dispatch(this.#look?.refusal), failed)
        else this.#dispatch(undefined, this.#began)
      } catch (thrown) {
        failed(thrown)
      }
    })
  }

  isSilent(now: Instant): boolean {
    if (this.#silentSince === undefined || this.#answer?.call.isPaused === true) return false
    return now - this.#silentSince >= this.traffic.times.patience
  }

  head(head: Head, call: Exchange): void {
    const { clock, times, limiter, meaning } = this.traffic
    const now = clock.now()
    times.note(now - call.sentAt)
    if (meaning.isOverload(head.status)) limiter.pushedBack(this, now)
    else limiter.answered(now - call.sentAt, now)
    const asked = this.#calls
    this.#calls = []
    const answer = new Arriving(head, call, this.outgoing, this.question)
    this.#answer = answer
    this.#isSent = true
    for (const other of asked) if (other !== call) other.abort(superseded)
    this.#silentSince = now
    this.#movedAt = now
    this.#hasNewCaller = false
    const told = answer.open()
    if (told === undefined) return
    this.#conclude({ ended: 'well', value: told.value })
    if (told.rest === 'ended') call.abort(notWanted)
  }

  piece(piece: Uint8Array, call: Exchange): void {
    const answer = this.#answer
    if (answer === undefined || call !== answer.call) return
    const { clock, breaker, spend, told } = this.traffic
    this.#movedAt = clock.now()
    told.counter?.received(piece.length)
    if (piece.length >= pieceAtLeast) {
      this.#silentSince = this.#movedAt
      this.#hasNewCaller = false
      if (this.#isSilenceTold) this.#watch()
      if (!isFault(answer.head.status)) breaker.heard(this.#movedAt)
    }
    const wait = spend(piece.length)
    if (wait !== undefined) {
      call.pause()
      void wait.then(() => call.resume())
    }
    if (!answer.take(piece)) return
    this.#finish(answer)
    call.abort(notWanted)
  }

  ended(call: Exchange): void {
    const answer = this.#answer
    if (answer === undefined || call !== answer.call) return
    this.#close()
    const { shortage, stream } = answer
    if (shortage !== undefined) this.#cut(answer, shortage)
    else if (stream === undefined) this.#finish(answer)
    else stream.end()
  }

  failed(reason: Error, call: Exchange): void {
    const answer = this.#answer
    if (call === answer?.call) {
      this.#close()
      this.#cut(answer, truncatedBodyFailure(reason, answer.count))
      return
    }
    const place = this.#calls.indexOf(call)
    if (place === -1) return
    this.#calls.splice(place, 1)
    this.#isSent ||= call.isSent
    const failure = networkFailure(reason)
    if (failure.kind !== 'untrusted' && failure !== outdated) this.traffic.breaker.failed(call.sentAt)
    if (this.#calls.length > 0) return
    if (failure !== outdated) this.#fail(failure)
    // Once: where every connection is slow to open, waiting longer does not help.
    else
      this.#look?.renew().then(
        () => {
          this.#dispatch()
          // The deadline may have passed while nothing was on its way.
          this.#watch()
        },
        thrown => this.#fail(networkFailure(thrown)),
      )
  }

  /** Its place, and whatever else it has to wait for; most requests wait for nothing here. */
  #admitted(): MaybePromise<void> {
    const { limiter, breaker } = this.traffic
    return chain(limiter.enter(this, this.#began), () => breaker.admit(this.context))
  }

  /** A change is sent behind the answers to earlier ones, on a base that is not old. */
  async #prepared(): Promise<void> {
    const { late, times } = this.traffic
    const subjects = subjectsOf(this.outgoing, this.context)
    this.#look = await late.freshLook(subjects, this.context, () => times.median)
    await this.#admitted()
    await this.#look.renew()
  }

  #dispatch(refusal?: () => Error | undefined, now = this.traffic.clock.now()): void {
    const { connections } = this.traffic
    this.#movedAt = now
    const isFirst = this.#silentSince === undefined
    this.#silentSince ??= this.#movedAt
    const call = new Exchange(this, this.#movedAt, refusal)
    this.#calls.push(call)
    if (isFirst) {
      this.#unwatch = this.context.askers?.watch(what => this.#callerChanged(what))
      this.#watch(this.#movedAt)
    }
    connections.send(this.outgoing, call)
  }

  #callerChanged(what: 'came' | 'left'): void {
    if (what === 'came') {
      this.#hasNewCaller = true
      this.#watch()
    } else this.traffic.limiter.review()
  }

  /** One timer for all that may be too long: a silence, a body that stands still, the deadline. */
  #watch(now = this.traffic.clock.now()): void {
    this.#timerOff?.()
    const { clock, times } = this.traffic
    if (this.#answer?.call.isPaused === true) {
      this.#silentSince = now
      this.#movedAt = now
    }
    const end = this.#due
    if (now >= end) {
      this.#expire()
      return
    }
    const since = this.#silentSince ?? now
    const unusual = (this.#answer === undefined ? this.#movedAt : since) + times.patience
    this.#isSilenceTold = now >= unusual
    this.#timerOff = clock.after((this.#isSilenceTold ? end : Math.min(unusual, end)) - now, () =>
      this.#watch(),
    )
    if (this.#isSilenceTold) this.#isUnusual(since)
  }

  /** A body may take long as a whole, but no longer for one piece than its request had for the answer. */
  get #due(): number {
    const mayTakeLong = this.#answer !== undefined && this.weight === 'download'
    return mayTakeLong ? this.#movedAt + this.#allowed : this.context.deadline
  }

  /** The service is suspected; while a user waits, and for each that comes later, the question is sent once more. */
  #isUnusual(since: Instant): void {
    const { limiter, breaker, clock } = this.traffic
    limiter.review()
    breaker.silent(since)
    if (isBackground(this.context) || !this.outgoing.repeatable) return
    if (this.#answer === undefined) this.#sendAgain()
    else if (this.#hasNewCaller)
      // A body that stands still is taken up on another connection once another caller comes for it.
      clock.after(busyGrace, () => {
        if (this.#silentSince === since) this.#abort(stalled())
      })
  }

  #sendAgain(): void {
    if (this.#answer !== undefined || this.#calls.length === 0) return
    const { breaker, clock, connections, limiter } = this.traffic
    const wait = limiter.again(clock.now())
    if (wait > 0) return void clock.after(wait, () => this.#sendAgain())
    if (!breaker.heardSince(this.#movedAt)) connections.renew()
    const newest = this.#calls.length > 1 ? this.#calls.pop() : undefined
    this.#dispatch()
    newest?.abort(superseded)
  }

  #expire(): void {
    const [call] = this.#calls
    if (this.#answer !== undefined && this.weight === 'download')
      this.#abort(new Failure('timeout', `the answer stalled for ${this.#waited}`))
    else if (this.outgoing.repeatable || call?.isSent !== true) this.#abort(this.#late)
    else {
      const late = this.#late
      this.#calls = []
      this.#isSent = true
      const { context } = this
      const subjects = subjectsOf(this.outgoing, context)
      this.traffic.late.keep(call, { subjects, context, allowed: this.#allowed, late })
      this.#fail(late)
    }
  }

  #abort(reason: Failure): void {
    for (const call of [...this.#calls]) call.abort(reason)
    this.#answer?.call.abort(reason)
  }

  get #late(): Failure {
    return new Failure('timeout', `no answer to ${describeRequest(this.outgoing)} within ${this.#waited}`)
  }

  /** How long its caller waits, of a request that outlives its first caller what that one had. */
  get #waited(): string {
    const { answerBy = this.context.deadline } = this.context
    return seconds(Math.min(this.#allowed, answerBy - this.#began))
  }

  /** The body has come to its end, or as much of it as is wanted. */
  #finish(answer: Arriving<Value>): void {
    const { longAnswer } = this.traffic.told
    try {
      const read = answer.read()
      if (this.weight === 'question' && answer.count >= foldedFrom) longAnswer?.(answer.count)
      if (answer.isRefusal) this.#refuse(answer, read as string | undefined)
      else this.#conclude({ ended: 'well', value: read as Value })
    } catch (thrown) {
      this.#cut(answer, networkFailure(thrown))
    }
  }

  /** The words of a refusal are only for messages: one whose text gets lost keeps its kind. */
  #refuse({ head }: Arriving<Value>, said: string | undefined): void {
    const { meaning, clock } = this.traffic
    this.#conclude(meaning.refused(this.outgoing, head, said, clock.now()))
  }

  /** An accepted answer that cannot be read: a question may be repeated, a write was carried out all the same. */
  #cut(answer: Arriving<Value>, failure: Failure): void {
    answer.stream?.fail(failure)
    if (this.#give === undefined) return
    if (answer.isRefusal) {
      this.#refuse(answer, `(its words could not be read: ${failure.message})`)
      return
    }
    // With a cause the connection failed; without one the answer itself is wrong and a retry will not help.
    const again = this.outgoing.repeatable && failure.cause !== undefined && failure.kind !== 'timeout'
    const told = this.outgoing.repeatable ? failure : unknownOutcome(this.outgoing, failure)
    this.#conclude({ ended: 'badly', failure: told, again })
  }

  /** Without an answer a sent change may or may not have been carried out; every question simply failed. */
  #fail(failure: Failure): void {
    this.#close()
    const { repeatable } = this.outgoing
    const isAway = this.traffic.breaker.away !== undefined
    this.#conclude({
      ended: 'badly',
      failure: !repeatable && this.#isSent ? unknownOutcome(this.outgoing, failure) : failure,
      again: !isAway && repeatable && isA('transient', failure),
      unasked: isAway && this.#silentSince === undefined,
    })
  }

  #conclude(result: AttemptResult<Value>): void {
    const give = this.#give
    if (give === undefined) return
    this.#give = undefined
    const answer = this.#answer
    const now = this.traffic.clock.now()
    if (answer?.stream === undefined) this.#endWatch()
    const failure = result.ended === 'badly' ? result.failure : undefined
    if (answer !== undefined) this.#judge(answer, failure, now)
    const { counter, trace } = this.traffic.told
    const { method, path, endpoint } = this.outgoing
    const { priority } = this.context
    const milliseconds = now - this.#began
    const status = answer?.head.status
    counter?.ended({ method, endpoint, outcome: String(status ?? failure?.kind), milliseconds })
    trace?.({ method, path, priority, milliseconds, status, failure: failure?.message })
    give(result)
  }

  /** The verdict of an answer on the service. The head of a download says nothing of its body. */
  #judge({ head: { status }, call, stream }: Arriving<Value>, failure: Failure | undefined, now: Instant) {
    const { breaker, meaning, connections } = this.traffic
    const isCut = failure?.cause !== undefined || failure?.kind === 'timeout'
    if (isFault(status) && !meaning.isOverload(status)) {
      if (this.outgoing.repeatable) breaker.failed(call.sentAt)
    } else if (!isCut && stream === undefined) breaker.heard(now)
    if (failure !== undefined && isElsewhere(status, failure)) connections.renew()
  }

  /** The exchange is over: its place is free. */
  #close(): void {
    this.#endWatch()
    this.#logged?.()
    this.traffic.limiter.leave(this)
  }

  #endWatch(): void {
    this.#timerOff?.()
    this.#timerOff = undefined
    this.#unwatch?.()
    this.#unwatch = undefined
  }
}
