// When a service that does not answer is no longer asked: only after a question of calcfs's own got no answer either.
import { Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import { type Clock, dueSooner, withDeadline } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** So many requests in a row without a word from the service, and calcfs asks a question of its own. */
const patience = 3
/** Milliseconds between two probes of a service that is away. */
const probeEvery = 2_000
/** Milliseconds after which a probe without an answer means that the service is away. */
const probePatience = 2_000
/** Milliseconds a request waits for the probe that it caused. */
const probeWait = 1_000

export interface CircuitBreaker {
  /** Lets a request go out. @throws Failure 'unreachable' while the service is away and no probe is due, or in vain */
  admit(context: RequestContext): Promise<void> | undefined
  /** The service said something, whatever it was. */
  heard(): void
  /** A request that went out at `since` ended without a word. */
  silent(since: Instant, failure: Failure): void
  /** True if the service said something since then. */
  heardSince(since: Instant): boolean
  /** True while requests are answered without being sent. */
  away(): boolean
}

/**
 * Circuit breaker: a silence counts only if nothing at all was heard since that request went out, and opens nothing by
 * itself. `probe` asks the service something that every service answers; it rejects without an answer, and whatever it
 * hears is also told by `heard`.
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
    // What a probe failed with is told by its silence.
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
  `the service has not answered for a while (${last?.message ?? 'no reason known'}); calcfs looks again every 2 seconds`
