// Limits: places for requests, a user's ahead of guesses, with a share for questions beside downloads; requests and bytes a second for a small server.
import type { MaybePromise } from '../../maybe-promise.js'
import { type Clock, sleep, withDeadline } from '../clock.js'
import type { Instant, RequestContext } from '../remote.js'

/** A short answer, or a body that may hold its connection for minutes. */
export type TrafficClass = 'question' | 'download'

export interface Entrant {
  readonly weight: TrafficClass
  readonly context: RequestContext
  /** True if nothing has come for it for unusually long. */
  isSilent(now: Instant): boolean
  /** Ends it, if it is a question: its place is needed. */
  readonly giveUp: (() => void) | undefined
}

class Waiting {
  go!: () => void
  readonly turn = new Promise<void>(resolve => {
    this.go = resolve
  })

  constructor(readonly entrant: Entrant) {}
}

/** Places at first; a smaller pool has as many as it has connections. */
const widthAtFirst = 16
const widthAtLeast = 2
/** An answer that takes so much longer than twice the quickest of the last minute has waited at the service: more places bring no more. */
const quickTimes = 2
const quickMoreMs = 10
const quickestKeptMs = 60_000
/** Milliseconds for which a service that had too much to do is not asked for more. */
const steadyMs = 10_000

export class Limiter {
  readonly #queue = new Set<Waiting>()
  /** Since when. */
  readonly #taken = new Map<Entrant, Instant>()
  #width: number
  #quickest = Number.POSITIVE_INFINITY
  #quickestUntil = Number.NEGATIVE_INFINITY
  #steadyUntil = Number.NEGATIVE_INFINITY
  #narrowedAt = Number.NEGATIVE_INFINITY
  /** Milliseconds between two requests, and when the next one may go out. */
  readonly #spacing: number
  #free = Number.NEGATIVE_INFINITY
  #isDue = false

  /** The places of a pool of at most so many connections (at least 1); at most so many requests a second, evenly spaced. */
  constructor(
    private readonly most: number,
    private readonly clock: Clock,
    perSecond = Number.POSITIVE_INFINITY,
  ) {
    this.#width = Math.min(widthAtFirst, most)
    this.#spacing = 1000 / perSecond
  }

  /** How many guesses may be under way now: a share of the places is for users alone. */
  get guesses(): number {
    return Math.max(1, this.#width - this.#share)
  }

  get #share(): number {
    return Math.ceil(this.#width / 8)
  }

  /** A place; at once where one is free. @throws Failure 'timeout' if the deadline comes first */
  enter(entrant: Entrant, now: Instant): MaybePromise<void> {
    const isNext = entrant.context.holdsSlot === true || this.#queue.size === 0
    if (now < this.#free || !isNext || !this.#hasPlace(entrant, now)) return this.#waited(entrant)
    this.#taken.set(entrant, now)
    // It may have waited for other things since `now`.
    if (this.#spacing > 0) this.again(this.clock.now())
  }

  /** 0 where one that has a place may be sent once more now, which takes the turn; else milliseconds after which to ask again. */
  again(now: Instant, due: number = now): number {
    if (now < this.#free) return this.#free - now
    this.#free = Math.max(due, now - this.#spacing) + this.#spacing
    return 0
  }

  leave(entrant: Entrant): void {
    if (this.#taken.delete(entrant)) this.review()
  }

  async #waited(entrant: Entrant): Promise<void> {
    const { context } = entrant
    const limit = this.#spacing > 0 ? ', or the limit of requests a second reached,' : ''
    const sentence = `every connection to the service was busy${limit} until the deadline`
    const waiting = new Waiting(entrant)
    this.#queue.add(waiting)
    // A guess that a user has come to wait for is a user's.
    const unwatch = context.askers?.watch(() => this.review()) ?? (() => {})
    this.review()
    try {
      await withDeadline(waiting.turn, context, this.clock, sentence)
    } catch (late) {
      this.#queue.delete(waiting)
      this.leave(entrant)
      throw late
    } finally {
      unwatch()
    }
  }

  #hasPlace({ weight, context }: Entrant, now: Instant): boolean {
    if (context.holdsSlot === true) return true
    const isGuess = isBackground(context)
    const width = isGuess ? this.guesses : this.#width
    if (weight === 'question' && this.#taken.size < width) return true
    let ofClass = 0
    let downloads = 0
    let downloadsOfClass = 0
    for (const one of this.#taken.keys()) {
      // A silent request keeps its connection, and holds up no other one.
      const counts = (isGuess || !isBackground(one.context)) && !one.isSilent(now)
      if (counts) ofClass += 1
      if (one.weight !== 'download') continue
      downloads += 1
      if (counts) downloadsOfClass += 1
    }
    const share = this.#share
    if (ofClass >= width || this.#taken.size >= this.most) return false
    return (
      weight === 'question' ||
      (downloadsOfClass < Math.max(1, width - share) && downloads < Math.max(1, this.most - share))
    )
  }

  /**
   * Gives away places after a request has left, become silent, or lost the user who waited. A question without a place
   * keeps all later ones waiting; a download without one keeps later downloads waiting.
   */
  review(): void {
    if (this.#queue.size === 0) return
    const now = this.clock.now()
    let refused: TrafficClass | 'all' | undefined
    for (const isGuess of [false, true])
      for (const waiting of this.#queue) {
        if (now < this.#free) return void this.#reviewDue(now)
        const { entrant } = waiting
        const { weight, context } = entrant
        const isBehind = refused === 'all' || refused === weight
        if (isBackground(context) !== isGuess || (isBehind && context.holdsSlot !== true)) continue
        if (this.#hasPlace(entrant, now) || (!isGuess && this.#madeRoom(entrant, now))) {
          this.#queue.delete(waiting)
          this.#taken.set(entrant, now)
          // A timer that comes late takes nothing from the pace.
          if (this.#spacing > 0) this.again(now, this.#free)
          waiting.go()
        } else refused = weight === 'question' ? 'all' : weight
      }
  }

  #reviewDue(now: Instant): void {
    if (this.#isDue) return
    this.#isDue = true
    this.clock.after(this.#free - now, () => {
      this.#isDue = false
      this.review()
    })
  }

  /** A silent request for which no user waits ends where a user needs its place. */
  #madeRoom(wanted: Entrant, now: Instant): boolean {
    for (const one of this.#taken.keys()) {
      if (one.giveUp === undefined || !isBackground(one.context) || !one.isSilent(now)) continue
      this.#taken.delete(one)
      one.giveUp()
      if (this.#hasPlace(wanted, now)) return true
    }
    return false
  }

  /** The head of an answer came after so many milliseconds. As long as that is quick while most places are taken, there is one more place for each. */
  answered(milliseconds: number, now: Instant): void {
    if (milliseconds < this.#quickest || now >= this.#quickestUntil) {
      this.#quickest = milliseconds
      this.#quickestUntil = now + quickestKeptMs
    }
    const isFull = this.#taken.size >= (this.#width * 3) / 4
    if (!isFull || this.#width >= this.most || now < this.#steadyUntil) return
    if (milliseconds <= this.#quickest * quickTimes + quickMoreMs) this.#width += 1
  }

  /** The service has too much to do. Requests that were sent before the last such answer tell nothing new. */
  pushedBack(entrant: Entrant, now: Instant): void {
    if ((this.#taken.get(entrant) ?? Number.NEGATIVE_INFINITY) <= this.#narrowedAt) return
    this.#narrowedAt = now
    this.#steadyUntil = now + steadyMs
    this.#width = Math.max(Math.min(widthAtLeast, this.most), this.#width >> 1)
  }
}

/** True if no user waits for it at the moment. */
export const isBackground = (context: RequestContext): boolean =>
  context.askers === undefined ? context.priority === 'guess' : !context.askers.waiting

/** Waits after each piece so that all bodies together keep to so many bytes a second; undefined is no limit. */
export function openBandwidthLimiter(
  perSecond: number | undefined,
  clock: Clock,
): (bytes: number) => Promise<void> | undefined {
  if (perSecond === undefined) return () => undefined
  let free = Number.NEGATIVE_INFINITY
  return async bytes => {
    free = Math.max(free, clock.now()) + (bytes / perSecond) * 1000
    const wait = free - clock.now()
    if (wait > 0) await sleep(clock, wait)
  }
}
