// Requests: what each one asks of the drive, and the answer as the kernel reads it.
import type { Attributes } from '../drive/interface/attributes.js'
import type { OpenAccess } from '../drive/interface/verbs.js'
import { isEditable } from '../drive/nodes/node.js'
import type { Name } from '../drive/nodes/place.js'
import { Failure, isAbsent } from '../failure.js'
import { attempt, chain, type MaybePromise } from '../maybe-promise.js'
import { byteOffset, instant } from '../remote/remote.js'
import { processOf } from '../system/process.js'
import {
  type Answer,
  foundBy,
  inodeAt,
  isStill,
  lifetimesOf,
  nothing,
  type RequestParts,
  shownOf,
} from './entries.js'
import { callBy, type Inode, Writers } from './inodes.js'
import {
  getxattrIn,
  type Header,
  handleIn,
  listxattrSize,
  openAccessIn,
  readIn,
  renameIn,
  type SetattrIn,
  setattrIn,
  writeIn,
} from './protocol.js'
import { openFlags, putAttrOut, putEntry, putOpened, putSpace, putWritten, Reply } from './reply.js'

interface OpenFile {
  readonly inode: Inode
  /** It was opened to be written, or has written something since its last flush. */
  isWriter: boolean
  /** Who has written through it, where it is a record. */
  writers?: Writers
}

/** Who asked, and in which state of all that was told. */
interface Asked {
  readonly thread: number
  readonly state: number
}

export class Requests {
  readonly #files = new Map<number, OpenFile>()

  constructor(private readonly parts: RequestParts) {}

  lookup({ node, pid }: Header, name: string): MaybePromise<Answer> {
    const parent = this.parts.inodes.get(node)
    const inode = parent.children?.get(name)
    const known = this.parts.remembered.of(inode)
    if (inode !== undefined && known !== undefined) return this.#entry(inode, known)
    const asked = { thread: pid, state: this.parts.remembered.state }
    const found = (attributes: Attributes) => this.#entered(parent, name, attributes, asked)
    return chain(this.parts.drive.lookup({ parent, name }), found)
  }

  #entry(inode: Inode, attributes: Attributes, lifetimes = lifetimesOf(attributes, this.parts)): Answer {
    return { reply: putEntry(new Reply(), inode.id, lifetimes, shownOf(inode, attributes)), entered: [inode] }
  }

  /** The inode of what was found at a name, or one that a thread alone looks up, whose next call takes it. */
  #entered(parent: Inode, name: string, attributes: Attributes, asked?: Asked): Answer {
    const found = foundBy(attributes)
    const own = asked && this.parts.inodes.forSentAway(asked.thread, parent, name, found)
    if (own !== undefined) return this.#entry(own, attributes, { name: 0, attributes: 1 })
    const inode = inodeAt(this.parts.inodes, parent, name, attributes, found)
    if (asked !== undefined) this.parts.remembered.keep(inode, attributes, asked.state)
    return this.#entry(inode, attributes)
  }

  getattr({ node, pid }: Header): MaybePromise<Answer> {
    const inode = this.parts.inodes.get(node)
    const known = this.parts.remembered.of(inode)
    if (known !== undefined) return this.#answer(inode, known, lifetimesOf(known, this.parts).attributes)
    const asked = { thread: pid, state: this.parts.remembered.state }
    const told = (attributes: Attributes): Answer => this.#attributes(inode, attributes, asked)
    if (inode.handles > 0) return this.#ofOpen(inode, told)
    // A working directory stays what it is under any name: after its one ESTALE the kernel has looked the name up.
    if (inode.isLeft || inode.thread === pid)
      return chain(this.parts.drive.getattr(inode), attributes => this.#answer(inode, attributes, 0))
    return attempt(() => chain(this.#atName(inode), told), this.#unlessGone(inode, pid))
  }

  /** A node that is gone is looked up again by the kernel, which finds that, and may make a file of the name. */
  #unlessGone(inode: Inode, thread: number): (thrown: unknown) => never {
    return thrown => {
      throw isAbsent(thrown) ? this.parts.inodes.sentAway(thread, inode) : thrown
    }
  }

  /** The node under its name now. */
  #atName(inode: Inode): MaybePromise<Attributes> {
    const { parent, name } = inode
    return parent === undefined ? this.parts.drive.getattr(inode) : this.parts.drive.lookup({ parent, name })
  }

  /** fstat(2) of a file whose name is gone answers what was told of it last, and of a directory what that is under any name. */
  async #ofOpen(inode: Inode, told: (attributes: Attributes) => Answer): Promise<Answer> {
    try {
      return told(await this.#atName(inode))
    } catch (thrown) {
      const shown = inode.isDirectory ? await this.parts.drive.getattr(inode) : inode.told
      if (shown === undefined) throw thrown
      return this.#answer(inode, shown, 0)
    }
  }

  /** Another thing or text at its name is another node: the kernel looks the name up again, and an open file stays what it is. */
  #attributes(inode: Inode, attributes: Attributes, { thread, state }: Asked): Answer {
    const told = inode.isDirectory ? undefined : inode.told
    if (isStill(this.parts.inodes, inode, attributes)) {
      this.parts.remembered.keep(inode, attributes, state)
      return this.#answer(inode, attributes, lifetimesOf(attributes, this.parts).attributes)
    }
    if (inode.handles > 0 && told !== undefined) return this.#answer(inode, told, 0)
    throw this.parts.inodes.sentAway(thread, inode)
  }

  #answer(inode: Inode, attributes: Attributes, seconds: number): Answer {
    if (inode.handles > 0) inode.told = attributes
    return { reply: putAttrOut(new Reply(), seconds, shownOf(inode, attributes)) }
  }

  async setattr(message: Buffer, { node, pid }: Header): Promise<Answer> {
    const wanted = setattrIn(message)
    const inode = this.parts.inodes.get(node)
    this.parts.inodes.arrived(pid, inode)
    if (wanted.handle !== undefined) this.#writes(wanted.handle, true)
    else if (wanted.size !== undefined && inode.isOnlyRead) throw this.parts.inodes.sentAway(pid, inode)
    await this.#change(inode, wanted)
    if (wanted.size !== undefined) inode.retell({ size: wanted.size })
    // A change through this node goes on under its id, unless it is the text that others read.
    if (!inode.isDirectory && !inode.isOnlyRead) inode.version = undefined
    const found = await this.#atName(inode)
    const told = isStill(this.parts.inodes, inode, found) ? undefined : inode.told
    return this.#answer(inode, told ?? found, 0)
  }

  async #change(inode: Inode, { size, handle, mtime, isMtimeNow, isOther }: SetattrIn): Promise<void> {
    if (size !== undefined && handle !== undefined)
      return this.parts.drive.ftruncate(handle, byteOffset(size))
    if (size !== undefined) return this.parts.drive.truncate(inode, byteOffset(size))
    if (isOther) await this.parts.drive.change(inode)
    if (mtime !== undefined)
      await this.parts.drive.touch(inode, isMtimeNow ? this.parts.clock.now() : instant(mtime))
  }

  readlink({ node }: Header): Answer {
    return { reply: new Reply().raw(Buffer.from(this.parts.drive.readlink(this.parts.inodes.get(node)))) }
  }

  open(message: Buffer, { node, pid }: Header): MaybePromise<Answer> {
    const access = openAccessIn(message)
    const inode = this.parts.inodes.get(node)
    const isSure = this.parts.inodes.arrived(pid, inode)
    // A text that is open stays its readers': who comes to write it finds another node at the name.
    if (access !== 'read' && inode.isOnlyRead) throw this.parts.inodes.sentAway(pid, inode)
    const opened = (handle: number) => this.#checked(inode, handle, access, isSure ? undefined : pid)
    return attempt(
      () => chain(this.parts.drive.open(inode, access, callBy(inode, pid)), opened),
      this.#unlessGone(inode, pid),
    )
  }

  /** It may have another text or version by now: after ESTALE the kernel looks the name up again, and opens that. */
  #checked(inode: Inode, handle: number, access: OpenAccess, thread?: number): MaybePromise<Answer> {
    const known = access === 'read' ? this.parts.remembered.of(inode) : undefined
    if (known !== undefined) return this.#opened(inode, handle, false, known)
    const compare = (attributes: Attributes): Answer => {
      const shown = { ...attributes, ...this.parts.drive.textOf(handle) }
      const isRenewed = shown.bytes === 'text' && this.parts.inodes.renew(inode, foundBy(shown))
      const isOther = !isStill(this.parts.inodes, inode, shown)
      if (isOther && thread !== undefined) throw this.parts.inodes.sentAway(thread, inode)
      const opened = this.#opened(inode, handle, access !== 'read', shown)
      return isRenewed ? { ...opened, renewed: inode } : opened
    }
    const refuse = (thrown: unknown): Answer => {
      // A file that is about to be written may have no text yet, or none any more.
      if (access === 'write-only' && isAbsent(thrown)) return this.#opened(inode, handle, true, undefined)
      void this.parts.drive.release(handle)
      throw thrown
    }
    return attempt(() => chain(this.parts.drive.getattr(inode), compare), refuse)
  }

  #opened(inode: Inode, handle: number, isWriter: boolean, attributes: Attributes | undefined): Answer {
    this.#files.set(handle, { inode, isWriter })
    inode.handles += 1
    // Pages are filled to the size that the writer has reached, with zeros where this handle's text is shorter.
    const isWritten = inode.writers > 0 && !isWriter
    if (isWriter) inode.writers += 1
    inode.told ??= attributes
    // Each read of a record comes here: what a program has read is the base of what it writes.
    const isContent = attributes?.bytes === 'content'
    const isKept = isContent && inode.pages === inode.generation
    inode.pages = inode.generation
    const pages = isKept ? openFlags.keepCache : isWritten ? openFlags.directIo : 0
    // A reader has nothing to flush. Older kernels know nothing of this flag, and close(2) waits for a flush there.
    const flags = isWriter ? pages : pages | openFlags.noFlush
    return { reply: putOpened(new Reply(), handle, flags), undo: () => void this.close(handle) }
  }

  #writes(handle: number, does: boolean, thread?: number): void {
    const file = this.#files.get(handle)
    if (file === undefined) return
    if (thread !== undefined && isEditable(file.inode.node)) {
      file.writers ??= new Writers()
      file.writers.note(thread)
    }
    if (file.isWriter === does) return
    file.isWriter = does
    file.inode.writers += does ? 1 : -1
  }

  close(handle: number): MaybePromise<void> {
    const inode = this.#files.get(handle)?.inode
    if (inode === undefined) return
    this.#writes(handle, false)
    this.#files.delete(handle)
    inode.handles -= 1
    if (inode.handles === 0) inode.told = undefined
    this.parts.inodes.dropUnused(inode)
    return this.parts.drive.release(handle)
  }

  async create({ node, pid }: Header, name: string): Promise<Answer> {
    const parent = this.parts.inodes.get(node)
    const handle = await this.parts.drive.create({ parent, name }, { process: processOf(pid) })
    try {
      const attributes = await this.parts.drive.lookup({ parent, name })
      this.parts.inodes.removed(parent, name)
      const { reply, entered = [] } = this.#entered(parent, name, attributes)
      for (const inode of entered) this.#opened(inode, handle, true, attributes)
      return { reply: putOpened(reply, handle, 0), entered, undo: () => void this.close(handle) }
    } catch (thrown) {
      await this.parts.drive.release(handle)
      throw thrown
    }
  }

  read(message: Buffer): MaybePromise<Answer> {
    const { handle, offset, size } = readIn(message)
    const reply = new Reply(size)
    return chain(this.parts.drive.read(handle, reply.room(size), byteOffset(offset)), count => ({
      reply: reply.shorten(count),
    }))
  }

  async write(message: Buffer, { pid }: Header): Promise<Answer> {
    const { handle, offset, bytes } = writeIn(message)
    // The message's bytes are the next request's once this waits.
    const own = Buffer.from(bytes)
    this.#writes(handle, true, pid)
    await this.parts.drive.write(handle, own, byteOffset(offset))
    const inode = this.#files.get(handle)?.inode
    inode?.retell({ size: Math.max(inode.told?.size ?? 0, offset + own.length) })
    return { reply: putWritten(new Reply(), own.length) }
  }

  /**
   * A handle shows the text saved through it from then on; its name may stand for the service's wording. The flush of a
   * child that was forked, or executes another program, is no save of what its parent writes.
   */
  flush(message: Buffer, { pid }: Header): MaybePromise<Answer> {
    const handle = handleIn(message)
    if (this.#files.get(handle)?.writers?.isAnother(pid) === true) return nothing()
    return chain(this.parts.drive.flush(handle), () => {
      this.#writes(handle, false)
      this.#files.get(handle)?.inode.retell(this.parts.drive.textOf(handle))
      return nothing()
    })
  }

  /** A new thing has a new id, whatever had the name before. */
  async make({ node }: Header, name: string, make: (made: Name) => Promise<void>): Promise<Answer> {
    const parent = this.parts.inodes.get(node)
    await make({ parent, name })
    this.parts.inodes.removed(parent, name)
    return this.#entered(parent, name, await this.parts.drive.lookup({ parent, name }))
  }

  async remove({ node }: Header, name: string, remove: (name: Name) => Promise<void>): Promise<Answer> {
    const parent = this.parts.inodes.get(node)
    await remove({ parent, name })
    this.parts.inodes.removed(parent, name)
    return nothing()
  }

  async rename(message: Buffer, { node, pid }: Header): Promise<Answer> {
    const { from, to, directory } = renameIn(message)
    const parent = this.parts.inodes.get(node)
    const goal = { parent: this.parts.inodes.get(directory), name: to }
    await this.parts.drive.rename({ parent, name: from }, goal, { process: processOf(pid) })
    const moved = this.parts.inodes.moved(parent, from, goal)
    if (moved !== undefined) await this.#nowAt(moved, goal)
    return { ...nothing(), renewed: moved }
  }

  /**
   * The kernel goes on with the inode under its new name. A file that became a record's text, or was one, is another node
   * there: who has it open keeps its bytes.
   */
  async #nowAt(inode: Inode, name: Name): Promise<void> {
    try {
      const { node, mtime } = await this.parts.drive.lookup(name)
      if (node.kind === 'scratch' && inode.node.kind === 'scratch') this.parts.inodes.named(inode)
      inode.node = node
      // An editor asks its own handle for the time of what it has saved.
      inode.retell({ mtime })
    } catch {
      // It was taken away meanwhile: the next look at it says so.
    }
  }

  async statfs(): Promise<Answer> {
    return { reply: putSpace(new Reply(), await this.parts.drive.statfs()) }
  }

  getxattr(message: Buffer, { node }: Header): MaybePromise<Answer> {
    const { name, size } = getxattrIn(message)
    return chain(this.parts.drive.getxattr(this.parts.inodes.get(node), name), text => {
      if (text === undefined) throw new Failure('no-attribute', `${name} is not set`)
      return xattrAnswer(Buffer.from(text), size)
    })
  }

  listxattr(message: Buffer, { node }: Header): MaybePromise<Answer> {
    const size = listxattrSize(message)
    return chain(this.parts.drive.listxattr(this.parts.inodes.get(node)), names =>
      xattrAnswer(Buffer.from(names.map(name => `${name}\0`).join('')), size),
    )
  }
}

/** A size of 0 asks for the length alone. */
function xattrAnswer(value: Buffer, size: number): Answer {
  if (size === 0) return { reply: putWritten(new Reply(), value.length) }
  return value.length > size ? { reply: new Reply(0), error: 'ERANGE' } : { reply: new Reply().raw(value) }
}
