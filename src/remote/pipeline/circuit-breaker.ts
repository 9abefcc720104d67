// Circuit breaker: opens after 3 unanswered requests once a probe got no answer either, and probes every 1.5 s.

import { Failure, looksAgain } from '../../failure.js'
import { noop } from '../../noop.js'
import { type Clock, dueSooner, withDeadline } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** So many requests in a row without any bytes from the service cause a probe. */
const patience = 3
/** Milliseconds between two probes while the circuit is open. */
const probeEvery = 1_500
/** Milliseconds after which an unanswered probe opens the circuit. */
const probePatience = 2_000
/** Milliseconds a request waits for the probe that it caused. */
const probeWait = 1_000

export interface CircuitBreaker {
  /** Admits a request. @throws Failure 'unreachable' while the circuit is open and no probe is due, or it fails */
  admit(context: RequestContext): Promise<void> | undefined
  /** Any bytes came from the service. */
  heard(): void
  /** A request sent at `since` ended without an answer. */
  silent(since: Instant, failure: Failure): void
  /** True if any bytes came from the service since then. */
  heardSince(since: Instant): boolean
  /** True while requests fail without being sent. */
  away(): boolean
}

/**
 * A silence counts only if no bytes came on any connection since that request went out, and does not open the circuit
 * by itself. `probe` sends a request that every service answers; it rejects without an answer, and also calls `heard`
 * for whatever arrives.
 */
export function openCircuitBreaker(clock: Clock, probe: () => Promise<void>): CircuitBreaker {
  const { now } = clock
  let silences = 0
  let lastHeard = Number.NEGATIVE_INFINITY
  let probedAt = Number.NEGATIVE_INFINITY
  let probing: Promise<void> | undefined
  let last: Failure | undefined
  let open = false

  function startProbe(): Promise<void> {
    probedAt = now()
    const started = probe().finally(() => {
      if (probing === started) probing = undefined
    })
    // The silence of a probe already says how it failed.
    started.catch(noop)
    probing = started
    return started
  }

  function suspect(): void {
    if (open || probing !== undefined) return
    const began = now()
    const openUnlessHeard = (): void => {
      if (lastHeard < began) open = true
    }
    const callOff = clock.after(probePatience, openUnlessHeard)
    startProbe().then(callOff, () => {
      callOff()
      openUnlessHeard()
    })
  }

  const awayFailure = (): Failure => new Failure('unreachable', awaySentence(last), { cause: last })

  async function probed(context: RequestContext): Promise<void> {
    const sooner = dueSooner(context, probeWait, clock)
    try {
      await withDeadline(startProbe(), sooner, clock, 'the probe was not answered yet')
    } catch {
      // Whatever the probe failed with, the service is still away.
      throw awayFailure()
    }
  }

  return {
    away: () => open,
    heardSince: since => lastHeard >= since,
    admit(context) {
      if (!open) return undefined
      if (now() < probedAt + probeEvery) throw awayFailure()
      return probed(context)
    },
    heard() {
      silences = 0
      open = false
      lastHeard = now()
    },
    silent(since, failure) {
      if (lastHeard > since) return
      silences += 1
      last = failure
      if (silences >= patience) suspect()
    },
  }
}

const awaySentence = (last: Failure | undefined): string =>
  `the service has not answered for a while (${last?.message ?? 'no reason known'})${looksAgain}`
