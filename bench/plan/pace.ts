// Time of a run: about how long each part takes, which are worth another run, and what there is still time for.
import type { Contender } from '../run/contenders.js'
import type { Phase, Verdict, Verdicts } from '../run/trial.js'
import { secondsOnce } from './estimates.js'
import type { Item } from './plan.js'

/** A contender at an item. */
export interface Part {
  readonly item: Item
  readonly contender: Contender
}

export interface Pace {
  /** Whether it would be over in time; `took` are the seconds of the same part before. */
  isTimeFor(part: Part, took?: number): boolean
}

/** Seconds: a phase that takes longer is not done again. What the claims are about is worth more. */
const onceOver = ({ contender: { rank } }: Part): number => (rank === 'own' || rank === 'floor' ? 20 : 5)

/** @param seconds that everything may take, from now on */
export function openPace({ seconds, now }: { seconds: number; now: () => number }): Pace {
  const end = now() + seconds
  return {
    isTimeFor: (part, took = secondsOnce(part.contender, part.item)) => now() + took <= end,
  }
}

/** Whether another run may say more: not of what was wrong or ended, nor of what takes long. */
export function isWorthMore(part: Part, last: Verdicts): boolean {
  const verdicts = Object.values(last) as readonly Verdict[]
  return verdicts.every(verdict => verdict.state === 'right' && verdict.figures.seconds <= onceOver(part))
}

/** The same of a part that was not done yet: the longest phase takes about two thirds of a run. */
const mayBeWorthMore = (part: Part): boolean =>
  secondsOnce(part.contender, part.item) <= 1.5 * onceOver(part) + 2

/** Seconds that a part takes, done once; and done so often, if it is quick. */
export const onceTime = ({ contender, item }: Part): number => secondsOnce(contender, item)
export const wholeTime = (part: Part, runs: number): number =>
  onceTime(part) * (mayBeWorthMore(part) ? runs : 1)

/** Seconds: the longest that any phase may take, that one of the others may take, and the shortest limit of one. */
const longest = 120
const longestOfOthers = 45
const shortest: Readonly<Record<Phase, number>> = { cold: 15, warm: 8, remount: 15 }
/** A peer so many times slower than calcfs is ended; one target asks whether each is fifteen times slower. */
const patience = 5
const patienceOf: Readonly<Record<string, number>> = { 'cp-part': 16 }
const longestOf: Readonly<Record<string, number>> = { 'cp-part': 60 }
/** Of a peer that was late twice on the same tree. */
const littlePatience = { times: 2, shortest: 5 }

/** Seconds for each phase of a part; `own` are those that calcfs took. */
export function limitsOf(
  part: Part,
  known: { readonly own: Partial<Record<Phase, number>>; readonly timesLate: number },
): Readonly<Record<Phase, number>> {
  const asked = patienceOf[part.item.work.name]
  const isHopeless = asked === undefined && known.timesLate >= 2
  const times = isHopeless ? littlePatience.times : (asked ?? patience)
  const of = (phase: Phase): number => {
    const { rank } = part.contender
    if (rank === 'own' || rank === 'floor') return longest
    const least = isHopeless ? littlePatience.shortest : shortest[phase]
    const most = longestOf[part.item.work.name] ?? longestOfOthers
    return Math.round(Math.min(most, Math.max(least, times * (known.own[phase] ?? 0))))
  }
  return { cold: of('cold'), warm: of('warm'), remount: of('remount') }
}
