// When a service that does not answer is no longer asked: after repeated silence one request in two seconds finds out.
import { Failure } from '../failure.js'
import type { Instant } from './remote.js'

/** So many requests in a row without a word from the service, and it counts as away. */
const patience = 3
/** Milliseconds between two probes of a service that is away. */
const probeEvery = 2000

export interface Breaker {
  /** Lets a request go out. @throws Failure 'unreachable' while the service is away and no probe is due */
  admit(): void
  /** The service said something, whatever it was. */
  heard(): void
  /** A request that went out at `since` ended without a word. */
  silent(since: Instant, failure: Failure): void
  /** True while requests are answered without being sent. */
  away(): boolean
}

/** A breaker counts a silence only if nothing at all was heard since that request went out: one slow page is no outage. */
export function breaker(now: () => Instant): Breaker {
  let silences = 0
  let lastHeard = Number.NEGATIVE_INFINITY
  let nextProbe = Number.NEGATIVE_INFINITY
  let last: Failure | undefined

  const away = (): boolean => silences >= patience
  return {
    away,
    admit() {
      if (!away()) return
      if (now() < nextProbe) throw new Failure('unreachable', awaySentence(last), { cause: last })
      nextProbe = now() + probeEvery
    },
    heard() {
      silences = 0
      lastHeard = now()
    },
    silent(since, failure) {
      if (lastHeard > since) return
      silences += 1
      last = failure
      if (silences === patience) nextProbe = now() + probeEvery
    },
  }
}

const awaySentence = (last: Failure | undefined): string =>
  `the service has not answered for a while (${last?.message ?? 'no reason known'}); calcfs looks again every 2 seconds`
