// How fast a small server may be asked: requests a second, users before guesses, and bytes a second.
import { type Clock, inTime, sleep } from './clock.js'
import type { Ask } from './remote.js'

export interface Rate {
  /** Resolves when this request may go out. @throws Failure 'timeout' if its deadline comes first */
  turn(ask: Ask): Promise<void>
}

/** At most so many requests a second, evenly spaced; undefined is no limit. */
export function requestRate(perSecond: number | undefined, clock: Clock): Rate {
  if (perSecond === undefined) return { turn: async () => {} }
  const spacing = 1000 / perSecond
  const waiting = { user: new Set<() => void>(), guess: new Set<() => void>() }
  let free = Number.NEGATIVE_INFINITY
  let serving = false

  async function serve(): Promise<void> {
    serving = true
    while (waiting.user.size + waiting.guess.size > 0) {
      if (free > clock.now()) await sleep(clock, free - clock.now())
      const queue = waiting.user.size > 0 ? waiting.user : waiting.guess
      for (const go of queue) {
        queue.delete(go)
        free = clock.now() + spacing
        go()
        break
      }
    }
    serving = false
  }

  return {
    async turn(ask) {
      const queue = waiting[ask.lane]
      let go = () => {}
      const turn = new Promise<void>(resolve => {
        go = resolve
      })
      queue.add(go)
      if (!serving) void serve()
      try {
        await inTime(turn, ask, clock, 'the limit of requests a second left no time for this one')
      } finally {
        queue.delete(go)
      }
    },
  }
}

/** Waits after each piece so that all bodies together keep to so many bytes a second; undefined is no limit. */
export function bandwidth(perSecond: number | undefined, clock: Clock): (bytes: number) => Promise<void> {
  if (perSecond === undefined) return async () => {}
  let free = Number.NEGATIVE_INFINITY
  return async bytes => {
    free = Math.max(free, clock.now()) + (bytes / perSecond) * 1000
    const wait = free - clock.now()
    if (wait > 0) await sleep(clock, wait)
  }
}
