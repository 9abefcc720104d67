// Time of a run: about how long each cell takes, what is left, and so how often a cell is done or whether it is left out.
import type { Contender } from '../run/contenders.js'
import { secondsOnce } from './estimates.js'
import type { Item } from './plan.js'

/** A contender at an item. */
export interface Part {
  readonly item: Item
  readonly contender: Contender
}

export interface Pace {
  /** Seconds that everything takes if nothing is cut. */
  readonly wanted: number
  /** How often this part is done, begun now; 0 where its time is over. */
  runsOf(part: Part): number
  /** The part is over. */
  done(part: Part, runs: number): void
}

/** Seconds: a run of a part that takes longer is the only one. */
export const onceOver = 5
/** Seconds of a part, beyond which it is no longer called quick and is done once by others than calcfs, the limits and the floors. */
const quick = 12

/** Seconds of all runs of a part. */
export function wholeTime({ item, contender }: Part, runs: number): number {
  const once = secondsOnce(contender, item)
  const isOwn = contender.rank === 'own' || contender.rank === 'floor'
  return once * (once > quick && !isOwn ? 1 : once > 4 * quick ? 1 : runs)
}

/** @param seconds that all parts together may take, from now on */
export function openPace(
  parts: readonly Part[],
  settings: { runs: number; seconds: number; now: () => number },
): Pace {
  const { runs, seconds, now } = settings
  const end = now() + seconds
  /** In the order of the plan. A part that the plan did not foresee stands for one of its item. */
  let left = parts
  const sum = (count: number): number => left.reduce((all, part) => all + wholeTime(part, count), 0)
  const wanted = sum(runs)
  let [spent, foretold, begun] = [0, 0, now()]

  /** How many times longer things take than foretold; of few of them nothing follows. */
  const slowness = (): number => Math.min(3, Math.max(0.3, (spent + 60) / (foretold + 60)))

  return {
    wanted,
    runsOf(part) {
      begun = now()
      const room = (end - begun) / slowness()
      if (room < secondsOnce(part.contender, part.item)) return 0
      const isOwn = part.contender.rank === 'own' || part.contender.rank === 'floor'
      if (sum(runs) <= room) return runs
      // The claims are about calcfs: where time is short, the others are done once first.
      const others = left.reduce(
        (all, one) => all + wholeTime(one, one.contender.rank === 'own' ? runs : 1),
        0,
      )
      return isOwn && others <= room ? runs : 1
    },
    done(part, times) {
      const same = left.findIndex(one => one.item === part.item && one.contender === part.contender)
      const at = same === -1 ? left.findIndex(({ item }) => item === part.item) : same
      left = left.filter((_, place) => place !== at)
      if (times === 0) return
      spent += now() - begun
      foretold += wholeTime(part, times)
    },
  }
}
