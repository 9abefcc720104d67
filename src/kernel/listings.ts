// Listings: open directories, what the kernel may keep of them, and their names as READDIR and READDIRPLUS answer them.
import { modeOf } from '../drive/interface/attributes.js'
import type { Listing } from '../drive/interface/verbs.js'
import { type Dentry, nodeKey } from '../drive/nodes/node.js'
import { asFailure, errnoOf, Failure } from '../failure.js'
import type { MaybePromise } from '../maybe-promise.js'
import {
  type Answer,
  inodeAt,
  lifetimesOf,
  nothing,
  type RequestParts,
  secondsTo,
  shownOf,
} from './entries.js'
import { type Inode, inodeNumber } from './inodes.js'
import { type Header, handleIn, opcodes, type ReadIn, readIn } from './protocol.js'
import { direntplusFits, openFlags, putDirent, putEntry, putOpened, Reply } from './reply.js'

interface OpenDirectory {
  readonly inode: Inode
  /** Of the names that this handle reads. */
  generation: number
  /** The kernel keeps what it reads by this handle. */
  readonly isKept: boolean
  listing: Listing | undefined
}

/** `.` and `..` come first. */
const dots = 2
const noTime = { name: 0, attributes: 0 }

export class Listings {
  readonly #open = new Map<number, OpenDirectory>()
  #last = 0

  constructor(private readonly parts: RequestParts) {}

  /** Never ENOSYS, which would spare this call for good: who reads on after the names have changed would be shown an early end. */
  open({ node }: Header): Answer {
    const inode = this.parts.inodes.get(node)
    const { generation, pages, namesUntil } = inode
    // A kept listing may be filled by an answer that was on its way when the names changed.
    const isKept =
      isTold(inode) &&
      ![...this.#open.values()].some(open => open.inode === inode && open.generation !== generation)
    const isFresh = pages === generation && this.parts.clock.now() < namesUntil * 1000
    this.#last += 1
    const handle = this.#last
    this.#open.set(handle, { inode, generation, isKept, listing: undefined })
    inode.handles += 1
    const flags = isKept ? openFlags.cacheDir | (isFresh ? openFlags.keepCache : 0) : 0
    return { reply: putOpened(new Reply(), handle, flags), undo: () => this.#close(handle) }
  }

  release(message: Buffer): Answer {
    this.#close(handleIn(message))
    return nothing()
  }

  #close(handle: number): void {
    const open = this.#open.get(handle)
    if (open === undefined) return
    this.#open.delete(handle)
    open.inode.handles -= 1
    this.parts.inodes.dropUnused(open.inode)
  }

  read(message: Buffer, { opcode }: Header): MaybePromise<Answer> {
    const wanted = readIn(message)
    const open = this.#open.get(wanted.handle)
    if (open === undefined) throw new Failure('bad-handle', 'no directory is open under this number')
    const isPlus = opcode === opcodes.readdirplus
    // rewinddir(3) begins again, with what is there then.
    if (wanted.offset > 0 && open.listing !== undefined)
      return this.#names(open.inode, open.listing, wanted, isPlus)
    return this.#list(open).then(listing => this.#names(open.inode, listing, wanted, isPlus))
  }

  /** ENOENT would be the end of the directory to readdir(3), and `ls` would show an empty one. */
  async #list(open: OpenDirectory): Promise<Listing> {
    const { inode } = open
    const { generation } = inode
    open.generation = generation
    try {
      const listing = await this.parts.drive.readdir(inode)
      open.listing = listing
      if (!open.isKept) return listing
      inode.pages = generation
      inode.namesUntil = Math.floor(this.parts.clock.now() / 1000 + secondsTo(listing.until, this.parts))
      return listing
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (errnoOf(failure.kind) !== 'ENOENT') throw failure
      throw new Failure('in-doubt', failure.message, { cause: failure })
    }
  }

  #names(inode: Inode, listing: Listing, { offset, size }: ReadIn, isPlus: boolean): Answer {
    const { entries } = listing
    const reply = new Reply(size)
    const entered: Inode[] = []
    for (let at = offset; at < entries.length + dots; at += 1) {
      const entry = at < dots ? dotOf(inode, at) : entries[at - dots]
      if (entry === undefined) break
      const { name, node } = entry
      if (isPlus && !direntplusFits(reply, size, name)) break
      const known = isPlus ? this.#put(reply, inode, entry, at < dots ? undefined : listing) : undefined
      if (known !== undefined) entered.push(known)
      const ino = known?.ino ?? inodeNumber(nodeKey(node))
      if (!putDirent(reply, size, { ino, name, next: at + 1, mode: modeOf(node, false) })) break
    }
    return { reply, entered }
  }

  /** The entry of a name whose attributes are known without a question; any other is node 0, which the kernel looks up when it needs it. */
  #put(reply: Reply, parent: Inode, { name, node }: Dentry, listing?: Listing): Inode | undefined {
    const before = parent.children?.get(name)
    const remembered = this.parts.remembered.of(before)
    const attributes = remembered ?? listing?.known(node)
    if (attributes === undefined) {
      putEntry(reply, 0, noTime, undefined)
      return undefined
    }
    const inode = remembered && before ? before : inodeAt(this.parts.inodes, parent, name, attributes)
    if (remembered === undefined) this.parts.remembered.keep(inode, attributes, this.parts.remembered.state)
    putEntry(reply, inode.id, lifetimesOf(attributes, this.parts), shownOf(inode, attributes))
    return inode
  }
}

/** Of these the drive tells each change of names. */
const isTold = ({ thing }: Inode): boolean => /^(project|calculation) /.test(thing)

/** The kernel takes no count of these two, and keeps nothing of them. */
const dotOf = (inode: Inode, at: number): Dentry =>
  at === 0 ? { name: '.', node: inode.node } : { name: '..', node: (inode.parent ?? inode).node }
