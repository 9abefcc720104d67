// Request pipeline: concurrency slot, rate limit, circuit breaker, deadline, unknown outcomes.
import { Failure, isA } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import { noop } from '../../noop.js'
import { hasDeadConnection } from '../../system/tcp-table.js'
import { type Clock, systemClock } from '../clock.js'
import type { FlowControl, TextLimits } from '../connection/body.js'
import type { ConnectionOptions } from '../connection/connections.js'
import { type Exchange, type IncomingResponse, sendOnConnection } from '../connection/exchange.js'
import { networkFailure } from '../connection/network-errors.js'
import { openServiceConnections } from '../connection/renewable-pool.js'
import { textBudget } from '../connection/text-budget.js'
import { lookedLongAgo } from '../old-look.js'
import type { Instant, RequestContext } from '../remote.js'
import { openCircuitBreaker } from './circuit-breaker.js'
import { openDeadPaths } from './dead-paths.js'
import { alwaysFresh, type FreshLook, openFreshLook, outdated } from './fresh-look.js'
import { type AnsweredSend, firstResponseHead, type HedgedSend } from './hedged-requests.js'
import { lateAtMost, openLateWrites, type Subject, type UnansweredChanges } from './late-writes.js'
import {
  describeRequest,
  headersOfProbe,
  type Outgoing,
  subjectsOf,
  unknownOutcome,
  wireOptions,
} from './outgoing.js'
import { type HeldSlot, openPriorityLimiter } from './priority-limiter.js'
import { openBandwidthLimiter, openRateLimiter } from './rate-limit.js'
import type { AttemptResult } from './retry.js'
import { type BodyProgress, noBody, watchBody } from './stall.js'

export interface PipelineOptions extends ConnectionOptions {
  readonly base: URL
  /** Requests a second. */
  readonly maxRequests?: number | undefined
  /** Bytes a second, all bodies together. */
  readonly bwlimit?: number | undefined
  readonly clock?: Clock | undefined
  /** Bytes of one answer that is not content. */
  readonly maxAnswer?: number | undefined
  /** Unanswered changes of earlier processes. */
  readonly unanswered?: UnansweredChanges | undefined
  /** Called for the bytes of each piece of an answer. */
  readonly received?: ((bytes: number) => void) | undefined
  /** Called for each long metadata answer that was read. */
  readonly longAnswer?: ((bytes: number) => void) | undefined
}

/** What HTTP semantics add to the pipeline. */
export interface PipelinePolicy {
  /** Statuses that mean overload. */
  readonly tooMuch: ReadonlySet<number>
  /** The path that a probe asks for, which this service answers somehow. */
  readonly probe: () => string
}

/** Reads an answer, at once where its head tells all; what it throws ends the attempt. */
export type AnswerReader<Value> = (
  response: IncomingResponse,
  flow: FlowControl,
) => MaybePromise<AttemptResult<Value>>

export interface RequestPipeline {
  readonly clock: Clock
  /** One attempt. Never throws; the judge has until the deadline. */
  send<Value>(
    outgoing: Outgoing,
    context: RequestContext,
    judge: AnswerReader<Value>,
  ): Promise<AttemptResult<Value>>
  /** Resolves when no earlier change of it is on its way unanswered. @throws Failure 'timeout' at the deadline */
  answered(subject: Subject, context: RequestContext): Promise<void>
  /** How many background requests may be in flight now. */
  readonly guesses: number
  close(): Promise<void>
}

/** The limit in bytes of an answer that is not content. */
const usualAnswer = 16 << 20
/** An answer this short never waits for memory; all connections together hold little of them. */
const shortAnswer = 256 << 10
/** Milliseconds before the connection of a probe is abandoned. */
const probeLimit = 10_000
/** An attempt that another one has made unnecessary. */
const superseded = new Failure('busy', 'the same question was answered by another request')

/** Opens nothing yet: connections are made for the first request, and kept. */
export function openRequestPipeline(
  options: PipelineOptions,
  { tooMuch, probe }: PipelinePolicy,
): RequestPipeline {
  const clock = options.clock ?? systemClock
  const pools = openServiceConnections(options.base, options, lateAtMost)
  const lateWrites = openLateWrites(clock, options.unanswered)
  const paths = openDeadPaths({ clock, isOneDead: hasDeadConnection, renew: pools.renew })
  const slots = openPriorityLimiter(options.connections, clock)
  const { maxRequests } = options
  const rate = maxRequests === undefined ? undefined : openRateLimiter(maxRequests, clock)
  const texts = textBudget(options.maxAnswer ?? usualAnswer, shortAnswer)
  const limits: TextLimits = {
    limit: options.maxAnswer ?? usualAnswer,
    enter: texts.enter,
    long: bytes => options.longAnswer?.(bytes),
  }
  const spend = openBandwidthLimiter(options.bwlimit, clock)
  const received = options.received ?? noop
  const health = openCircuitBreaker(clock, () => probed())
  const unusual = (): number => slots.unusual
  /** How often each request lost its connection to others. */
  const yields = new WeakMap<Outgoing, number>()
  const { origin } = options.base
  let lastHeaders: Outgoing['headers'] = {}

  /** A request of calcfs itself, on a connection apart from the slots: any head at all is an answer. */
  async function probed(): Promise<void> {
    const headers = headersOfProbe(lastHeaders)
    const call = sendOnConnection(
      pools.probes,
      wireOptions(origin, { method: 'GET', path: probe(), headers, body: undefined }),
    )
    const callOff = clock.after(probeLimit, () =>
      call.abort(new Failure('timeout', 'the probe was not answered')),
    )
    try {
      const { bytes } = await call.response
      bytes.destroy()
      health.heard()
    } finally {
      callOff()
    }
  }

  function send<Value>(
    outgoing: Outgoing,
    context: RequestContext,
    judge: AnswerReader<Value>,
  ): Promise<AttemptResult<Value>> {
    const allowed = context.deadline - clock.now()
    const attempt: RequestAttempt = {
      outgoing,
      context,
      allowed,
      tried: false,
      sent: false,
      headed: undefined,
      dropped: undefined,
      late: undefined,
    }
    const failed = (thrown: unknown): AttemptResult<Value> =>
      unansweredFailure(attempt, networkFailure(thrown), health.away())
    if (allowed <= 0) return Promise.resolve(failed(tooLate(attempt)))
    const start = (): HedgedSend => legOf(attempt)
    const ports = { clock, start, unusual, superseded }
    return firstResponseHead(context, ports)
      .then(headed => judgedInTime(attempt, headed, judge))
      .catch(failed)
  }

  /** What the head alone tells needs no timer. */
  function judgedInTime<Value>(
    attempt: RequestAttempt,
    headed: AnsweredSend,
    judge: AnswerReader<Value>,
  ): MaybePromise<AttemptResult<Value>> {
    attempt.headed = headed
    const judged = chain(judge(headed.response, flow(headed, attempt)), result => {
      if (result.ended === 'badly') paths.answered(headed.response.status, result.failure)
      return result
    })
    if (!(judged instanceof Promise)) return judged
    const left = attempt.context.deadline - clock.now()
    return judged.finally(clock.after(left, () => headed.call.abort(tooLate(attempt))))
  }

  /** The base of a change: stale where an earlier change of the same subject was answered only now. */
  function lookOf(outgoing: Outgoing, context: RequestContext): MaybePromise<FreshLook> {
    return outgoing.repeatable ? alwaysFresh : lookOfChange(outgoing, context)
  }

  async function lookOfChange(outgoing: Outgoing, context: RequestContext): Promise<FreshLook> {
    const usual = () => slots.usual
    const subjects = subjectsOf(outgoing, context)
    const settled = subjects.length > 0 && lateWrites.settled(subjects, context)
    const hasWaited = await settled
    return openFreshLook(hasWaited ? lookedLongAgo(context) : context, clock, usual)
  }

  function legOf(attempt: RequestAttempt): HedgedSend {
    const { outgoing, context } = attempt
    let call: Exchange | undefined
    let sentAt: Instant | undefined
    let turn: HeldSlot | undefined
    let dropped: Failure | undefined
    let callOff = noop
    const drop = (reason: Failure): void => {
      dropped = reason
      call?.abort(reason)
    }
    const preempt = (reason: Failure): void => {
      yields.set(outgoing, (yields.get(outgoing) ?? 0) + 1)
      attempt.dropped = reason
      drop(reason)
    }

    function dispatch(turn: HeldSlot, refusal?: () => Failure | undefined): Promise<IncomingResponse> {
      if (dropped !== undefined) throw dropped
      callOff()
      const began = clock.now()
      sentAt = began
      lastHeaders = outgoing.headers
      const pool = outgoing.method === 'HEAD' ? pools.heads : pools.requests
      const started = sendOnConnection(pool, wireOptions(origin, outgoing), refusal)
      call = started
      attempt.tried = true
      turn.sent()
      const subjects = subjectsOf(outgoing, context)
      if (subjects.length > 0)
        return lateWrites.response(started, {
          subjects,
          context,
          allowed: attempt.allowed,
          late: () => tooLate(attempt),
        })
      const lateOff = clock.after(context.deadline - began, () => started.abort(tooLate(attempt)))
      const waitOff = paths.await(outgoing.repeatable ? drop : undefined)
      callOff = () => {
        lateOff()
        waitOff()
      }
      return started.response
    }

    /** Its slot, and whatever else it has to wait for; most requests wait for nothing here. */
    function admitted(look: FreshLook): MaybePromise<HeldSlot> {
      const { weight, repeatable } = outgoing
      const entrant = { weight, repeatable, yields: yields.get(outgoing) ?? 0, preempt }
      return chain(slots.enter(entrant, context), held => {
        turn = held
        return chain(rate?.turn(context), () =>
          chain(health.admit(context), () => chain(look.renew(), () => held)),
        )
      })
    }

    async function headOf(): Promise<AnsweredSend> {
      try {
        const soon = lookOf(outgoing, context)
        const look = soon instanceof Promise ? await soon : soon
        const place = admitted(look)
        const held = place instanceof Promise ? await place : place
        const response = await dispatch(held, look.refusal).catch(async failure => {
          if (failure !== outdated) throw failure
          // Once: where every connection is slow to open, waiting longer does not help.
          await look.renew()
          return dispatch(held)
        })
        if (call === undefined || sentAt === undefined) throw new Failure('internal', 'nothing was sent')
        heard(response, held, sentAt)
        return { response, call, turn: held }
      } catch (thrown) {
        const failure = networkFailure(thrown)
        turn?.leave()
        if (call?.sent() === true) attempt.sent = true
        if (call !== undefined && sentAt !== undefined && dropped === undefined)
          silent(attempt, { failure, turn, sentAt })
        throw failure
      } finally {
        callOff()
      }
    }

    return {
      head: headOf(),
      get sentAt() {
        return sentAt
      },
      drop,
    }
  }

  function heard(response: IncomingResponse, turn: HeldSlot, sentAt: Instant): void {
    health.heard()
    // At once for a body that failed with its head.
    response.bytes.onClose(turn.leave)
    if (tooMuch.has(response.status)) turn.pushedBack()
    turn.answered(clock.now() - sentAt, Number(response.headers['content-length'] ?? 0))
  }

  /** A silence while others are answered concerns this request alone, not the service. */
  function silent(attempt: RequestAttempt, { failure, turn, sentAt }: UnansweredSend): void {
    if (failure === attempt.late && attempt.sent && !health.heardSince(sentAt)) turn?.pushedBack()
    if (failure.kind !== 'untrusted') health.silent(sentAt, failure)
  }

  /** A body may take long as a whole, but no longer for one piece than its request had for the answer. */
  function flow(
    { call, turn, response }: AnsweredSend,
    { context, allowed, outgoing }: RequestAttempt,
  ): FlowControl {
    const pieces = outgoing.method === 'HEAD' ? noBody : watched()
    function watched(): BodyProgress {
      const { askers } = context
      const progress = watchBody({ clock, askers, weight: outgoing.weight, unusual, abort: call.abort })
      response.bytes.onClose(progress.end)
      return progress
    }
    const stalled = () => new Failure('timeout', `the answer stalled for ${allowed} ms`)
    return {
      expectPiece() {
        const lateOff = clock.after(allowed, () => call.abort(stalled()))
        const waitOff = paths.await(outgoing.repeatable ? call.abort : undefined)
        pieces.waiting()
        return () => {
          lateOff()
          waitOff()
          pieces.arrived()
        }
      },
      text: limits,
      spend(bytes) {
        turn.moved(bytes)
        pieces.consumed(bytes)
        received(bytes)
        return spend(bytes)
      },
    }
  }

  /** Built on demand: even an error that is never thrown costs its stack. */
  function tooLate(attempt: RequestAttempt): Failure {
    const { outgoing, allowed } = attempt
    attempt.late ??= new Failure(
      'timeout',
      `no answer to ${describeRequest(outgoing)} within ${Math.max(0, Math.round(allowed))} ms`,
    )
    return attempt.late
  }

  return {
    clock,
    send,
    answered: async (subject, context) => void (await lateWrites.settled([subject], context)),
    get guesses() {
      return slots.guesses
    },
    close: async () => {
      lateWrites.end()
      await pools.destroy()
    },
  }
}

/** One request, however often it is sent. */
interface RequestAttempt {
  readonly outgoing: Outgoing
  readonly context: RequestContext
  /** Milliseconds. */
  readonly allowed: number
  /** A connection was requested. */
  tried: boolean
  /** Its first byte may have been sent. */
  sent: boolean
  headed: AnsweredSend | undefined
  /** Why it was cancelled for others. */
  dropped: Failure | undefined
  late: Failure | undefined
}

interface UnansweredSend {
  readonly failure: Failure
  readonly turn: HeldSlot | undefined
  readonly sentAt: Instant
}

/** Without an answer a sent write may or may not have been carried out; every other request simply failed. */
function unansweredFailure(
  { outgoing, tried, sent, headed, dropped }: RequestAttempt,
  failure: Failure,
  away: boolean,
): AttemptResult<never> {
  if (outgoing.repeatable || !(sent || headed !== undefined)) {
    const transient = isA('transient', failure) || failure === dropped
    const again = !away && outgoing.repeatable && transient
    return { ended: 'badly', failure, again, unasked: away && !tried }
  }
  return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
}
