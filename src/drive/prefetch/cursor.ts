// Traversal cursor: the position in a directory's order (listing or name), and the next folder to prefetch.
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import { type Dentry, type DirectoryNode, filterEntries } from '../nodes/node.js'

/** Folders in the order of the listing, or in that of their names: `find` takes the one, `ls` the other. */
interface DirectoryOrder {
  readonly folders: readonly Dentry[]
  /** The place of a folder, by its name. */
  readonly places: NameIndex
}

/** One program on its way through the folders of a directory; several may be on theirs at once. */
export interface Cursor {
  /** The folder that was entered last. */
  last: string
  order: DirectoryOrder
  /** Its place in the order; -1 before the first. */
  position: number
  /** The first place that is not yet planned to be asked for. */
  planned: number
  /** The place of the walk in its whole; undefined until a second folder was entered. */
  traversal: Traversal | undefined
}

/** A walk as a whole, across all levels of the tree. */
export interface Traversal {
  /** How many folders ahead are asked for; doubles with every folder that was foreseen rightly. */
  reach: number
  /** The paths of folders that were asked for and not entered yet. */
  readonly ahead: Set<string>
}

/** A directory as it was listed. */
export interface ListedDirectory {
  readonly path: string
  readonly node: DirectoryNode
  readonly entries: readonly Dentry[]
  /** Those that a walk would enter, in the listing's order. */
  readonly folders: readonly Dentry[]
  readonly cursors: Cursor[]
}

/** A step over more folders than these is not of the same traversal. */
const skipAtMost = 4
const walkersAtMost = 16

export function listedDirectory(
  path: string,
  node: DirectoryNode,
  entries: readonly Dentry[],
): ListedDirectory {
  const folders = filterEntries(entries, ({ node }) => node.kind === 'project' || node.kind === 'calculation')
  return { path, node, entries, folders, cursors: [] }
}

/** Whether a folder shows the same names as before, so that its walkers are still where they were. */
export const sameFolders = (one: ListedDirectory, other: readonly Dentry[]): boolean =>
  one.entries.length === other.length && one.entries.every(({ name }, at) => name === other[at]?.name)

const listingOrders = new WeakMap<ListedDirectory, DirectoryOrder>()
const nameOrders = new WeakMap<ListedDirectory, DirectoryOrder>()

const directoryOrder = (folders: readonly Dentry[]): DirectoryOrder => ({
  folders,
  places: nameIndex(folders),
})

function listingOrder(folder: ListedDirectory): DirectoryOrder {
  const known = listingOrders.get(folder) ?? directoryOrder(folder.folders)
  listingOrders.set(folder, known)
  return known
}

function nameOrder(folder: ListedDirectory): DirectoryOrder {
  const sorted = () => folder.folders.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const known = nameOrders.get(folder) ?? directoryOrder(sorted())
  nameOrders.set(folder, known)
  return known
}

/** A folder is entered: by which cursor, and whether that was the expected folder. */
export interface CursorStep {
  readonly cursor: Cursor
  readonly as: 'next' | 'there already' | 'stranger'
  /** The folder of the step before; '' for none. */
  readonly from: string
}

/** Finds the walker for whom this folder is next, or begins a new one. Undefined for what is no folder of it. */
export function advanceInto(folder: ListedDirectory, name: string): CursorStep | undefined {
  const listing = listingOrder(folder)
  if (listing.places.find(name) === undefined) return undefined
  for (const cursor of folder.cursors) {
    if (cursor.last === name) return { cursor, as: 'there already', from: name }
    const place = cursor.order.places.find(name) ?? -1
    if (isNext(cursor, place)) return moveCursor(cursor, name, place)
  }
  // After one step alone, the order may be the other one.
  for (const cursor of folder.cursors) {
    if (cursor.traversal !== undefined) continue
    const order = nameOrder(folder)
    const step = (order.places.find(name) ?? -1) - (order.places.find(cursor.last) ?? 0)
    if (step < 1 || step > skipAtMost) continue
    const place = order.places.find(name) ?? 0
    Object.assign(cursor, { order, planned: place + 1 })
    return moveCursor(cursor, name, place)
  }
  const place = listing.places.find(name) ?? 0
  const cursor = { last: name, order: listing, position: place, planned: place + 1, traversal: undefined }
  folder.cursors.push(cursor)
  if (folder.cursors.length > walkersAtMost) folder.cursors.shift()
  return { cursor, as: 'stranger', from: '' }
}

function isNext(cursor: Cursor, place: number): boolean {
  if (place <= cursor.position) return false
  return place < cursor.planned || place - cursor.position <= skipAtMost
}

function moveCursor(cursor: Cursor, name: string, place: number): CursorStep {
  const from = cursor.last
  cursor.last = name
  cursor.position = place
  cursor.planned = Math.max(cursor.planned, place + 1)
  return { cursor, as: 'next', from }
}

/** A cursor that has not entered anything yet: the folder itself was only predicted. */
export function expectCursor(folder: ListedDirectory, traversal: Traversal): void {
  if (folder.cursors.length > 0) return
  folder.cursors.push({ last: '', order: listingOrder(folder), position: -1, planned: 0, traversal })
}

/** The walker of a trail in this folder, if it leads through it. */
export const cursorOn = (folder: ListedDirectory | undefined, traversal: Traversal): Cursor | undefined =>
  folder?.cursors.find(cursor => cursor.traversal === traversal)

/** The next folder that was not asked for, depth first: a predicted folder comes with all that is in it. */
export function nextDirectory(
  folder: ListedDirectory,
  cursor: Cursor,
  known: (path: string) => ListedDirectory | undefined,
): { readonly path: string; readonly dentry: Dentry } | undefined {
  for (let at = cursor.position + 1; at < cursor.planned; at += 1) {
    const dentry = cursor.order.folders[at]
    if (dentry === undefined || cursor.traversal === undefined) continue
    const below = known(`${folder.path}/${dentry.name}`)
    const expected = below === undefined ? undefined : cursorOn(below, cursor.traversal)
    if (below === undefined || expected === undefined) continue
    const next = nextDirectory(below, expected, known)
    if (next !== undefined) return next
  }
  const dentry = cursor.order.folders[cursor.planned]
  if (dentry === undefined) return undefined
  cursor.planned += 1
  return { path: `${folder.path}/${dentry.name}`, dentry }
}
