// Listed directory: what a directory showed, and the orders in which programs may take its folders.
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import { type Dentry, type DirectoryNode, filterEntries } from '../nodes/node.js'

/** A directory as it was listed. */
export interface ListedDirectory {
  readonly path: string
  readonly node: DirectoryNode
  readonly entries: readonly Dentry[]
  /** Those that a walk would enter, in the listing's order; a folder's place is its index here. */
  readonly folders: readonly Dentry[]
}

/** One order of a directory's folders. */
export interface FolderOrder {
  /** Places, in this order. */
  readonly sequence: Uint32Array
  /** Where in the sequence a place is. */
  readonly positions: Uint32Array
}

/** Of more folders the order of their names is not made: a sort holds the event loop. */
const sortedAtMost = 8_192

export function listedDirectory(
  path: string,
  node: DirectoryNode,
  entries: readonly Dentry[],
): ListedDirectory {
  const folders = filterEntries(entries, ({ node }) => node.kind === 'project' || node.kind === 'calculation')
  return { path, node, entries, folders }
}

/** True if a folder shows the same names as before, so that its walkers are still where they were. */
export const sameFolders = (one: ListedDirectory, other: readonly Dentry[]): boolean =>
  one.entries.length === other.length && one.entries.every(({ name }, at) => name === other[at]?.name)

const indexes = new WeakMap<ListedDirectory, NameIndex>()
const orders = new WeakMap<ListedDirectory, readonly [FolderOrder, FolderOrder]>()

/** The place of a folder by its name; undefined for what a walk does not enter. */
export function placeOf(folder: ListedDirectory, name: string): number | undefined {
  const known = indexes.get(folder) ?? nameIndex(folder.folders)
  indexes.set(folder, known)
  return known.find(name)
}

/** The listing's order, and that of the names as a locale takes it. */
export function ordersOf(folder: ListedDirectory): readonly [FolderOrder, FolderOrder] {
  const known = orders.get(folder)
  if (known !== undefined) return known
  const { folders } = folder
  const listing = Uint32Array.from(folders, (_, place) => place)
  const made: readonly [FolderOrder, FolderOrder] = [
    folderOrder(listing),
    folderOrder(folders.length > sortedAtMost ? listing : byName(folders)),
  ]
  orders.set(folder, made)
  return made
}

function byName(folders: readonly Dentry[]): Uint32Array {
  const { compare } = new Intl.Collator('en')
  const names = folders.map(({ name }) => name)
  return Uint32Array.from(names.keys()).sort((one, other) => compare(names[one] ?? '', names[other] ?? ''))
}

function folderOrder(sequence: Uint32Array): FolderOrder {
  const positions = new Uint32Array(sequence.length)
  for (const [position, place] of sequence.entries()) positions[place] = position
  return { sequence, positions }
}
