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

/** In a locale, punctuation is before digits and letters, and in this order. */
const punctuation = ' _-,;:!?.\'"()[]{}@*\\&#%`^+<=>|~$'
const marksOfPunctuation = /[ -/:-@[-`{-~]/g

/** `find` and `os.walk` take the listing's order, `ls` the code points or those of a locale, file managers count numbers. */
const keys: readonly (((name: string) => string) | undefined)[] = [
  undefined,
  name => name,
  name =>
    name
      .normalize('NFD')
      .replace(/\p{M}/gu, '')
      .toLowerCase()
      .replace(marksOfPunctuation, mark => String.fromCharCode(1 + punctuation.indexOf(mark))),
  name => name.toLowerCase().replace(/\d+/g, digits => digits.padStart(numberWidth, '0')),
]
export const orderCount = keys.length
const numberWidth = 20
/** Of more folders only the first two orders are made: a sort holds the event loop. */
const sortedAtMost = 8_192

export function listedDirectory(
  path: string,
  node: DirectoryNode,
  entries: readonly Dentry[],
): ListedDirectory {
  const folders = filterEntries(entries, ({ node }) => node.kind === 'project' || node.kind === 'calculation')
  return { path, node, entries, folders }
}

/** Whether a folder shows the same names as before, so that its walkers are still where they were. */
export const sameFolders = (one: ListedDirectory, other: readonly Dentry[]): boolean =>
  one.entries.length === other.length && one.entries.every(({ name }, at) => name === other[at]?.name)

const indexes = new WeakMap<ListedDirectory, NameIndex>()
const orders = new WeakMap<ListedDirectory, readonly FolderOrder[]>()

/** The place of a folder by its name; undefined for what a walk does not enter. */
export function placeOf(folder: ListedDirectory, name: string): number | undefined {
  const known = indexes.get(folder) ?? nameIndex(folder.folders)
  indexes.set(folder, known)
  return known.find(name)
}

/** All kinds of orders, always in the same succession; kinds that give the same sequence share one. */
export function ordersOf(folder: ListedDirectory): readonly FolderOrder[] {
  const known = orders.get(folder)
  if (known !== undefined) return known
  const made: FolderOrder[] = []
  for (const key of keys) {
    const last = made.at(-1)
    const order =
      last !== undefined && made.length > 1 && folder.folders.length > sortedAtMost
        ? last
        : folderOrder(folder.folders, key)
    made.push(made.find(other => isSame(other.sequence, order.sequence)) ?? order)
  }
  orders.set(folder, made)
  return made
}

function folderOrder(folders: readonly Dentry[], key: ((name: string) => string) | undefined): FolderOrder {
  const sequence = Uint32Array.from(folders, (_, place) => place)
  if (key !== undefined) {
    const sorted = folders.map(({ name }) => key(name))
    sequence.sort((one, other) => compare(sorted[one] ?? '', sorted[other] ?? '') || one - other)
  }
  const positions = new Uint32Array(sequence.length)
  for (const [position, place] of sequence.entries()) positions[place] = position
  return { sequence, positions }
}

const compare = (one: string, other: string): number => (one < other ? -1 : one > other ? 1 : 0)

const isSame = (one: Uint32Array, other: Uint32Array): boolean =>
  one.every((place, at) => place === other[at])
