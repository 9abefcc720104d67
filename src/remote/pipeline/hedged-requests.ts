// Hedged requests: a silent request is sent once more when another caller joins it; the first response head wins.
import type { Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import type { Clock } from '../clock.js'
import type { Exchange, IncomingResponse } from '../connection/exchange.js'
import type { Instant, RequestContext } from '../remote.js'
import type { HeldSlot } from './priority-limiter.js'

/** One attempt of a request. */
export interface HedgedSend {
  /** Rejects with why no head came. */
  readonly head: Promise<AnsweredSend>
  /** When it went out; undefined while it waits for its slot. */
  readonly sentAt: Instant | undefined
  /** Ends the attempt in any state. */
  drop(reason: Failure): void
}

/** An attempt that is being answered. */
export interface AnsweredSend {
  readonly response: IncomingResponse
  readonly call: Exchange
  readonly turn: HeldSlot
}

/** Milliseconds a request has to be silent before a new caller causes a second attempt. */
const silentMs = 1_000
/** The oldest, for a slow service, and the newest, for a lost request. */
const atOnce = 2

/** The first attempt that is answered. @throws what the last attempt failed with */
export function firstResponseHead(
  context: RequestContext,
  { clock, start, unusual, superseded }: HedgePorts,
): Promise<AnsweredSend> {
  return new Promise((resolve, reject) => {
    const legs: HedgedSend[] = []
    let lookOff = noop

    function begin(): void {
      const leg = start()
      legs.push(leg)
      leg.head.then(
        headed => {
          unwatch()
          for (const other of legs.splice(0)) if (other !== leg) other.drop(superseded)
          resolve(headed)
        },
        reason => {
          const place = legs.indexOf(leg)
          if (place === -1) return
          legs.splice(place, 1)
          // The remaining attempts have long been silent: while a caller waits, another one is sent.
          if (legs.length > 0) return lookLater()
          unwatch()
          reject(reason)
        },
      )
    }

    const askedAgain = (what: 'came' | 'left'): void => {
      if (what === 'came') look()
    }

    function lookLater(): void {
      lookOff()
      lookOff = clock.after(Math.max(silentMs, unusual()), look)
    }

    /** A request sent a moment ago is checked again while the caller waits. */
    function look(): void {
      lookOff()
      const newest = legs.at(-1)
      if (newest === undefined || context.askers?.waiting !== true) return
      const patience = Math.max(silentMs, unusual())
      const silence = newest.sentAt === undefined ? 0 : clock.now() - newest.sentAt
      if (silence < patience) {
        lookOff = clock.after(patience - silence, look)
        return
      }
      if (legs.length >= atOnce) {
        legs.pop()
        newest.drop(superseded)
      }
      begin()
    }

    const unwatchAskers = context.askers?.watch(askedAgain) ?? noop
    const unwatch = (): void => {
      unwatchAskers()
      lookOff()
    }
    begin()
  })
}

interface HedgePorts {
  readonly clock: Clock
  readonly start: () => HedgedSend
  /** Milliseconds after which a request without a head is unusually slow here. */
  readonly unusual: () => number
  /** The failure of an attempt that is no longer needed. */
  readonly superseded: Failure
}
