// What a run says before it begins: what it will do, and how long that may take.
import type { Contender } from '../run/contenders.js'
import { scaleSeconds } from '../run/scale.js'
import type { Options } from './options.js'
import { onceTime, type Part, wholeTime } from './pace.js'
import type { Item } from './plan.js'
import { partsOf } from './session.js'

/** A part in words. */
export const nameOf = ({ item, contender }: Part): string => `${contender.name} at ${titleOf(item)}`

const titleOf = ({ work, tree, roundTrip, link }: Item): string =>
  `${work.name}${tree === work.tree ? '' : ` (${tree})`}, ${roundTrip} ms${link === 'plain' ? '' : ` ${link}`}`

/** Lines for the terminal. */
export function forecast(run: {
  readonly options: Options
  readonly items: readonly Item[]
  readonly present: readonly Contender[]
  readonly absent: Readonly<Record<string, string>>
  readonly withScale: boolean
}): string {
  const { options, items, present, absent, withScale } = run
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = `${item.tree}, ${item.roundTrip} ms${item.link === 'plain' ? '' : ` ${item.link}`}`
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  const sum = (parts: readonly Part[], time: (part: Part) => number): number =>
    parts.reduce((all, part) => all + time(part), 0)
  const whole = (part: Part): number => wholeTime(part, options.runs)
  const lines = [...groups].map(([key, inside]) => {
    const parts = partsOf(inside, present, [])
    const peers = new Set(parts.map(({ contender }) => contender.name)).size
    const names = inside.map(({ work }) => work.name).join(', ')
    return line(key, sum(parts, onceTime), sum(parts, whole), `${names}; ${peers} contenders`)
  })
  const parts = partsOf(items, present, [])
  const scale = withScale ? scaleSeconds : 0
  const [once, all] = [sum(parts, onceTime) + scale, sum(parts, whole) + scale]
  return [
    ...Object.entries(absent).map(([name, why]) => `left out: ${name}: ${why}`),
    `${present.length} contenders. In minutes: each once; what is quick ${options.runs} times:`,
    ...lines,
    ...(withScale ? [line('scale', scale, scale, 'its own scenarios')] : []),
    line(
      'together',
      once,
      all,
      `${options.minutes} at most: ${advice(once / 60, all / 60, options.minutes)}`,
    ),
  ].join('\n')
}

const line = (what: string, once: number, whole: number, text: string): string =>
  `  ${what.padEnd(20)} ${minutes(once).padStart(5)} ${minutes(whole).padStart(6)}  ${text}`

function advice(once: number, whole: number, most: number): string {
  if (whole <= most) return 'there is time for all'
  if (once <= most) return 'not everything is done again'
  return 'what no time is left for is named'
}

const minutes = (seconds: number): string => (seconds / 60).toFixed(1)
