// Inodes: which thing each node id of the kernel stands for, where it was last, how often the kernel has looked it up, and who writes it.
import type { Attributes } from '../drive/interface/attributes.js'
import type { Call } from '../drive/interface/verbs.js'
import { isEditable, type Node, nodeKey } from '../drive/nodes/node.js'
import { type Place, pathOf, rootPlace } from '../drive/nodes/place.js'
import { Failure } from '../failure.js'
import { RecentMap } from '../recent-map.js'
import { groupOf, processOf } from '../system/process.js'
import { rootId } from './protocol.js'

/** One node id. It stands for one version of one thing below one directory, and never for another one. */
export class Inode implements Place {
  /** The open handles of it. */
  handles = 0
  /** How many of those may write. */
  writers = 0
  /** LOOKUP answers less what FORGET took back. */
  lookups = 0
  /** The names below it, as the kernel was told them last. */
  children: Map<string, Inode> | undefined
  /** The kernel's last attributes, while a handle is open: an open file stays what it is. */
  told: Attributes | undefined
  /** The thing whose listing its names are, where that is another one. */
  alsoThing: string | undefined
  /** Grows with each change that the kernel is told of: of a directory's names, of a file's bytes. */
  generation = 0
  /** The generation of the kernel's pages; of a directory, of its names there. */
  pages: number | undefined
  /** Its name leads to another thing by now, or to none, and the kernel was told so by ESTALE. */
  isLeft = false
  /** The second until which its names in the kernel count: a whole number takes no room of its own. */
  namesUntil = 0
  /** The thread that alone has looked it up, until it takes it. */
  thread: number | undefined
  /** The node last found at its name, where that may be told again. */
  found: Attributes | undefined
  /** The state of all in which that was told. */
  foundIn = 0

  constructor(
    readonly id: number,
    /** The last known place: a directory and a name in it. */
    public parent: Inode | undefined,
    public name: string,
    /** As it was found last. */
    public node: Node,
    /** By its node's key. */
    public thing: string,
    /** Undefined: it takes the version, and the thing, that is found at its name next. */
    public version: string | undefined,
    public ino: bigint,
    readonly isDirectory: boolean,
  ) {}

  /** A text with handles that all keep it as it is. */
  get isOnlyRead(): boolean {
    return this.handles > 0 && this.writers === 0 && this.told?.bytes === 'text'
  }

  /** An open file that is another one than its name stands for goes on showing this. */
  retell(shown: Partial<Pick<Attributes, 'size' | 'mtime'>> | undefined): void {
    if (this.told !== undefined) this.told = { ...this.told, ...shown }
  }
}

export interface Found {
  readonly node: Node
  readonly thing: string
  readonly version: string
  /** The parts of its inode number: a record has one whatever its text is, a content that replaced another has another one. */
  readonly numbered: string
  readonly isDirectory: boolean
  /** It is being written, or not saved. */
  readonly isChanging?: boolean
}

export class Inodes {
  readonly root: Inode
  /** How many times something was said to be another one now. */
  news = 0
  readonly #byId = new Map<number, Inode>()
  /** Nearly every thing has one: a set for each takes more room than the inodes. */
  readonly #byThing = new Map<string, Inode | Set<Inode>>()
  /** By thread: the file that it came to. */
  readonly #sentAway = new RecentMap<number, Inode>(256)
  #last = rootId

  constructor() {
    const { node, name } = rootPlace
    const thing = nodeKey(node)
    this.root = new Inode(rootId, undefined, name, node, thing, thing, inodeNumber(thing), true)
    this.root.lookups = 1
    this.#byId.set(rootId, this.root)
    this.#note(this.root)
  }

  get size(): number {
    return this.#byId.size
  }

  /** @throws Failure 'stale-attributes' for an id that was forgotten */
  get(id: number): Inode {
    const found = this.#byId.get(id)
    if (found === undefined) throw new Failure('stale-attributes', `node ${id} is not known any more`)
    return found
  }

  /** Of a node, or of a name in it; for logs. */
  pathOf(id: number, name?: string): string {
    const parent = this.#byId.get(id) ?? this.root
    return pathOf(name === undefined ? parent : { parent, name })
  }

  ofThing(thing: string): Iterable<Inode> {
    const known = this.#byThing.get(thing)
    return known instanceof Inode ? [known] : (known ?? [])
  }

  get all(): Iterable<Inode> {
    return this.#byId.values()
  }

  /**
   * The inode of what was found at a name. Another thing, or another version of a file, is another inode; a file that is
   * being written goes on under its id, and so does what a rename brought there.
   */
  at(parent: Inode, name: string, found: Found): Inode {
    const before = parent.children?.get(name)
    return before !== undefined && this.#goesOn(before, found)
      ? before
      : this.#put(this.#made(parent, name, found))
  }

  /** True if it is what was found at its name. Nothing takes its place there: it is told of news for as long as the kernel has it. */
  stands(inode: Inode, found: Found): boolean {
    return inode.parent?.children?.get(inode.name) === inode && this.#goesOn(inode, found)
  }

  #goesOn(inode: Inode, found: Found): boolean {
    if (inode.isDirectory !== found.isDirectory) return false
    const isWritten = inode.writers > 0 && inode.thing === found.thing && found.isChanging === true
    if (inode.version === undefined || isWritten) this.#become(inode, found)
    if (inode.thing !== found.thing || inode.version !== found.version) return false
    inode.node = found.node
    inode.isLeft = false
    return true
  }

  #made(parent: Inode, name: string, found: Found): Inode {
    this.#last += 1
    const { node, thing, version, numbered, isDirectory } = found
    const ino = inodeNumber(numbered)
    // The listing's own string, where it is an equal one: a hundred thousand names are held once.
    const own = 'title' in node && node.title === name ? node.title : name
    const made = new Inode(this.#last, parent, own, node, thing, version, ino, isDirectory)
    this.#byId.set(made.id, made)
    this.#note(made)
    return made
  }

  /** A text that is not open takes the place of the one before it: an open drops the pages of that. False where it is no such. */
  renew(inode: Inode, found: Found): boolean {
    const isHere = inode.parent?.children?.get(inode.name) === inode
    if (!isHere || inode.handles > 0 || inode.thing !== found.thing || inode.version === found.version)
      return false
    this.#become(inode, found)
    return true
  }

  #become(inode: Inode, found: Found): void {
    if (inode.thing !== found.thing) {
      this.#unnote(inode, inode.thing)
      inode.thing = found.thing
      inode.ino = inodeNumber(found.numbered)
      this.#note(inode)
    }
    inode.version = found.version
  }

  #note(inode: Inode, thing = inode.thing): void {
    const known = this.#byThing.get(thing)
    if (known instanceof Set) known.add(inode)
    else this.#byThing.set(thing, known === undefined || known === inode ? inode : new Set([known, inode]))
  }

  #unnote(inode: Inode, thing: string): void {
    const known = this.#byThing.get(thing)
    if (known instanceof Set) known.delete(inode)
    if (known === inode || (known instanceof Set && known.size === 0)) this.#byThing.delete(thing)
  }

  /** The entries of a directory are listed by another thing: `projects/` shows a project. News of that are news of it. */
  alsoNews(inode: Inode, thing: string): void {
    if (inode.alsoThing === thing) return
    inode.alsoThing = thing
    this.#note(inode, thing)
  }

  /** The name was taken away, or stands for another text from here on: what is found under it has another id. */
  removed(parent: Inode, name: string): void {
    parent.children?.delete(name)
  }

  /** ESTALE: the kernel looks the name up again for this thread. A directory that is used on (a working directory) is told so once. */
  sentAway(thread: number, inode: Inode): Failure {
    inode.isLeft = inode.isDirectory
    inode.found = undefined
    if (!inode.isDirectory) this.#sentAway.set(thread, inode)
    return new Failure('stale-attributes', `${pathOf(inode)} is another thing, or another text, by now`)
  }

  /** The node that it finds then: one for it alone, or others could send it away once more, and the kernel tries only twice. */
  forSentAway(thread: number, parent: Inode, name: string, found: Found): Inode | undefined {
    const left = this.#sentAway.get(thread)
    if (left?.parent !== parent || left.name !== name || found.isDirectory) return undefined
    const own = this.#made(parent, name, found)
    own.version = undefined
    own.thread = thread
    return own
  }

  /** It takes that node: from here on this is the file of its name. */
  arrived(thread: number, inode: Inode): boolean {
    if (inode.thread !== thread) return false
    inode.thread = undefined
    this.named(inode)
    return this.#sentAway.delete(thread)
  }

  /** RENAME moves the kernel's inode: what is below it goes along. A file has its new name once that is known to be its own. */
  moved(
    parent: Inode,
    name: string,
    to: { readonly parent: Inode; readonly name: string },
  ): Inode | undefined {
    const inode = parent.children?.get(name)
    this.removed(to.parent, to.name)
    if (inode === undefined) return undefined
    this.removed(parent, name)
    inode.parent = to.parent
    inode.name = to.name
    if (inode.isDirectory) this.named(inode)
    return inode
  }

  /** It stands at its name, whatever version is found there next. */
  named(inode: Inode): void {
    if (!inode.isDirectory) inode.version = undefined
    this.#put(inode)
  }

  #put(inode: Inode): Inode {
    const { parent, name } = inode
    if (parent === undefined) return inode
    parent.children ??= new Map()
    const before = parent.children.get(name)
    if (before !== undefined && before !== inode) before.found = undefined
    parent.children.set(name, inode)
    return inode
  }

  forget(id: number, count: number): void {
    const inode = this.#byId.get(id)
    if (inode === undefined || id === rootId) return
    inode.lookups = Math.max(0, inode.lookups - count)
    this.dropUnused(inode)
  }

  /** The kernel forgets a directory after what is below it, and a file after its handles. */
  dropUnused(inode: Inode): void {
    if (inode.lookups > 0 || inode.handles > 0 || inode.id === rootId) return
    this.#byId.delete(inode.id)
    this.#unnote(inode, inode.thing)
    if (inode.alsoThing !== undefined) this.#unnote(inode, inode.alsoThing)
    if (inode.parent?.children?.get(inode.name) === inode) inode.parent.children.delete(inode.name)
  }
}

/**
 * `cp -r` and others take the folders of a directory by their inode numbers: these are in the order of the ids, as a listing is.
 * They are below 2^53: programs in JavaScript hold them as doubles, and two that round to one would be one folder.
 */
const orderedKey = /^(project|calculation) ([1-9]\d{0,11})$/
const firstOf = { project: 1n << 50n, calculation: 1n << 51n }
const hashed = 1n << 63n

/**
 * The inode number of a thing, the same on every machine and after each mount: of a folder its id, else 63 bits of its key. Two
 * multiplicative hashes of 32 bits with different constants, mixed as MurmurHash3 ends; among a million things two share one
 * with a chance of 6 in 100 million.
 */
export function inodeNumber(key: string): bigint {
  const [, kind, id] = orderedKey.exec(key) ?? []
  if (id !== undefined) return firstOf[kind as keyof typeof firstOf] + BigInt(id)
  let one = 0xdeadbeef ^ key.length
  let other = 0x41c6ce57 ^ key.length
  for (let at = 0; at < key.length; at += 1) {
    const code = key.charCodeAt(at)
    one = Math.imul(one ^ code, 2_654_435_761)
    other = Math.imul(other ^ code, 1_597_334_677)
  }
  const first = mixed(one ^ (other >>> 15))
  const second = mixed(other ^ (one >>> 13))
  return hashed | (BigInt(first) << 32n) | BigInt(second)
}

function mixed(bits: number): number {
  const once = Math.imul(bits ^ (bits >>> 16), 0x85ebca6b)
  const twice = Math.imul(once ^ (once >>> 13), 0xc2b2ae35)
  return (twice ^ (twice >>> 16)) >>> 0
}

/** Nothing else needs to know it, and looking takes time. */
export const callBy = ({ node }: Inode, thread: number): Call | undefined =>
  isEditable(node) ? { process: processOf(thread) } : undefined

/** The processes that have written through one handle. */
export class Writers {
  /** By thread; undefined where the group is not known. */
  readonly #groups = new Map<number, number | undefined>()

  note(thread: number): void {
    if (!this.#groups.has(thread)) this.#groups.set(thread, groupOf(thread))
  }

  /** True if others have written, and this thread is of none of them; one that is not known may be. */
  isAnother(thread: number): boolean {
    if (this.#groups.size === 0 || this.#groups.has(thread)) return false
    const group = groupOf(thread)
    const groups = [...this.#groups.values()]
    return group !== undefined && !groups.includes(undefined) && !groups.includes(group)
  }
}
