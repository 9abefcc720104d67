// The measuring itself: carries out the parts of a plan in their order, within their time, and tells each cell as it comes.
import { type Arena, type Ground, openArena } from '../run/arena.js'
import { type Cell, cellOf, isPeer, secondsOf } from '../run/cells.js'
import type { Contender } from '../run/contenders.js'
import {
  type Effort,
  type Phase,
  perform,
  phases,
  trial,
  type Verdicts,
  type Workshop,
} from '../run/trial.js'
import { onceOver, type Pace, type Part } from './pace.js'
import { type Item, takesPart } from './plan.js'

/** Seconds: the longest that any phase may take, and the shortest limit of one. */
const longest = 120
const shortest: Readonly<Record<Phase, number>> = { cold: 15, warm: 8, remount: 15 }
/** A peer so many times slower than calcfs is ended; one target is about twelve times. */
const patience = 5
const patienceOf: Readonly<Record<string, number>> = { 'cp-part': 13 }
/** Of a peer that was late twice on the same tree. */
const littlePatience = { times: 2, shortest: 5 }

export interface Telling {
  cell(cell: Cell): void
  leftOut(part: Part, why: string): void
}

export interface Session {
  /** Measures everything that there is time for, until it is stopped. */
  measure(items: readonly Item[], pace: Pace, telling: Telling): Promise<readonly Cell[]>
  close(): Promise<void>
}

/** The parts of a plan in their order. Which peer is the fastest nearer by is known only while it is carried out. */
export function partsOf(
  items: readonly Item[],
  present: readonly Contender[],
  cells: readonly Cell[],
): readonly Part[] {
  return items.flatMap(item => {
    const fastest = fastestNearer(item, present, cells)
    return present
      .filter(contender => takesPart(contender, item, fastest))
      .map(contender => ({ item, contender }))
  })
}

/** The peer that was the fastest at this work over the longest plain link that is not longer; else the first of them. */
function fastestNearer(
  item: Item,
  present: readonly Contender[],
  cells: readonly Cell[],
): string | undefined {
  const times = cells.flatMap(cell => {
    const seconds = secondsOf(cell, 'cold')
    const isNearer = cell.roundTrip <= item.roundTrip && cell.link === 'plain' && cell.work === item.work.name
    return isPeer(cell) && isNearer && seconds !== undefined ? [{ cell, seconds }] : []
  })
  const farthest = Math.max(...times.map(({ cell }) => cell.roundTrip))
  const last = times.filter(({ cell }) => cell.roundTrip === farthest)
  const [best] = last.sort((one, other) => one.seconds - other.seconds)
  return best?.cell.contender ?? present.find(({ name }) => name === 'davfs2' || name === 'sshfs')?.name
}

export function openSession(
  present: readonly Contender[],
  settings: { readonly workshop: Workshop; readonly ground: Ground },
): Session {
  const { workshop, ground } = settings
  const cells: Cell[] = []
  const truths = new Map<string, string>()
  let arena: Arena | undefined

  async function arenaFor(item: Item): Promise<Arena> {
    const { tree, roundTrip, link } = item
    if (arena?.tree === tree && arena.roundTrip === roundTrip && arena.link === link) return arena
    await arena?.close()
    arena = undefined
    arena = await openArena(item, ground)
    return arena
  }

  /** What the local disk gives; the same at every distance. */
  async function truthOf({ work, tree }: Item, { doors }: Arena): Promise<string> {
    const key = `${tree} ${work.name}`
    const known = truths.get(key)
    if (known !== undefined) return known
    const ran = await perform(work, doors.disk, longest, workshop)
    if (ran.state === 'late') throw new Error(`${work.name} took two minutes on the local disk`)
    truths.set(key, ran.result)
    return ran.result
  }

  function limits({ name, rank }: Contender, item: Item): Effort['limitSeconds'] {
    const own = cellOf(cells, { ...item, work: item.work.name, contender: 'calcfs' })
    const isHopeless = timesLate(name, item) >= 2
    const times = isHopeless ? littlePatience.times : (patienceOf[item.work.name] ?? patience)
    const of = (phase: Phase): number => {
      const seconds = secondsOf(own, phase)
      if (rank === 'own' || rank === 'floor') return longest
      const least = isHopeless ? littlePatience.shortest : shortest[phase]
      return Math.round(Math.min(longest, Math.max(least, times * (seconds ?? 0))))
    }
    return { cold: of('cold'), warm: of('warm'), remount: of('remount') }
  }

  const timesLate = (name: string, { tree }: Item): number =>
    cells.filter(
      ({ contender, tree: on, verdicts }) =>
        contender === name && on === tree && verdicts.cold?.state === 'late',
    ).length

  /** A mount that was late nearer by is late here, too: the seconds that it takes longer than. */
  function lateNearer({ name }: Contender, item: Item): number | undefined {
    const late = cells.flatMap(({ contender, work, roundTrip, tree, verdicts }) => {
      const isNearer = roundTrip < item.roundTrip && work === item.work.name && tree === item.tree
      if (contender !== name || !isNearer || verdicts.cold?.state !== 'late') return []
      return [verdicts.cold.limitSeconds]
    })
    const most = Math.max(0, ...late)
    return most > 0 ? most : undefined
  }

  async function verdictsOf({ item, contender }: Part, runs: number): Promise<Verdicts | undefined> {
    const here = await arenaFor(item)
    if (contender.peer === undefined) return contender.limit?.(item, here, runs)
    const truth = await truthOf(item, here)
    const limitSeconds = limits(contender, item)
    const known = lateNearer(contender, item)
    if (known !== undefined) return { cold: { state: 'late', limitSeconds: known } }
    const effort: Effort = { runs, limitSeconds, onceOver, phases }
    return trial({ peer: contender.peer, work: item.work, arena: here, truth }, effort, workshop)
  }

  async function one(part: Part, pace: Pace, telling: Telling): Promise<void> {
    const { item, contender } = part
    const runs = pace.runsOf(part)
    if (runs === 0) telling.leftOut(part, 'no time was left')
    const verdicts = runs === 0 ? undefined : await verdictsOf(part, runs)
    pace.done(part, runs)
    // An interrupted measurement says nothing about its contender.
    if (verdicts === undefined || workshop.stopped) return
    const { tree, roundTrip, link, work } = item
    const cell: Cell = { tree, roundTrip, link, work: work.name, contender: contender.name, verdicts }
    cells.push(cell)
    telling.cell(cell)
  }

  return {
    async measure(items, pace, telling) {
      for (const item of items)
        for (const part of partsOf([item], present, cells))
          if (!workshop.stopped) await one(part, pace, telling)
      return cells
    },
    async close() {
      await arena?.close()
      arena = undefined
    },
  }
}
