// Listed directory: what a directory showed, and the orders in which programs may take its folders.
import { type NameIndex, nameIndex } from '../../record/compact/name-index.js'
import { type Dentry, filterEntries } from '../nodes/node.js'

/** One order of a directory's folders: their places, and where in the sequence a place is. */
interface FolderOrder {
  readonly sequence: Uint32Array
  readonly positions: Uint32Array
}

/** Of more folders the order of their names is not made: a sort holds the event loop. */
const sortedAtMost = 8_192

/** A directory as it was listed. It may hold thousands, so that what is found in it is found once. */
export class ListedDirectory {
  /** Those that a walk would enter, in the listing's order; a folder's place is its index here. */
  readonly folders: readonly Dentry[]
  #places: NameIndex | undefined
  #orders: readonly [FolderOrder, FolderOrder] | undefined
  #files: readonly Dentry[] | undefined
  #filePlaces: ReadonlyMap<string, number> | undefined

  constructor(
    readonly path: string,
    readonly entries: readonly Dentry[],
  ) {
    this.folders = filterEntries(
      entries,
      ({ node }) => node.kind === 'project' || node.kind === 'calculation',
    )
  }

  /** True if it shows the same names, so that its walkers are still where they were. */
  shows(entries: readonly Dentry[]): boolean {
    return (
      this.entries.length === entries.length &&
      this.entries.every(({ name }, at) => name === entries[at]?.name)
    )
  }

  /** The place of a folder by its name; undefined for what a walk does not enter. */
  placeOf(name: string): number | undefined {
    this.#places ??= nameIndex(this.folders)
    return this.#places.find(name)
  }

  /** The listing's order, and that of the names as a locale takes it. */
  get orders(): readonly [FolderOrder, FolderOrder] {
    if (this.#orders !== undefined) return this.#orders
    const { folders } = this
    const listing = Uint32Array.from(folders.keys())
    const byName = folders.length > sortedAtMost ? listing : placesByName(folders)
    this.#orders = [folderOrder(listing), folderOrder(byName)]
    return this.#orders
  }

  get files(): readonly Dentry[] {
    this.#files ??= this.entries.filter(({ node }) => node.kind === 'content')
    return this.#files
  }

  placeOfFile(name: string): number | undefined {
    this.#filePlaces ??= new Map(this.files.map(({ name }, place) => [name, place]))
    return this.#filePlaces.get(name)
  }
}

function placesByName(folders: readonly Dentry[]): Uint32Array {
  const { compare } = new Intl.Collator('en')
  const names = folders.map(({ name }) => name)
  return Uint32Array.from(names.keys()).sort((one, other) => compare(names[one] ?? '', names[other] ?? ''))
}

function folderOrder(sequence: Uint32Array): FolderOrder {
  const positions = new Uint32Array(sequence.length)
  for (const [position, place] of sequence.entries()) positions[place] = position
  return { sequence, positions }
}
