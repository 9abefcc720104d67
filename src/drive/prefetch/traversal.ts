// The walks that are under way: begun at the second folder, followed through the levels of the tree, given up when he leaves.
import type { Ask, Instant } from '../../remote/remote.js'
import { type Dentry, type DirectoryNode, isDirectory, type Node } from '../nodes/node.js'
import { nameOf, parentOf } from '../tree/path-resolver.js'
import { type Deed, type Habits, kindOf, openHabits } from './access-pattern.js'
import {
  expectWalker,
  type Folder,
  nextAhead,
  type Step,
  stepInto,
  type Trail,
  type Walker,
  walkerOn,
} from './cursor.js'
import type { Batch, Guesses } from './queue.js'

export interface Trails {
  /** Somebody enters the folder at this path, which stands in `above`. */
  step(above: Folder, path: string): void
  /** Something was done to a file of this kind, in the folder at `path`. */
  note(path: string, kind: string, deed: Deed): void
  /** Gives up every walk on which nobody took a step since then; says whether any is left. */
  leftSince(since: Instant): boolean
}

export interface TrailPorts {
  readonly guesses: Guesses
  /** A directory as it was listed last. */
  readonly known: (path: string) => Folder | undefined
  /** Lists a directory and keeps what it shows. */
  readonly list: (path: string, node: DirectoryNode, ask: Ask) => Promise<Folder>
  /** Does to a file what is usually done to its kind. */
  readonly askFor: (
    path: string,
    node: Node,
    how: { readonly deed: Deed; readonly ask: Ask; readonly signal: AbortSignal },
  ) => Promise<unknown>
  /** No more is fetched for now. */
  readonly full: () => boolean
  readonly now: () => Instant
}

/** A walk with what is known of its user. */
interface OwnTrail extends Trail {
  readonly habits: Habits
  readonly batch: Batch
  /** He goes into the folders of folders. */
  descends: boolean
  steppedAt: Instant
}

const reachAtFirst = 4
const reachAtMost = 64
/** So many folders back a walk is looked for that goes on in this one. */
const neighbours = 4

export function openTrails({ guesses, known, list, askFor, full, now }: TrailPorts): Trails {
  const trails = new Set<OwnTrail>()
  /** What is done in folders that no walk has come to. */
  const strays = openHabits()
  let newest: OwnTrail | undefined

  const trailOf = (walker: Walker | undefined) => walker?.trail as OwnTrail | undefined
  const above = (path: string): Folder | undefined => known(parentOf(path))

  /** The walk that has led into the folder at this path. */
  function trailInto(path: string): OwnTrail | undefined {
    const name = nameOf(path)
    return trailOf(above(path)?.walkers.find(({ last, trail }) => last === name && trail !== undefined))
  }

  function step(from: Folder, path: string): void {
    const taken = stepInto(from, nameOf(path))
    if (taken === undefined || taken.as === 'there already') return
    const trail = trailOf(taken.walker) ?? trailInto(from.path) ?? begun(from, taken)
    if (trail === undefined) {
      if (newest !== undefined) leave(newest)
      return
    }
    for (const walker of from.walkers) if (walker.trail === trail) walker.trail = undefined
    taken.walker.trail = trail
    trail.descends ||= before(from, taken.walker).some(({ walkers }) =>
      walkers.some(({ last }) => last !== ''),
    )
    trails.add(trail)
    newest = trail
    trail.steppedAt = now()
    const foreseen = trail.ahead.delete(path)
    trail.reach = foreseen ? Math.min(trail.reach * 2, reachAtMost) : Math.max(trail.reach, reachAtFirst)
    const folder = known(path)
    if (folder !== undefined && !foreseen) foresee(trail, folder)
    const goesOn = folder !== undefined && goesInto(trail, folder)
    if (goesOn) expectWalker(folder, trail)
    fill(trail, goesOn ? folder : from)
  }

  const goesInto = (trail: OwnTrail, folder: Folder): boolean => trail.descends && folder.folders.length > 0

  /** The folders that he has just come from, in this directory. */
  function before(folder: Folder, { order, position }: Walker): Folder[] {
    const names = order.folders.slice(Math.max(0, position - neighbours), position).reverse()
    return names.flatMap(({ name }) => known(`${folder.path}/${name}`) ?? [])
  }

  /** A second folder makes a walk; who walked through the folders below the first one is still on the same. */
  function begun(folder: Folder, { as, walker, from }: Step): OwnTrail | undefined {
    if (as === 'stranger') return undefined
    const below = before(folder, walker).flatMap(({ walkers }) => walkers.map(trailOf))
    const trail = below.find(trail => trail !== undefined && trails.has(trail))
    if (trail !== undefined) return trail
    const habits = strays.from(`${folder.path}/${from}`)
    const batch = guesses.batch()
    return { reach: 0, ahead: new Set(), habits, batch, descends: false, steppedAt: now() }
  }

  /** Asks for folders ahead, depth first, and for the next ones above where this one has no more. */
  function fill(trail: OwnTrail, start: Folder): void {
    let folder: Folder | undefined = start
    while (trail.ahead.size < trail.reach && !full()) {
      const walker: Walker | undefined = folder && walkerOn(folder, trail)
      if (folder === undefined || walker === undefined) return
      const next = nextAhead(folder, walker, known)
      if (next === undefined) folder = above(folder.path)
      else plan(trail, next)
    }
  }

  function plan(trail: OwnTrail, { path, dentry }: { path: string; dentry: Dentry }): void {
    const { node } = dentry
    if (!isDirectory(node)) return
    trail.ahead.add(path)
    trail.batch.add(async (ask, signal) => {
      const folder = await list(path, node, ask)
      if (signal.aborted) return
      foresee(trail, folder)
      if (!goesInto(trail, folder)) return
      expectWalker(folder, trail)
      fill(trail, folder)
    })
  }

  /** What is usually done to such files will be done to these. */
  function foresee(trail: OwnTrail, folder: Folder): void {
    for (const dentry of folder.entries) {
      const kind = kindOf(dentry)
      const deed = kind === undefined ? undefined : trail.habits.usual(kind)
      if (deed === undefined) continue
      const path = `${folder.path}/${dentry.name}`
      trail.batch.add((ask, signal) => askFor(path, dentry.node, { deed, ask, signal }))
    }
  }

  function leave(trail: OwnTrail): void {
    trail.batch.cancel()
    trail.reach = 0
    trails.delete(trail)
    if (newest === trail) newest = undefined
    for (const path of trail.ahead) {
      const folder = above(path)
      const walker = folder && walkerOn(folder, trail)
      if (walker !== undefined) walker.planned = walker.position + 1
    }
    trail.ahead.clear()
  }

  return {
    step,
    note(path, kind, deed) {
      const trail = trailInto(path)
      if (trail !== undefined) trail.steppedAt = now()
      ;(trail?.habits ?? strays).note(path, kind, deed)
    },
    leftSince(since) {
      for (const trail of trails) if (trail.steppedAt <= since) leave(trail)
      return trails.size > 0
    },
  }
}
