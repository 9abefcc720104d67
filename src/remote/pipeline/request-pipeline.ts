// Request pipeline: concurrency slot, rate limit, circuit breaker, deadline, and what a lost answer means.
import { Failure } from '../../failure.js'
import { type Clock, systemClock } from '../clock.js'
import type { Flow, TextLimits } from '../connection/body.js'
import { connectionsTo, type Reach } from '../connection/connections.js'
import { type Arrival, type Exchange, exchange } from '../connection/exchange.js'
import { transportFailure } from '../connection/network-errors.js'
import { textBudget } from '../connection/text-budget.js'
import type { Ask, Instant } from '../remote.js'
import { breaker } from './circuit-breaker.js'
import { firstHead, type Headed, type Leg } from './hedged-requests.js'
import { lanes, type Turn, type Weight } from './priority-limiter.js'
import { bandwidth, requestRate } from './rate-limit.js'
import type { Attempt } from './retry.js'
import { watchPieces } from './stall.js'

export interface LineOptions extends Reach {
  readonly base: URL
  /** Requests a second. */
  readonly maxRequests?: number | undefined
  /** Bytes a second, all bodies together. */
  readonly bwlimit?: number | undefined
  readonly clock?: Clock | undefined
  /** Bytes of one answer that is not content. */
  readonly maxAnswer?: number | undefined
  /** Told of each long answer of these that was read. */
  readonly longAnswer?: ((bytes: number) => void) | undefined
}

/** What the meaning of HTTP adds to the pipeline. */
export interface Manners {
  /** Statuses of an overload. */
  readonly tooMuch: ReadonlySet<number>
  /** A path that every service answers somehow. */
  readonly probe: string
}

export interface Outgoing {
  readonly method: string
  /** Path and query as they go out. */
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string | undefined
  readonly weight: Weight
  /** False for a write: if its answer is lost, nobody knows what happened. */
  readonly repeatable: boolean
}

/** Reads an answer; what it throws counts as the end of the attempt. */
export type Judge<Value> = (arrival: Arrival, flow: Flow) => Promise<Attempt<Value>>

export interface Line {
  readonly clock: Clock
  /** One attempt. Never throws; the judge has until the deadline to be done. */
  send<Value>(outgoing: Outgoing, ask: Ask, judge: Judge<Value>): Promise<Attempt<Value>>
  /** How many guesses may be under way side by side, now. */
  readonly guesses: number
  close(): Promise<void>
}

/** An answer that is not content is no longer than this. */
const usualAnswer = 16 << 20
/** So long an answer never waits for memory; all connections together hold little of them. */
const shortAnswer = 256 << 10
/** Milliseconds a probe may take before its connection is given up. */
const probeLimit = 10_000
/** A sending that another one has made needless. */
const superseded = new Failure('busy', 'the same question was answered by another request')

/** Opens nothing yet: connections are made when the first request goes out, and kept. */
export function line(options: LineOptions, { tooMuch, probe }: Manners): Line {
  const clock = options.clock ?? systemClock
  const dispatcher = connectionsTo(options.base, options)
  // An answer to HEAD that is followed by more, a body or a second head, would be taken for the next answer of its connection.
  const heads = connectionsTo(options.base, options)
  const slots = lanes(options.connections, clock)
  const rate = requestRate(options.maxRequests, clock)
  const texts = textBudget(options.maxAnswer ?? usualAnswer, shortAnswer)
  const limits: TextLimits = {
    limit: options.maxAnswer ?? usualAnswer,
    enter: texts.enter,
    long: bytes => options.longAnswer?.(bytes),
  }
  const spend = bandwidth(options.bwlimit, clock)
  const health = breaker(clock, () => probed())
  /** How often each lost its connection to others. */
  const yields = new WeakMap<Outgoing, number>()
  let lastHeaders: Outgoing['headers'] = {}

  /** A question of our own, on a connection beside those of the slots: any head at all is an answer. */
  async function probed(): Promise<void> {
    const headers = { ...lastHeaders }
    const call = exchange(
      dispatcher,
      wireOptions(options.base, { method: 'GET', path: probe, headers, body: undefined }),
    )
    const callOff = clock.after(probeLimit, () =>
      call.abort(new Failure('timeout', 'the probe was not answered')),
    )
    try {
      const { bytes } = await call.arrival
      bytes.destroy()
      health.heard()
    } finally {
      callOff()
    }
  }

  async function send<Value>(outgoing: Outgoing, ask: Ask, judge: Judge<Value>): Promise<Attempt<Value>> {
    const allowed = ask.deadline - clock.now()
    const sending: Sending = {
      outgoing,
      ask,
      allowed,
      tried: false,
      sent: false,
      headed: undefined,
      dropped: undefined,
      late: undefined,
    }
    const start = (): Leg => legOf(sending)
    let callOff = noop
    try {
      if (allowed <= 0) throw tooLate(sending)
      const headed = await firstHead(ask, { clock, start, unusual: () => slots.unusual, superseded })
      sending.headed = headed
      callOff = clock.after(ask.deadline - clock.now(), () => headed.call.abort(tooLate(sending)))
      return await judge(headed.arrival, flow(headed, sending))
    } catch (thrown) {
      const failure = transportFailure(thrown)
      return unanswered(sending, failure, health.away())
    } finally {
      callOff()
    }
  }

  function legOf(sending: Sending): Leg {
    const { outgoing, ask } = sending
    let call: Exchange | undefined
    let sentAt: Instant | undefined
    let dropped: Failure | undefined
    const drop = (reason: Failure): void => {
      dropped = reason
      call?.abort(reason)
    }
    const preempt = (reason: Failure): void => {
      yields.set(outgoing, (yields.get(outgoing) ?? 0) + 1)
      sending.dropped = reason
      drop(reason)
    }

    async function headOf(): Promise<Headed> {
      let turn: Turn | undefined
      let callOff = noop
      try {
        turn = await slots.enter({ ...outgoing, yields: yields.get(outgoing) ?? 0, preempt }, ask)
        await rate.turn(ask)
        await health.admit(ask)
        if (dropped !== undefined) throw dropped
        sentAt = clock.now()
        lastHeaders = headersOfProbe(outgoing.headers)
        call = exchange(outgoing.method === 'HEAD' ? heads : dispatcher, wireOptions(options.base, outgoing))
        sending.tried = true
        turn.sent()
        callOff = clock.after(ask.deadline - sentAt, () => call?.abort(tooLate(sending)))
        const arrival = await call.arrival
        heard(arrival, turn, sentAt)
        return { arrival, call, turn }
      } catch (thrown) {
        const failure = transportFailure(thrown)
        turn?.leave()
        if (call?.sent() === true) sending.sent = true
        if (call !== undefined && sentAt !== undefined && dropped === undefined)
          silent(sending, { failure, turn, sentAt })
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

  function heard(arrival: Arrival, turn: Turn, sentAt: Instant): void {
    health.heard()
    // A body that failed with its head has closed already.
    if (arrival.bytes.closed) turn.leave()
    else arrival.bytes.once('close', turn.leave)
    if (tooMuch.has(arrival.status)) turn.pushedBack()
    turn.answered(clock.now() - sentAt, Number(arrival.headers['content-length'] ?? 0))
  }

  /** A silence while others are answered is about this request alone, not about the service. */
  function silent(sending: Sending, { failure, turn, sentAt }: Silence): void {
    if (failure === sending.late && sending.sent && !health.heardSince(sentAt)) turn?.pushedBack()
    if (failure.kind !== 'untrusted') health.silent(sentAt, failure)
  }

  /** A body may take long as a whole, but no longer for one piece than the question had for its answer. */
  function flow({ call, turn, arrival }: Headed, { ask, allowed, outgoing }: Sending): Flow {
    const pieces = watchPieces({
      clock,
      askers: ask.askers,
      weight: outgoing.weight,
      unusual: () => slots.unusual,
      abort: call.abort,
    })
    arrival.bytes.once('close', pieces.end)
    if (arrival.bytes.closed) pieces.end()
    const stalled = () => new Failure('timeout', `the answer stood still for ${allowed} ms`)
    return {
      expectPiece() {
        const waitOff = clock.after(allowed, () => call.abort(stalled()))
        pieces.waiting()
        return () => {
          waitOff()
          pieces.came()
        }
      },
      text: limits,
      async spend(bytes) {
        turn.moved(bytes)
        pieces.took(bytes)
        await spend(bytes)
      },
    }
  }

  /** Made when it is needed: an error that nobody throws still costs its stack. */
  function tooLate(sending: Sending): Failure {
    const { outgoing, allowed } = sending
    sending.late ??= new Failure(
      'timeout',
      `no answer to ${described(outgoing)} within ${Math.max(0, Math.round(allowed))} ms`,
    )
    return sending.late
  }

  return {
    clock,
    send,
    get guesses() {
      return slots.guesses
    },
    close: async () => {
      await Promise.all([dispatcher.destroy(), heads.destroy()])
    },
  }
}

/** One attempt, however often it is sent. */
interface Sending {
  readonly outgoing: Outgoing
  readonly ask: Ask
  /** Milliseconds. */
  readonly allowed: number
  /** A connection was asked for. */
  tried: boolean
  /** The first byte of it may have left. */
  sent: boolean
  headed: Headed | undefined
  /** Why it was ended for others. */
  dropped: Failure | undefined
  late: Failure | undefined
}

interface Silence {
  readonly failure: Failure
  readonly turn: Turn | undefined
  readonly sentAt: Instant
}

/** Without an answer a sent write may or may not have been carried out; everything else simply failed. */
function unanswered(
  { outgoing, tried, sent, headed, dropped }: Sending,
  failure: Failure,
  away: boolean,
): Attempt<never> {
  if (outgoing.repeatable || !(sent || headed !== undefined)) {
    const transient = failure.kind === 'unreachable' || failure.kind === 'broken' || failure === dropped
    const again = !away && outgoing.repeatable && transient
    return { ended: 'badly', failure, again, unasked: away && !tried }
  }
  return { ended: 'badly', failure: unknownOutcome(outgoing, failure), again: false }
}

/** The failure of a write that may have been carried out. */
export function unknownOutcome(outgoing: Outgoing, cause: Failure): Failure {
  const sentence = `${described(outgoing)} was sent, but whether it was carried out is unknown: ${cause.message}`
  return new Failure('outcome-unknown', sentence, { cause, said: cause.said })
}

/** A request in an error's sentence. */
export const described = (outgoing: Outgoing): string => `${outgoing.method} ${outgoing.path.slice(0, 300)}`

/** A probe is signed like the request that came before it, and asks for nothing but an answer. */
function headersOfProbe({ authorization }: Outgoing['headers']): Outgoing['headers'] {
  return authorization === undefined ? {} : { authorization }
}

const wireOptions = (base: URL, outgoing: Pick<Outgoing, 'method' | 'path' | 'headers' | 'body'>) => ({
  origin: base.origin,
  path: outgoing.path,
  method: outgoing.method,
  headers: { ...outgoing.headers },
  body: outgoing.body ?? null,
  // undici closes the connection after a HEAD unless told otherwise.
  reset: false,
})

function noop(): void {}
