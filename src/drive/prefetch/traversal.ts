// Traversals under way: begun at the second folder, followed through the levels of the tree, given up when no step follows.

import { lastNameOf, parentOf } from '../../layout.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import { type Dentry, type DirectoryNode, isDirectory, type Node } from '../nodes/node.js'
import { type AccessLevel, type AccessPattern, fileClassOf, openAccessPattern } from './access-pattern.js'
import {
  advanceInto,
  type Cursor,
  type CursorStep,
  cursorOn,
  expectCursor,
  type ListedDirectory,
  nextDirectory,
  type Traversal,
} from './cursor.js'
import type { PrefetchBatch, PrefetchQueue } from './queue.js'

export interface Traversals {
  /** The folder at this path, which stands in `above`, is entered. */
  step(above: ListedDirectory, path: string): void
  /** Something was done to a file of this kind, in the folder at `path`. */
  note(path: string, kind: string, level: AccessLevel): void
  /** Gives up every traversal without a step since then; answers whether any is left. */
  leftSince(since: Instant): boolean
}

export interface TraversalPorts {
  readonly queue: PrefetchQueue
  /** A directory as it was listed last. */
  readonly known: (path: string) => ListedDirectory | undefined
  /** Lists a directory and keeps what it shows. */
  readonly list: (path: string, node: DirectoryNode, context: RequestContext) => Promise<ListedDirectory>
  /** Does to a file what is usually done to its kind. */
  readonly askFor: (
    path: string,
    node: Node,
    how: { readonly level: AccessLevel; readonly context: RequestContext; readonly signal: AbortSignal },
  ) => Promise<unknown>
  /** No more is fetched for now. */
  readonly full: () => boolean
  readonly now: () => Instant
}

/** A walk with what is known of its user. */
interface ActiveTraversal extends Traversal {
  readonly pattern: AccessPattern
  readonly batch: PrefetchBatch
  /** It goes into the folders of folders. */
  descends: boolean
  steppedAt: Instant
}

const reachAtFirst = 4
const reachAtMost = 64
/** So many folders back a walk is looked for that goes on in this one. */
const neighbours = 4

export function openTraversals({ queue, known, list, askFor, full, now }: TraversalPorts): Traversals {
  const traversals = new Set<ActiveTraversal>()
  /** What is done in folders that no walk has come to. */
  const outsidePattern = openAccessPattern()
  let newest: ActiveTraversal | undefined

  const traversalOf = (cursor: Cursor | undefined) => cursor?.traversal as ActiveTraversal | undefined
  const above = (path: string): ListedDirectory | undefined => known(parentOf(path))

  /** The walk that has led into the folder at this path. */
  function traversalInto(path: string): ActiveTraversal | undefined {
    const name = lastNameOf(path)
    return traversalOf(
      above(path)?.cursors.find(({ last, traversal }) => last === name && traversal !== undefined),
    )
  }

  function step(from: ListedDirectory, path: string): void {
    const taken = advanceInto(from, lastNameOf(path))
    if (taken === undefined || taken.as === 'there already') return
    const traversal = traversalOf(taken.cursor) ?? traversalInto(from.path) ?? startTraversal(from, taken)
    if (traversal === undefined) {
      if (newest !== undefined) leave(newest)
      return
    }
    for (const cursor of from.cursors) if (cursor.traversal === traversal) cursor.traversal = undefined
    taken.cursor.traversal = traversal
    traversal.descends ||= before(from, taken.cursor).some(({ cursors }) =>
      cursors.some(({ last }) => last !== ''),
    )
    traversals.add(traversal)
    newest = traversal
    traversal.steppedAt = now()
    const foreseen = traversal.ahead.delete(path)
    traversal.reach = foreseen
      ? Math.min(traversal.reach * 2, reachAtMost)
      : Math.max(traversal.reach, reachAtFirst)
    const folder = known(path)
    if (folder !== undefined && !foreseen) prefetchDirectory(traversal, folder)
    const goesOn = folder !== undefined && goesInto(traversal, folder)
    if (goesOn) expectCursor(folder, traversal)
    fill(traversal, goesOn ? folder : from)
  }

  const goesInto = (traversal: ActiveTraversal, folder: ListedDirectory): boolean =>
    traversal.descends && folder.folders.length > 0

  /** The folders of the last steps, in this directory. */
  function before(folder: ListedDirectory, { order, position }: Cursor): ListedDirectory[] {
    const names = order.folders.slice(Math.max(0, position - neighbours), position).reverse()
    return names.flatMap(({ name }) => known(`${folder.path}/${name}`) ?? [])
  }

  /** A second folder makes a traversal; a walk through the folders below the first one is still the same. */
  function startTraversal(
    folder: ListedDirectory,
    { as, cursor, from }: CursorStep,
  ): ActiveTraversal | undefined {
    if (as === 'stranger') return undefined
    const below = before(folder, cursor).flatMap(({ cursors }) => cursors.map(traversalOf))
    const traversal = below.find(traversal => traversal !== undefined && traversals.has(traversal))
    if (traversal !== undefined) return traversal
    const pattern = outsidePattern.from(`${folder.path}/${from}`)
    const batch = queue.batch()
    return { reach: 0, ahead: new Set(), pattern, batch, descends: false, steppedAt: now() }
  }

  /** Asks for folders ahead, depth first, and for the next ones above where this one has no more. */
  function fill(traversal: ActiveTraversal, start: ListedDirectory): void {
    let folder: ListedDirectory | undefined = start
    while (traversal.ahead.size < traversal.reach && !full()) {
      const cursor: Cursor | undefined = folder && cursorOn(folder, traversal)
      if (folder === undefined || cursor === undefined) return
      const next = nextDirectory(folder, cursor, known)
      if (next === undefined) folder = above(folder.path)
      else plan(traversal, next)
    }
  }

  function plan(traversal: ActiveTraversal, { path, dentry }: { path: string; dentry: Dentry }): void {
    const { node } = dentry
    if (!isDirectory(node)) return
    traversal.ahead.add(path)
    traversal.batch.add(async (context, signal) => {
      const folder = await list(path, node, context)
      if (signal.aborted) return
      prefetchDirectory(traversal, folder)
      if (!goesInto(traversal, folder)) return
      expectCursor(folder, traversal)
      fill(traversal, folder)
    })
  }

  /** What is usually done to such files will be done to these. */
  function prefetchDirectory(traversal: ActiveTraversal, folder: ListedDirectory): void {
    for (const dentry of folder.entries) {
      const kind = fileClassOf(dentry)
      const level = kind === undefined ? undefined : traversal.pattern.usual(kind)
      if (level === undefined) continue
      const path = `${folder.path}/${dentry.name}`
      traversal.batch.add((context, signal) => askFor(path, dentry.node, { level, context, signal }))
    }
  }

  function leave(traversal: ActiveTraversal): void {
    traversal.batch.cancel()
    traversal.reach = 0
    traversals.delete(traversal)
    if (newest === traversal) newest = undefined
    for (const path of traversal.ahead) {
      const folder = above(path)
      const cursor = folder && cursorOn(folder, traversal)
      if (cursor !== undefined) cursor.planned = cursor.position + 1
    }
    traversal.ahead.clear()
  }

  return {
    step,
    note(path, kind, level) {
      const traversal = traversalInto(path)
      if (traversal !== undefined) traversal.steppedAt = now()
      ;(traversal?.pattern ?? outsidePattern).note(path, kind, level)
    },
    leftSince(since) {
      for (const traversal of traversals) if (traversal.steppedAt <= since) leave(traversal)
      return traversals.size > 0
    },
  }
}
