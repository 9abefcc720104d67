// Who gets a connection: guesses and long downloads leave some free, so that a user's question always finds one.
import pLimit, { type LimitFunction } from 'p-limit'
import { type Clock, inTime } from './clock.js'
import type { Ask } from './remote.js'

/** A short answer, or a body that may hold its connection for minutes. */
export type Weight = 'question' | 'download'
export type Leave = () => void

export interface Lanes {
  /** Waits for a place; the answer gives it back. @throws Failure 'timeout' if the deadline comes first */
  enter(weight: Weight, ask: Ask): Promise<Leave>
}

/** The lanes of a pool of so many connections (at least 1). */
export function lanes(connections: number, clock: Clock): Lanes {
  const leaving = (reserved: number) => pLimit(Math.max(1, connections - reserved))
  const guesses = leaving(Math.ceil(connections / 4))
  const downloads = leaving(Math.ceil(connections / 8))
  const everybody = pLimit(connections)

  return {
    async enter(weight, ask) {
      const passed: Leave[] = []
      const leave = () => {
        for (const giveBack of passed.splice(0)) giveBack()
      }
      try {
        if (ask.lane === 'guess') passed.push(await placeIn(guesses, ask, clock))
        if (weight === 'download') passed.push(await placeIn(downloads, ask, clock))
        passed.push(await placeIn(everybody, ask, clock))
        return leave
      } catch (failure) {
        leave()
        throw failure
      }
    },
  }
}

async function placeIn(limit: LimitFunction, ask: Ask, clock: Clock): Promise<Leave> {
  const place = new Promise<Leave>(enter => void limit(() => new Promise<void>(enter)))
  try {
    return await inTime(place, ask, clock, 'every connection to the service was busy until the deadline')
  } catch (late) {
    void place.then(leave => leave())
    throw late
  }
}
