// Breaker: a service that answers neither requests nor a probe, or both with a fault of its own alone, is away; a probe every 2 s finds out when it is back.
import { asFailure, Failure, looksAgain } from '../../failure.js'
import { type Clock, dueSooner, withDeadline } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** So many requests in a row that fail without an answer, or with a fault, cause a probe; one that is silent for unusually long does so, too. */
const failuresAtMost = 3
/** Milliseconds between two probes while the service is away. */
const probeEvery = 2_000
/** Milliseconds that a request waits for the probe that it has caused. */
const probeWait = 1_000

export interface Away {
  readonly since: Instant
  readonly failure: Failure
}

export class Breaker {
  #away: Away | undefined
  #failures = 0
  #heardAt = Number.NEGATIVE_INFINITY
  #probedAt = Number.NEGATIVE_INFINITY

  /**
   * `probe` asks what the instance is known to answer, and rejects without an answer or, 'refuses-all', with a fault; `patience` is after how many
   * milliseconds a silence is unusual.
   */
  constructor(
    private readonly clock: Clock,
    private readonly probe: () => Promise<void>,
    private readonly patience: () => number,
  ) {}

  /** Defined while requests fail without being sent. */
  get away(): Away | undefined {
    return this.#away
  }

  /** True if anything was answered since then. */
  heardSince(since: Instant): boolean {
    return this.#heardAt >= since
  }

  /** Lets a request through. @throws Failure 'unreachable' or 'refuses-all' while the service is away and the probe that is due fails */
  admit(context: RequestContext): Promise<void> | undefined {
    const away = this.#away
    if (away === undefined) return undefined
    if (this.clock.now() < this.#probedAt + probeEvery) throw away.failure
    const sooner = dueSooner(context, probeWait, this.clock)
    return withDeadline(this.#probed(), sooner, this.clock, 'the probe was not answered').catch(() => {
      // Whatever the probe failed with, the service is still away.
      throw away.failure
    })
  }

  /** An answer came to its end, or a piece of a long one came. */
  heard(at = this.clock.now()): void {
    this.#failures = 0
    this.#away = undefined
    this.#heardAt = at
  }

  /** A request that was sent then has failed without an answer, or with a fault. */
  failed(since: Instant): void {
    if (this.heardSince(since)) return
    this.#failures += 1
    if (this.#failures >= failuresAtMost) this.#suspect()
  }

  /** A request that was sent then is silent for unusually long. */
  silent(since: Instant): void {
    if (!this.heardSince(since)) this.#suspect()
  }

  #suspect(): void {
    // One that was sent since is on its way, or has failed.
    if (this.#probedAt > this.#heardAt) return
    const since = this.clock.now()
    const opens = (reason?: Failure): void => {
      if (!this.heardSince(since)) this.#away = { since, failure: awayFailure(reason) }
    }
    const callOff = this.clock.after(this.patience(), () => opens())
    this.#probed().then(callOff, thrown => {
      callOff()
      opens(asFailure(thrown))
    })
  }

  #probed(): Promise<void> {
    this.#probedAt = this.clock.now()
    return this.probe().then(() => this.heard())
  }
}

/** The reason of a silence is left out: it says nothing more. */
function awayFailure(reason: Failure | undefined): Failure {
  const isFaulty = reason?.kind === 'refuses-all'
  const what = isFaulty ? 'answered nothing but errors' : 'did not answer'
  const why = reason === undefined || reason.kind === 'timeout' ? '' : ` (${reason.message})`
  const sentence = `the service ${what}${why}${looksAgain}`
  return new Failure(isFaulty ? 'refuses-all' : 'unreachable', sentence, { cause: reason })
}

const remembered = 31
/** The median of many is found once in so many answers. */
const countedEvery = 8
/** A silence is unusual after four times the median, and never sooner than after this. */
const patienceTimes = 4
const patienceAtLeast = 1_000

/** The verdict of the recent answers on the service, and the length of an unusual silence. */
export class AnswerTimes {
  /** Milliseconds that an answer usually takes; 0 before the first one. */
  median = 0
  readonly #times = new Float64Array(remembered)
  #count = 0

  /** Milliseconds after which a silence is unusual. */
  get patience(): number {
    return Math.max(patienceAtLeast, patienceTimes * this.median)
  }

  /** The head of an answer came after so many milliseconds. */
  note(milliseconds: number): void {
    this.#times[this.#count % remembered] = milliseconds
    this.#count += 1
    if (this.#count > remembered && this.#count % countedEvery !== 0) return
    const known = this.#times.slice(0, this.#count).sort()
    this.median = known[known.length >> 1] ?? 0
  }
}
