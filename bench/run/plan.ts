// Plan of a run: what is measured and in which order, the whole table by default, else the selection.
import type { TreeName } from '../trees/trees.js'
import type { Options } from './options.js'
import { everywhere, type Workload, workload, workloadNames } from './workloads.js'

/** One workload at one distance. */
export interface Item {
  readonly roundTrip: number
  readonly tree: TreeName
  readonly work: Workload
  /** All; all but the weaker mode of each peer; or calcfs, the limits and the floors alone. */
  readonly ranks: 'all' | 'best' | 'own'
}

/** Near: every workload, for every contender. */
const near = workloadNames.filter(name => !name.includes('part'))

/** Over a slow link: peers need minutes for the whole lab, so that they copy and sum up a fifth of it. */
const far: Readonly<Record<string, Item['ranks']>> = {
  'ls-lR': 'best',
  'cp-part': 'best',
  cp: 'own',
  'md5-part-P1': 'best',
  'md5-part-P8': 'best',
  'md5-P1': 'own',
  'md5-P8': 'own',
  dd: 'best',
  head: 'best',
  tail: 'best',
  readers8: 'best',
  folder: 'best',
  'ls-wide': 'best',
  find: 'best',
  analysis: 'best',
  grep: 'best',
  random: 'best',
  'ls-deep': 'best',
}

/** At other distances, only how the figures change. */
const between = ['ls-lR', 'cp-part', 'md5-part-P1', 'head']

/** The items of a run, grouped by tree and distance so that an origin serves many. */
export function planOf(options: Options): readonly Item[] {
  const items = options.work === undefined ? usual(options) : chosen(options, options.work)
  return items.filter(({ tree }) => options.tree === undefined || tree === options.tree)
}

function usual(options: Options): readonly Item[] {
  if (options.tree === 'small') return chosen(options, everywhere)
  const wanted = (roundTrip: number): boolean => options.roundTrips?.includes(roundTrip) ?? true
  const quick = options.quick || options.roundTrips !== undefined
  return [
    ...(wanted(30) ? Object.entries(far).map(([name, ranks]) => item(30, name, ranks)) : []),
    ...(wanted(0) ? near.map(name => item(0, name, 'all')) : []),
    ...[10, 100].flatMap(roundTrip =>
      (quick ? (options.roundTrips?.includes(roundTrip) ?? false) : true)
        ? between.map(name => item(roundTrip, name, 'own'))
        : [],
    ),
  ]
}

/** The selected workloads, for all selected contenders. */
function chosen(options: Options, work: readonly string[]): readonly Item[] {
  const tree = options.tree
  const of = (roundTrip: number, name: string): Item => {
    const one = item(roundTrip, name, 'all')
    return tree !== undefined && everywhere.includes(name) ? { ...one, tree } : one
  }
  return (options.roundTrips ?? [0, 30]).flatMap(roundTrip => work.map(name => of(roundTrip, name)))
}

function item(roundTrip: number, name: string, ranks: Item['ranks']): Item {
  const work = workload(name)
  if (work === undefined) throw new Error(`there is no workload ${name}`)
  return { roundTrip, tree: work.tree, work, ranks }
}
