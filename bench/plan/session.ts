// The measuring itself: each part of a plan once, then the quick ones again, within the time; tells each cell as it comes.
import { type Arena, type Ground, openArena } from '../run/arena.js'
import { type Cell, cellOf, isPeer, secondsOf } from '../run/cells.js'
import type { Contender } from '../run/contenders.js'
import { type Phase, perform, summed, trial, type Verdicts, type Workshop } from '../run/trial.js'
import { isWorthMore, limitsOf, type Pace, type Part } from './pace.js'
import { type Item, takesPart } from './plan.js'

/** Seconds for a workload on the local disk. */
const diskPatience = 120

export interface Telling {
  /** Of a part that was done again, its cell so far. */
  cell(cell: Cell): void
  leftOut(part: Part): void
}

/** A part that was done, with each of its runs. */
interface Done extends Part {
  readonly runs: Verdicts[]
  cell: Cell
  /** Seconds of the last run, and whether another is worth it. */
  took: number
  isOpen: boolean
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

interface Settings {
  readonly present: readonly Contender[]
  readonly runs: number
  readonly workshop: Workshop
  readonly ground: Ground
  readonly pace: Pace
  readonly telling: Telling
}

export interface Session {
  /** Measures everything that there is time for, until the workshop is stopped. */
  measure(items: readonly Item[]): Promise<void>
  close(): Promise<void>
}

export function openSession({ present, runs, workshop, ground, pace, telling }: Settings): Session {
  const done: Done[] = []
  const truths = new Map<string, string>()
  let arena: Arena | undefined

  const cells = (): readonly Cell[] => done.map(({ cell }) => cell)

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
    const ran = await perform(work, doors.disk, diskPatience, workshop)
    if (ran.state === 'late') throw new Error(`${work.name} took two minutes on the local disk`)
    truths.set(key, ran.result)
    return ran.result
  }

  function limitSeconds(part: Part): ReturnType<typeof limitsOf> {
    const { item, contender } = part
    const own = cellOf(cells(), { ...item, work: item.work.name, contender: 'calcfs' })
    const secondsIn = (phase: Phase): number => secondsOf(own, phase) ?? 0
    const late = cells().filter(
      cell => cell.contender === contender.name && cell.tree === item.tree && isLate(cell),
    )
    const known = { cold: secondsIn('cold'), warm: secondsIn('warm'), remount: secondsIn('remount') }
    return limitsOf(part, { own: known, timesLate: late.length })
  }

  const isLate = ({ verdicts }: Cell): boolean => verdicts.cold?.state === 'late'

  /** A mount that was late nearer by is late here, too. */
  function lateNearer({ contender, item }: Part): Verdicts | undefined {
    const late = cells().filter(
      cell =>
        cell.contender === contender.name &&
        cell.work === item.work.name &&
        cell.tree === item.tree &&
        cell.roundTrip < item.roundTrip &&
        isLate(cell),
    )
    const limits = late.flatMap(({ verdicts: { cold } }) =>
      cold?.state === 'late' ? [cold.limitSeconds] : [],
    )
    if (limits.length === 0) return undefined
    return { cold: { state: 'late', limitSeconds: Math.max(...limits) } }
  }

  /** Whatever goes wrong, of a door, a limit or a mount, is that part's alone. */
  async function once(part: Part): Promise<Verdicts | undefined> {
    try {
      return lateNearer(part) ?? (await measured(part))
    } catch (thrown) {
      const why = thrown instanceof Error ? thrown.message : String(thrown)
      return { cold: { state: 'failed', why: why.slice(0, 300) } }
    }
  }

  async function measured(part: Part): Promise<Verdicts | undefined> {
    const { item, contender } = part
    const here = await arenaFor(item)
    if (contender.peer === undefined) return contender.limit?.(item, here)
    const truth = await truthOf(item, here)
    return trial({ peer: contender.peer, work: item.work, arena: here, truth }, limitSeconds(part), workshop)
  }

  async function first(part: Part): Promise<void> {
    if (!pace.isTimeFor(part)) {
      telling.leftOut(part)
      return
    }
    const began = performance.now()
    const verdicts = await once(part)
    // An interrupted measurement says nothing about its contender.
    if (verdicts === undefined || workshop.stopped) return
    const took = (performance.now() - began) / 1000
    const { item, contender } = part
    const { tree, roundTrip, link, work } = item
    const cell: Cell = { tree, roundTrip, link, work: work.name, contender: contender.name, verdicts, took }
    done.push({ ...part, runs: [verdicts], cell, took, isOpen: isWorthMore(part, verdicts) })
    telling.cell(cell)
  }

  async function again(part: Done): Promise<void> {
    if (!part.isOpen || !pace.isTimeFor(part, part.took)) return
    const began = performance.now()
    const verdicts = await once(part)
    if (verdicts === undefined || workshop.stopped) return
    part.runs.push(verdicts)
    part.took = (performance.now() - began) / 1000
    part.isOpen = isWorthMore(part, verdicts)
    part.cell = { ...part.cell, verdicts: summed(part.runs), took: part.cell.took + part.took }
    telling.cell(part.cell)
  }

  return {
    async measure(items) {
      for (const item of items)
        for (const part of partsOf([item], present, cells())) if (!workshop.stopped) await first(part)
      // All runs of one workload together, so that where time ends, the first ones have theirs.
      for (const item of items)
        for (let run = 1; run < runs; run += 1)
          for (const part of done) if (part.item === item && !workshop.stopped) await again(part)
    },
    async close() {
      await arena?.close()
      arena = undefined
    },
  }
}
