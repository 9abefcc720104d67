// Where somebody who walks through the folders of one directory has come to, in which order, and which folder comes next.
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import { chosen, type Dentry, type DirectoryNode } from '../nodes/node.js'

/** Folders in the order of the listing, or in that of their names: `find` takes the one, `ls` the other. */
interface Order {
  readonly folders: readonly Dentry[]
  /** The place of a folder, by its name. */
  readonly places: NameIndex
}

/** One reader on his way through the folders of a directory; several may be on theirs at once. */
export interface Walker {
  /** The folder he entered last. */
  last: string
  order: Order
  /** Its place in the order; -1 before the first. */
  position: number
  /** The first place that nobody has planned to ask for. */
  planned: number
  /** The place of the walk in its whole; undefined until a second folder was entered. */
  trail: Trail | undefined
}

/** A walk as a whole, across all levels of the tree. */
export interface Trail {
  /** How many folders ahead are asked for; doubles with every folder that was foreseen rightly. */
  reach: number
  /** The paths of folders that were asked for and not entered yet. */
  readonly ahead: Set<string>
}

/** A directory as it was listed. */
export interface Folder {
  readonly path: string
  readonly node: DirectoryNode
  readonly entries: readonly Dentry[]
  /** Those that a walk would enter, in the listing's order. */
  readonly folders: readonly Dentry[]
  readonly walkers: Walker[]
}

/** Who skips more folders than these is not on the same walk. */
const skipAtMost = 4
const walkersAtMost = 16

export function folderOf(path: string, node: DirectoryNode, entries: readonly Dentry[]): Folder {
  const folders = chosen(entries, ({ node }) => node.kind === 'project' || node.kind === 'calculation')
  return { path, node, entries, folders, walkers: [] }
}

/** Whether a folder shows the same names as before, so that its walkers are still where they were. */
export const sameFolders = (one: Folder, other: readonly Dentry[]): boolean =>
  one.entries.length === other.length && one.entries.every(({ name }, at) => name === other[at]?.name)

const listingOrders = new WeakMap<Folder, Order>()
const nameOrders = new WeakMap<Folder, Order>()

const orderOf = (folders: readonly Dentry[]): Order => ({
  folders,
  places: nameIndex(folders),
})

function listingOrder(folder: Folder): Order {
  const known = listingOrders.get(folder) ?? orderOf(folder.folders)
  listingOrders.set(folder, known)
  return known
}

function nameOrder(folder: Folder): Order {
  const sorted = () => folder.folders.toSorted((one, other) => (one.name < other.name ? -1 : 1))
  const known = nameOrders.get(folder) ?? orderOf(sorted())
  nameOrders.set(folder, known)
  return known
}

/** Somebody enters a folder: who it is, and whether it was where he was expected. */
export interface Step {
  readonly walker: Walker
  readonly as: 'next' | 'there already' | 'stranger'
  /** The folder he comes from; '' for none. */
  readonly from: string
}

/** Finds the walker for whom this folder is next, or begins a new one. Undefined for what is no folder of it. */
export function stepInto(folder: Folder, name: string): Step | undefined {
  const listing = listingOrder(folder)
  if (listing.places.find(name) === undefined) return undefined
  for (const walker of folder.walkers) {
    if (walker.last === name) return { walker, as: 'there already', from: name }
    const place = walker.order.places.find(name) ?? -1
    if (isNext(walker, place)) return moved(walker, name, place)
  }
  // Who has made one step only may be on the other order.
  for (const walker of folder.walkers) {
    if (walker.trail !== undefined) continue
    const order = nameOrder(folder)
    const step = (order.places.find(name) ?? -1) - (order.places.find(walker.last) ?? 0)
    if (step < 1 || step > skipAtMost) continue
    const place = order.places.find(name) ?? 0
    Object.assign(walker, { order, planned: place + 1 })
    return moved(walker, name, place)
  }
  const place = listing.places.find(name) ?? 0
  const walker = { last: name, order: listing, position: place, planned: place + 1, trail: undefined }
  folder.walkers.push(walker)
  if (folder.walkers.length > walkersAtMost) folder.walkers.shift()
  return { walker, as: 'stranger', from: '' }
}

function isNext(walker: Walker, place: number): boolean {
  if (place <= walker.position) return false
  return place < walker.planned || place - walker.position <= skipAtMost
}

function moved(walker: Walker, name: string, place: number): Step {
  const from = walker.last
  walker.last = name
  walker.position = place
  walker.planned = Math.max(walker.planned, place + 1)
  return { walker, as: 'next', from }
}

/** A walker who has not entered anything yet: the folder itself was only foreseen. */
export function expectWalker(folder: Folder, trail: Trail): void {
  if (folder.walkers.length > 0) return
  folder.walkers.push({ last: '', order: listingOrder(folder), position: -1, planned: 0, trail })
}

/** The walker of a trail in this folder, if it leads through it. */
export const walkerOn = (folder: Folder | undefined, trail: Trail): Walker | undefined =>
  folder?.walkers.find(walker => walker.trail === trail)

/** The next folder that nobody has asked for, depth first: what was foreseen comes with all that is in it. */
export function nextAhead(
  folder: Folder,
  walker: Walker,
  known: (path: string) => Folder | undefined,
): { readonly path: string; readonly dentry: Dentry } | undefined {
  for (let at = walker.position + 1; at < walker.planned; at += 1) {
    const dentry = walker.order.folders[at]
    if (dentry === undefined || walker.trail === undefined) continue
    const below = known(`${folder.path}/${dentry.name}`)
    const expected = below === undefined ? undefined : walkerOn(below, walker.trail)
    if (below === undefined || expected === undefined) continue
    const next = nextAhead(below, expected, known)
    if (next !== undefined) return next
  }
  const dentry = walker.order.folders[walker.planned]
  if (dentry === undefined) return undefined
  walker.planned += 1
  return { path: `${folder.path}/${dentry.name}`, dentry }
}
