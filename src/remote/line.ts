// The way of one request to the service and back: its place, its turn, its deadline, and what silence means.
import { Failure } from '../failure.js'
import type { Flow } from './body.js'
import { breaker } from './breaker.js'
import { type Clock, systemClock } from './clock.js'
import { connectionsTo, type Reach } from './connections.js'
import { type Arrival, type Exchange, exchange } from './exchange.js'
import { lanes, type Turn, type Weight } from './lanes.js'
import { bandwidth, requestRate } from './rate.js'
import type { Ask } from './remote.js'
import type { Attempt } from './retry.js'
import { transportFailure } from './transport.js'

export interface LineOptions extends Reach {
  readonly base: URL
  /** Requests a second. */
  readonly maxRequests?: number | undefined
  /** Bytes a second, all bodies together. */
  readonly bwlimit?: number | undefined
  readonly clock?: Clock | undefined
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

/** Opens nothing yet: connections are made when the first request goes out, and kept. `tooMuch` are the statuses of an overload. */
export function line(options: LineOptions, tooMuch: ReadonlySet<number>): Line {
  const clock = options.clock ?? systemClock
  const dispatcher = connectionsTo(options.base, options)
  const places = lanes(options.connections, clock)
  const rate = requestRate(options.maxRequests, clock)
  const spend = bandwidth(options.bwlimit, clock)
  const health = breaker(clock.now)

  async function send<Value>(outgoing: Outgoing, ask: Ask, judge: Judge<Value>): Promise<Attempt<Value>> {
    const allowed = ask.deadline - clock.now()
    // Made when it is needed: an error that nobody throws still costs its stack.
    let late: Failure | undefined
    const tooLate = (): Failure => {
      late ??= new Failure('timeout', `no answer to ${described(outgoing)} within ${Math.round(allowed)} ms`)
      return late
    }
    let call: Exchange | undefined
    let turn: Turn = noTurn
    let since = clock.now()
    let callOff = () => {}
    let arrival: Arrival | undefined
    try {
      if (allowed <= 0) throw tooLate()
      turn = await places.enter(outgoing.weight, ask)
      await rate.turn(ask)
      health.admit()
      since = clock.now()
      call = exchange(dispatcher, wireOptions(options.base, outgoing))
      callOff = clock.after(ask.deadline - since, () => call?.abort(tooLate()))
      arrival = await call.arrival
      health.heard()
      // A body that failed with its head has closed already.
      if (arrival.bytes.closed) turn.leave()
      else arrival.bytes.once('close', turn.leave)
      if (tooMuch.has(arrival.status)) turn.pushedBack()
      else turn.answered(clock.now() - since, Number(arrival.headers['content-length'] ?? 0))
      return await judge(arrival, flow(call, allowed))
    } catch (thrown) {
      const failure = transportFailure(thrown)
      turn.leave()
      if (late !== undefined && failure === late && call?.sent() === true && arrival === undefined)
        turn.pushedBack()
      if (call !== undefined && arrival === undefined && failure.kind !== 'untrusted')
        health.silent(since, failure)
      return unanswered(outgoing, failure, call?.sent() === true, !health.away())
    } finally {
      callOff()
    }
  }

  /** A body may take long as a whole, but no longer for one piece than the question had for its answer. */
  function flow(call: Exchange, stall: number): Flow {
    const stalled = () => new Failure('timeout', `the answer stood still for ${stall} ms`)
    return { expectPiece: () => clock.after(stall, () => call.abort(stalled())), spend }
  }

  return {
    clock,
    send,
    get guesses() {
      return places.guesses
    },
    close: () => dispatcher.destroy(),
  }
}

/** Before there is a place. */
const noTurn: Turn = { leave() {}, answered() {}, pushedBack() {} }

/** Without an answer a sent write may or may not have been carried out; everything else simply failed. */
function unanswered(outgoing: Outgoing, failure: Failure, sent: boolean, again: boolean): Attempt<never> {
  if (outgoing.repeatable || !sent) {
    const transient = failure.kind === 'unreachable' || failure.kind === 'broken'
    return { ended: 'badly', failure, again: again && outgoing.repeatable && transient }
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

const wireOptions = (base: URL, outgoing: Outgoing) => ({
  origin: base.origin,
  path: outgoing.path,
  method: outgoing.method,
  headers: { ...outgoing.headers },
  body: outgoing.body ?? null,
  // undici closes the connection after a HEAD unless told otherwise.
  reset: false,
})
