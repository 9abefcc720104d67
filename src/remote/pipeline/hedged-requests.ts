// Hedged requests: a question that is silent is sent once more as soon as another asker comes for it; the first head wins.
import type { Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import type { Clock } from '../clock.js'
import type { Exchange, IncomingResponse } from '../connection/exchange.js'
import type { Instant, RequestContext } from '../remote.js'
import type { HeldSlot } from './priority-limiter.js'

/** One sending of a request. */
export interface HedgedSend {
  /** Rejects with why no head came. */
  readonly head: Promise<AnsweredSend>
  /** When it went out; undefined while it waits for its slot. */
  readonly sentAt: Instant | undefined
  /** Ends it in whatever state it is. */
  drop(reason: Failure): void
}

/** A sending that is being answered. */
export interface AnsweredSend {
  readonly response: IncomingResponse
  readonly call: Exchange
  readonly turn: HeldSlot
}

/** Milliseconds a request has to be silent before a new asker has it sent once more. */
const silentMs = 1_000
/** The oldest, for a service that is only slow, and the newest, for a request that was lost. */
const atOnce = 2

/** The first sending that is answered. @throws what the last of them failed with */
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
          // What is left has been silent for long: while an asker waits it is sent once more, in its time.
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

    /** What went out a moment ago is looked at again while the asker waits. */
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
  /** What a sending fails with that is not needed any more. */
  readonly superseded: Failure
}
