// What a run says before it begins: what it will do, and how long that may take.
import type { Contender } from '../run/contenders.js'
import { scaleSeconds } from '../run/scale.js'
import type { Options } from './options.js'
import { type Part, wholeTime } from './pace.js'
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
  /** Seconds. */
  readonly wanted: number
  readonly withScale: boolean
}): string {
  const { options, items, present, absent, withScale } = run
  const groups = new Map<string, Item[]>()
  for (const item of items) {
    const key = `${item.tree}, ${item.roundTrip} ms${item.link === 'plain' ? '' : ` ${item.link}`}`
    groups.set(key, [...(groups.get(key) ?? []), item])
  }
  const lines = [...groups].map(([key, inside]) => {
    const parts = partsOf(inside, present, [])
    const seconds = parts.reduce((sum, part) => sum + wholeTime(part, options.runs), 0)
    const peers = new Set(parts.map(({ contender }) => contender.name)).size
    const names = inside.map(({ work }) => work.name).join(', ')
    return `  ${key.padEnd(18)} ${minutes(seconds).padStart(6)}  ${peers} contenders: ${names}`
  })
  const whole = run.wanted + (withScale ? scaleSeconds : 0)
  const scale = withScale
    ? [`  ${'scale'.padEnd(18)} ${minutes(scaleSeconds).padStart(6)}  its own scenarios`]
    : []
  const cut =
    whole > options.minutes * 60
      ? [
          `That is more than ${options.minutes} minutes: slow mounts are measured once, and what no time is left for is named.`,
        ]
      : []
  return [
    ...Object.entries(absent).map(([name, why]) => `left out: ${name}: ${why}`),
    `${present.length} contenders, up to ${options.runs} runs each; about ${minutes(whole)} minutes, ${options.minutes} at most:`,
    ...lines,
    ...scale,
    ...cut,
  ].join('\n')
}

const minutes = (seconds: number): string => (seconds / 60).toFixed(1)
