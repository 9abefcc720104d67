// Who gets a connection: guesses and long downloads leave some free, so that a user's question always finds one.
import pLimit, { type LimitFunction } from 'p-limit'
import { type Clock, inTime } from './clock.js'
import { pace } from './pace.js'
import type { Ask } from './remote.js'

/** A short answer, or a body that may hold its connection for minutes. */
export type Weight = 'question' | 'download'

/** A place on the way to the service, until it is given back. */
export interface Turn {
  leave(): void
  /** The head of the answer came after so many milliseconds; a body of `bytes` is to follow. */
  answered(milliseconds: number, bytes: number): void
  /** The service is overloaded: fewer go out side by side from now on. */
  pushedBack(): void
}

export interface Lanes {
  /** Waits for a place; the answer gives it back. @throws Failure 'timeout' if the deadline comes first */
  enter(weight: Weight, ask: Ask): Promise<Turn>
  /** How many guesses may be under way side by side, now. */
  readonly guesses: number
}

/** The lanes of a pool of at most so many connections (at least 1). */
export function lanes(connections: number, clock: Clock): Lanes {
  const speed = pace(connections, clock, widen)
  const shares = sharesOf(speed.width)
  const guesses = pLimit(shares.guesses)
  const downloads = pLimit(shares.downloads)
  const everybody = pLimit(speed.width)

  function widen(width: number): void {
    const shares = sharesOf(width)
    guesses.concurrency = shares.guesses
    downloads.concurrency = shares.downloads
    everybody.concurrency = width
  }

  async function enter(weight: Weight, ask: Ask): Promise<Turn> {
    const passed: (() => void)[] = []
    const leave = () => {
      for (const giveBack of passed.splice(0)) giveBack()
    }
    try {
      if (ask.lane === 'guess') passed.push(await placeIn(guesses, ask, clock))
      if (weight === 'download') passed.push(await placeIn(downloads, ask, clock))
      passed.push(await placeIn(everybody, ask, clock))
      speed.began(everybody.activeCount - 1)
      return { leave, answered: speed.answered, pushedBack: speed.pushedBack }
    } catch (failure) {
      leave()
      throw failure
    }
  }

  return {
    enter,
    get guesses() {
      return guesses.concurrency
    },
  }
}

const sharesOf = (width: number) => ({
  guesses: Math.max(1, width - Math.ceil(width / 8)),
  downloads: Math.max(1, width - Math.ceil(width / 8)),
})

type Leave = () => void

async function placeIn(limit: LimitFunction, ask: Ask, clock: Clock): Promise<Leave> {
  const place = new Promise<Leave>(enter => void limit(() => new Promise<void>(enter)))
  // Where there is room, nobody waits and no timer is needed.
  if (limit.pendingCount === 0) return place
  try {
    return await inTime(place, ask, clock, 'every connection to the service was busy until the deadline')
  } catch (late) {
    void place.then(leave => leave())
    throw late
  }
}
