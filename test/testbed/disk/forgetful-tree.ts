// A file system in memory that knows what a power cut may take: all that was not fsynced, names apart from bytes.
import type { Chance } from '../../long/chance.js'

/** A name in a directory that was set, or taken away, and is not yet there for good. */
interface Change {
  readonly directory: Folder
  readonly name: string
  readonly node: Node | undefined
}

export interface Folder {
  readonly kind: 'directory'
  entries: Map<string, Node>
  /** The entries that a cut cannot take. */
  kept: Map<string, Node>
  mtime: number
}

export interface File {
  readonly kind: 'file'
  bytes: Buffer
  size: number
  /** The content as of the last fsync. */
  kept: Buffer
  mode: number
  mtime: number
}

export type Node = Folder | File

/**
 * What a cut takes of what was not fsynced. all: everything. order: names up to one moment survive, as with an ordered
 * journal, and no bytes. any: each change of a name, each page and each length by itself, as POSIX allows.
 */
export const cuts = ['all', 'order', 'any'] as const
export type Cut = (typeof cuts)[number]

export const pageBytes = 4096

/** A rename is one change of two names: it survives whole or not at all, as on every file system with a journal. */
export class ForgetfulTree {
  private pending: (readonly Change[])[] = []
  readonly root: Folder = this.folder()

  folder(): Folder {
    return { kind: 'directory', entries: new Map(), kept: new Map(), mtime: Date.now() }
  }

  file(mode: number): File {
    const bytes = Buffer.alloc(0)
    return { kind: 'file', bytes, size: 0, kept: bytes, mode, mtime: Date.now() }
  }

  at(path: string): Node | undefined {
    let node: Node | undefined = this.root
    for (const name of path.split('/').filter(part => part !== ''))
      node = node?.kind === 'directory' ? node.entries.get(name) : undefined
    return node
  }

  /** The directory that a path lies in, and the last name. */
  placeOf(path: string): { directory: Folder; name: string } | undefined {
    const cut = path.lastIndexOf('/')
    const directory = this.at(path.slice(0, cut))
    return directory?.kind === 'directory' ? { directory, name: path.slice(cut + 1) } : undefined
  }

  /** Sets and takes away names, as one operation. */
  change(...changes: readonly Change[]): void {
    for (const { directory, name, node } of changes) {
      set(directory.entries, name, node)
      directory.mtime = Date.now()
    }
    this.pending.push(changes)
  }

  /** fsync(2): of a file its bytes, and not its name; of a directory the names in it. */
  sync(node: Node): void {
    if (node.kind === 'file') {
      node.kept = Buffer.from(node.bytes.subarray(0, node.size))
      return
    }
    const isOf = (changes: readonly Change[]) => changes.some(({ directory }) => directory === node)
    this.keep(this.pending.filter(isOf))
    this.pending = this.pending.filter(changes => !isOf(changes))
  }

  /** The power goes: what is left is what the next start finds. */
  cut(how: Cut, pick: Chance): void {
    const whole = how === 'order' ? pick.whole(0, this.pending.length) : 0
    this.keep(this.pending.filter((_, at) => (how === 'any' ? pick.once(2) : at < whole)))
    this.pending = []
    this.settle(this.root, how, pick)
  }

  private keep(operations: readonly (readonly Change[])[]): void {
    for (const { directory, name, node } of operations.flat()) set(directory.kept, name, node)
  }

  private settle(node: Node, how: Cut, pick: Chance): void {
    if (node.kind === 'directory') {
      node.entries = new Map(node.kept)
      for (const child of node.entries.values()) this.settle(child, how, pick)
      return
    }
    const left = how === 'any' ? mixed(node, pick) : node.kept
    node.bytes = left
    node.kept = left
    node.size = left.length
  }
}

function set(entries: Map<string, Node>, name: string, node: Node | undefined): void {
  if (node === undefined) entries.delete(name)
  else entries.set(name, node)
}

/** Either length, and of each page the old bytes, the new ones, or zeros where there was nothing before. */
function mixed({ bytes, size, kept }: File, pick: Chance): Buffer {
  const now = bytes.subarray(0, size)
  if (now.equals(kept)) return kept
  const left = Buffer.alloc(pick.once(2) ? now.length : kept.length)
  for (let at = 0; at < left.length; at += pageBytes)
    left.set((pick.once(2) ? now : kept).subarray(at, Math.min(at + pageBytes, left.length)), at)
  return left
}
