// Rate limits for a small server: requests a second, users before background, and bytes a second.
import { type Clock, sleep, withDeadline } from '../clock.js'
import type { RequestContext } from '../remote.js'
import { isBackground } from './limiter.js'

export interface RateLimiter {
  /** Resolves when this request may go out. @throws Failure 'timeout' if its deadline comes first */
  turn(context: RequestContext): Promise<void>
}

/** At most so many requests a second, evenly spaced. */
export function openRateLimiter(perSecond: number, clock: Clock): RateLimiter {
  const spacing = 1000 / perSecond
  const waiting = new Set<QueuedRequest>()
  let serving = false
  let free = Number.NEGATIVE_INFINITY

  /** User requests first, by their present priority: a user may have joined a background request. */
  function next(): QueuedRequest | undefined {
    let first: QueuedRequest | undefined
    for (const one of waiting) {
      if (!isBackground(one.context)) return one
      first ??= one
    }
    return first
  }

  async function serve(): Promise<void> {
    serving = true
    while (waiting.size > 0) {
      const ahead = free - clock.now()
      free = Math.max(free, clock.now()) + spacing
      if (ahead > 0) await sleep(clock, ahead)
      const one = next()
      if (one === undefined) break
      waiting.delete(one)
      one.go()
    }
    serving = false
  }

  return {
    async turn(context) {
      let one: QueuedRequest | undefined
      const turn = new Promise<void>(go => {
        one = { context, go }
        waiting.add(one)
      })
      if (!serving) void serve()
      try {
        await withDeadline(turn, context, clock, 'the limit of requests a second left no time for this one')
      } finally {
        if (one !== undefined) waiting.delete(one)
      }
    },
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
