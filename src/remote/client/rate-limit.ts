// Rate limits for a small server: requests a second, users before background, and bytes a second.
import { type Clock, sleep, withDeadline } from '../clock.js'
import type { RequestContext } from '../remote.js'
import { isBackground } from './limiter.js'

/** At most so many requests a second, evenly spaced. */
export class RateLimiter {
  readonly #waiting = new Set<QueuedRequest>()
  readonly #spacing: number
  #serving = false
  #free = Number.NEGATIVE_INFINITY

  constructor(
    perSecond: number,
    private readonly clock: Clock,
  ) {
    this.#spacing = 1000 / perSecond
  }

  /** Resolves when this request may go out. @throws Failure 'timeout' if its deadline comes first */
  async turn(context: RequestContext): Promise<void> {
    let go = () => {}
    const turn = new Promise<void>(resolve => {
      go = resolve
    })
    const one = { context, go: () => go() }
    this.#waiting.add(one)
    if (!this.#serving) void this.#serve()
    try {
      await withDeadline(
        turn,
        context,
        this.clock,
        'the limit of requests a second left no time for this one',
      )
    } finally {
      this.#waiting.delete(one)
    }
  }

  async #serve(): Promise<void> {
    const { clock } = this
    this.#serving = true
    while (this.#waiting.size > 0) {
      const ahead = this.#free - clock.now()
      this.#free = Math.max(this.#free, clock.now()) + this.#spacing
      if (ahead > 0) await sleep(clock, ahead)
      // Users first, by the present priority: a user may have joined a background request.
      const waiting = [...this.#waiting]
      const one = waiting.find(({ context }) => !isBackground(context)) ?? waiting[0]
      if (one === undefined) break
      this.#waiting.delete(one)
      one.go()
    }
    this.#serving = false
  }
}

interface QueuedRequest {
  readonly context: RequestContext
  readonly go: () => void
}

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
