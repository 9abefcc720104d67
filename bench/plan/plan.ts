// Plan of a run: what is measured and in which order, the whole table by default, else the selection.

import type { Link, Setting } from '../run/arena.js'
import { walks } from '../run/contender-limits.js'
import type { Contender } from '../run/contenders.js'
import { everywhere, treeFor, type Workload, workload, workloadNames } from '../run/workloads.js'
import { type TreeName, treeNames } from '../trees/trees.js'
import type { Options } from './options.js'

/**
 * all: every peer. best: all but the weaker mode of each. first: the one that was the fastest nearer by.
 * own: none, calcfs and the limits alone.
 */
export type Peers = 'all' | 'best' | 'first' | 'own'

/** One workload over one tree and one link. */
export interface Item extends Setting {
  readonly work: Workload
  readonly peers: Peers
  /** Whether the floors take part: what lies in memory or on the disk is as near at every distance. */
  readonly floors: boolean
}

/** Names of workloads, each with the peers that do it; a name that is not there is left out. */
type Wish = Readonly<Record<string, Peers>>

/** The same walk in other orders. */
const ordersOfWalks: Wish = Object.fromEntries(walks.map(name => [name, 'own' as const]))

/** What the targets are about; measured first. */
const aimedAt: readonly (readonly [Pick<Setting, 'roundTrip'> & Partial<Setting>, Wish])[] = [
  [
    { roundTrip: 0 },
    {
      ...{ 'ls-lR': 'all', find: 'best', stats: 'best', cp: 'all', dd: 'all', head: 'best' },
      ...{ 'md5-part-P1': 'first', 'md5-part-P8': 'first', grep: 'first', analysis: 'first' },
    },
  ],
  [
    { roundTrip: 30 },
    {
      ...{ 'ls-lR': 'best', 'cp-part': 'best', 'md5-part-P1': 'first', 'md5-part-P8': 'first' },
      ...ordersOfWalks,
      folder: 'all',
      ...{ head: 'all', tail: 'all', readers8: 'own' },
    },
  ],
  [{ roundTrip: 30, link: 'line' }, { 'cp-part': 'own' }],
  [{ roundTrip: 30, tree: 'unpadded' as TreeName }, { 'ls-lR': 'own' }],
  [
    { roundTrip: 30, tree: 'random' as TreeName },
    { 'ls-lR': 'own', cp: 'own' },
  ],
]

/** What else users do; and how the figures change with the link. */
const besides: typeof aimedAt = [
  [{ roundTrip: 10 }, { 'ls-lR': 'best', 'cp-part': 'best', folder: 'all', head: 'all' }],
  [
    { roundTrip: 30, link: 'tls' },
    { 'ls-lR': 'own', 'cp-part': 'own' },
  ],
  [{ roundTrip: 30, link: 'line' }, { 'ls-lR': 'first' }],
  [{ roundTrip: 100 }, { 'ls-lR': 'first', 'cp-part': 'first', folder: 'first', head: 'first' }],
  [
    { roundTrip: 0 },
    {
      ...{ folder: 'best', 'ls-wide': 'best', 'ls-deep': 'best', tail: 'best', random: 'best' },
      readers8: 'first',
    },
  ],
  [
    { roundTrip: 30 },
    {
      ...{ dd: 'best', 'ls-wide': 'best', 'ls-deep': 'best', random: 'first' },
      ...{ grep: 'own', analysis: 'own', find: 'own', cp: 'own' },
    },
  ],
]

/** The items of a run: those of the targets first, and grouped so that an origin serves many. */
export function planOf(options: Options): readonly Item[] {
  const items = options.work === undefined ? usual(options) : chosen(options, options.work)
  return items.filter(
    ({ tree, roundTrip, link }) =>
      (options.tree === undefined || tree === options.tree) &&
      (options.roundTrips?.includes(roundTrip) ?? true) &&
      (options.links?.includes(link) ?? true),
  )
}

function usual(options: Options): readonly Item[] {
  if (options.tree === 'small') return chosen(options, everywhere)
  return [aimedAt, besides].flatMap(part => byTree(part.flatMap(([where, wish]) => itemsOf(where, wish))))
}

/** Those of one origin after one another, in the order in which each origin is wanted first. */
function byTree(items: readonly Item[]): readonly Item[] {
  const keys = [...new Set(items.map(keyOf))]
  return keys.flatMap(key => items.filter(item => keyOf(item) === key))
}

const keyOf = ({ roundTrip, link, tree }: Item): string => `${roundTrip} ${link} ${tree}`

function itemsOf(where: Pick<Setting, 'roundTrip'> & Partial<Setting>, wish: Wish): readonly Item[] {
  const { roundTrip, link = 'plain', tree } = where
  if (tree !== undefined && !treeNames.includes(tree)) return []
  return Object.entries(wish).flatMap(([name, peers]) => {
    const work = workload(name)
    if (work === undefined) return []
    const floors = roundTrip === 0 && link === 'plain'
    return [{ roundTrip, link, tree: tree ?? work.tree, work, peers, floors }]
  })
}

/** The selected workloads, for all selected contenders. */
function chosen(options: Options, names: readonly string[]): readonly Item[] {
  const known = names.filter(name => workloadNames.includes(name))
  const of = (roundTrip: number, link: Link): readonly Item[] =>
    known.flatMap(name => {
      const work = workload(name)
      if (work === undefined) return []
      return [
        { roundTrip, link, tree: treeFor(work, options.tree), work, peers: 'all' as const, floors: true },
      ]
    })
  const distances = options.roundTrips ?? [0, 30]
  return byTree((options.links ?? ['plain']).flatMap(link => distances.flatMap(at => of(at, link))))
}

/** Whether the contender does this item; `fastest` names the peer that was the fastest nearer by. */
export function takesPart(contender: Contender, item: Item, fastest: string | undefined): boolean {
  // The other doors have no certificate.
  if (!contender.does(item) || (item.link === 'tls' && contender.rank !== 'own')) return false
  switch (contender.rank) {
    case 'own':
      return true
    case 'floor':
      return item.floors
    case 'weaker':
    case 'best':
      if (item.peers === 'first') return contender.name === fastest
      return item.peers === 'all' || (item.peers === 'best' && contender.rank === 'best')
  }
}
