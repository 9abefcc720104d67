// A kernel as harsh as the real one may be: it speaks bytes, keeps what it is told for as long as it may, reads pages of 4 KiB and flushes twice.
import { opcodes } from '../../../src/kernel/protocol.js'
import { openFlags } from '../../../src/kernel/reply.js'
import type { DriveFiles, FileKind, FileStat, OpenedFile } from '../testbed.js'
import {
  attributesIn,
  Errno,
  entryAt,
  halves,
  isErrno,
  type KernelStat,
  listedIn,
  numberAt,
  setattr,
  text,
  words,
} from './bytes.js'
import { KernelDevice, type Mountable } from './device.js'
import { KernelNames } from './names.js'
import { type KernelNode, kindOf, kindOfMode } from './nodes.js'

interface Handle {
  readonly node: KernelNode
  readonly number: number
  readonly flags: number
}

type Access = 'r' | 'r+' | 'w' | 'a' | 'touch'

const pageBytes = 4096
const pieceBytes = 131_072
const accessFlags = { r: 0, 'r+': 2, w: 1, a: 0o2001, touch: 1 }
const [creating, largeFile, directoryOnly] = [0o100, 0o100000, 0o200000]

/** The files of a drive as programs see them, through all of its mounts. */
export class HarshKernel {
  #device: KernelDevice | undefined
  #readOnly = false
  #walked: KernelNames | undefined
  #busy = 0

  mount(mountable: Mountable): void {
    const device = new KernelDevice(mountable)
    this.#device = device
    this.#walked = new KernelNames(device, mountable.clock.now)
    this.#readOnly = mountable.readOnly
  }

  /** @throws Error with what the daemon did that no daemon may */
  async end(): Promise<void> {
    await this.#device?.end()
    this.#device = undefined
    this.#walked = undefined
  }

  get #names(): KernelNames {
    return this.#walked ?? notMounted()
  }

  get device(): KernelDevice {
    return this.#device ?? notMounted()
  }

  get #nodes(): KernelDevice['nodes'] {
    return this.device.nodes
  }

  #ask(opcode: number, node: number, body?: Buffer): Promise<Buffer> {
    return this.device.ask(opcode, node, body)
  }

  /** Programs that are in a call hold what they look at. */
  async #during<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#busy += 1
    try {
      return await work()
    } finally {
      this.#busy -= 1
      const device = this.#device
      if (this.#busy === 0)
        device?.nodes.forget(({ id, lookups }) => device.send(opcodes.forget, id, words(lookups)))
    }
  }

  /** A call by a path: made once again where that is stale, and each name is looked up then. */
  #call<Value>(work: (again: boolean) => Promise<Value>): Promise<Value> {
    return this.#during(() =>
      work(false).catch((thrown: unknown) => {
        if (isErrno(thrown, 'ESTALE')) return work(true)
        throw thrown
      }),
    )
  }

  #refuseChanges(path: string): void {
    if (this.#readOnly) throw new Errno('EROFS', path)
  }

  #changed(directory: KernelNode): void {
    directory.listing = undefined
    directory.until = 0
  }

  #make(opcode: number, given: string, body: (name: string) => Buffer): Promise<void> {
    return this.#call(async again => {
      const { parent, name, node } = await this.#names.walk(given, 'keep', again)
      if (node !== undefined) throw new Errno('EEXIST', given)
      this.#refuseChanges(given)
      this.#nodes.enter(parent, name, entryAt(await this.#ask(opcode, parent.id, body(name))))
      this.#changed(parent)
    })
  }

  #remove(opcode: number, given: string): Promise<void> {
    return this.#call(async again => {
      this.#refuseChanges(given)
      const { parent, name, node } = await this.#names.walk(given, 'keep', again)
      if (node === undefined) throw new Errno('ENOENT', given)
      const isDirectory = kindOf(node) === 'directory'
      if (isDirectory !== (opcode === opcodes.rmdir))
        throw new Errno(isDirectory ? 'EISDIR' : 'ENOTDIR', given)
      await this.#ask(opcode, parent.id, text(name))
      this.#nodes.drop(parent, name)
      this.#changed(parent)
    })
  }

  #rename(from: string, to: string): Promise<void> {
    return this.#call(async again => {
      this.#refuseChanges(from)
      const source = await this.#names.walk(from, 'keep', again)
      const target = await this.#names.walk(to, 'keep', again)
      const { node } = source
      if (node === undefined) throw new Errno('ENOENT', from)
      if (node === target.node) return
      const isDirectory = kindOf(node) === 'directory'
      if (target.node !== undefined && (kindOf(target.node) === 'directory') !== isDirectory)
        throw new Errno(isDirectory ? 'ENOTDIR' : 'EISDIR', to)
      const names = Buffer.concat([words(target.parent.id), text(source.name, target.name)])
      await this.#ask(opcodes.rename, source.parent.id, names)
      this.#nodes.move(source, target)
      this.#changed(source.parent)
      this.#changed(target.parent)
    })
  }

  #set(given: string, body: Buffer): Promise<void> {
    return this.#call(async again => {
      const node = await this.#names.there(given, 'follow', again)
      this.#refuseChanges(given)
      await this.#setattr(node, body)
    })
  }

  async #setattr(node: KernelNode, body: Buffer): Promise<void> {
    this.#nodes.learn(node, attributesIn(await this.#ask(opcodes.setattr, node.id, body)))
    node.pages.clear()
  }

  async #handle(given: string, how: Access, again: boolean): Promise<Handle> {
    const isMaking = how !== 'r' && how !== 'r+'
    const { parent, name, node } = await this.#names.walk(given, 'follow', again)
    if (node === undefined) {
      if (!isMaking) throw new Errno('ENOENT', given)
      this.#refuseChanges(given)
      const body = Buffer.concat([halves(accessFlags[how] | creating, 0o100644, 0o022, 0), text(name)])
      const reply = await this.#ask(opcodes.create, parent.id, body)
      const made = this.#nodes.enter(parent, name, entryAt(reply))
      this.#changed(parent)
      return this.#opened(made, reply.subarray(128))
    }
    if (kindOf(node) === 'directory') throw new Errno('EISDIR', given)
    if (how !== 'r') this.#refuseChanges(given)
    const handle = this.#opened(
      node,
      await this.#ask(opcodes.open, node.id, halves(accessFlags[how] | largeFile, 0)),
    )
    if (how === 'w')
      await this.#setattr(node, setattr({ size: 0 })).catch(async thrown => {
        await this.#close(handle)
        throw thrown
      })
    return handle
  }

  #opened(node: KernelNode, reply: Buffer): Handle {
    const [number, flags] = [numberAt(reply, 0), reply.readUInt32LE(8)]
    node.handles += 1
    if ((flags & openFlags.keepCache) === 0) node.pages.clear()
    return { node, number, flags }
  }

  async #read({ node, number, flags }: Handle, length: number, position: number): Promise<Buffer> {
    const isDirect = (flags & openFlags.directIo) !== 0
    if (!isDirect && position + length > node.stat.size) await this.#names.fresh(node, { number })
    const end = isDirect ? position + length : Math.min(position + length, node.stat.size)
    const first = Math.floor(position / pageBytes)
    const count = Math.max(0, Math.ceil(end / pageBytes) - first)
    // Pages are asked for at once, whole, and in any order.
    const pages = Array.from({ length: count }, async (_, index) => {
      const kept = isDirect ? undefined : node.pages.get(first + index)
      if (kept !== undefined) return kept
      const at = (first + index) * pageBytes
      const page = await this.#ask(opcodes.read, node.id, words(number, at, pageBytes, 0, 0))
      if (page.length > pageBytes) this.device.fault(`a read of ${page.length} bytes`)
      if (!isDirect) node.pages.set(first + index, page)
      return page
    })
    const read: Buffer[] = []
    for (const page of await Promise.all(pages)) {
      read.push(page)
      // The file ends where a page does, whatever its size was.
      if (page.length < pageBytes) break
    }
    return Buffer.concat(read).subarray(position - first * pageBytes, end - first * pageBytes)
  }

  async #write({ node, number }: Handle, bytes: Buffer, position: number): Promise<void> {
    for (let from = 0; from < bytes.length; from += pageBytes) {
      const piece = bytes.subarray(from, from + pageBytes)
      const body = Buffer.concat([words(number, position + from, piece.length, 0, 0), piece])
      await this.#ask(opcodes.write, node.id, body)
      node.pages.clear()
      node.until = 0
      node.stat = { ...node.stat, size: Math.max(node.stat.size, position + from + piece.length) }
    }
  }

  /** Two processes have the file open (dup(2), fork(2)): close(2) of each flushes, and does not wait for the release. */
  async #close({ node, number }: Handle): Promise<void> {
    const ends = await Promise.allSettled(
      [1, 2].map(() => this.#ask(opcodes.flush, node.id, words(number, 0, 0))),
    )
    const released = this.#ask(opcodes.release, node.id, words(number, 0, 0))
    this.#nodes.closed(node)
    released.catch(() => {})
    for (const end of ends) if (end.status === 'rejected') throw end.reason
  }

  async #open(given: string, how: Access): Promise<OpenedFile> {
    const handle = await this.#call(again => this.#handle(given, how, again))
    const { node, number } = handle
    return {
      read: (length, position) => this.#during(() => this.#read(handle, length, position)),
      write: (written, position) =>
        this.#during(async () =>
          this.#write(
            handle,
            Buffer.from(written),
            how === 'a' ? (await this.#names.fresh(node)).size : position,
          ),
        ),
      truncate: size => this.#during(() => this.#setattr(node, setattr({ size, handle: number }))),
      sync: () => this.#during(async () => void (await this.#ask(opcodes.fsync, node.id, words(number, 0)))),
      close: () => this.#during(() => this.#close(handle)),
    }
  }

  async #list(directory: KernelNode): Promise<ReadonlyMap<string, FileKind>> {
    const opened = await this.#ask(opcodes.opendir, directory.id, halves(directoryOnly, 0))
    const [handle, flags] = [numberAt(opened, 0), opened.readUInt32LE(8)]
    directory.handles += 1
    if ((flags & openFlags.keepCache) === 0) directory.listing = undefined
    try {
      const found = directory.listing ?? (await this.#listed(directory, handle))
      if ((flags & openFlags.cacheDir) !== 0) directory.listing = found
      return found
    } finally {
      this.#nodes.closed(directory)
      await this.#ask(opcodes.releasedir, directory.id, words(handle, 0, 0))
    }
  }

  /** Attributes come with the first page of names only, as the kernel asks for them by itself. */
  async #listed(directory: KernelNode, handle: number): Promise<ReadonlyMap<string, FileKind>> {
    const found = new Map<string, FileKind>()
    for (let offset = 0; ; ) {
      const isPlus = offset === 0
      const opcode = isPlus ? opcodes.readdirplus : opcodes.readdir
      const page = await this.#ask(opcode, directory.id, words(handle, offset, pageBytes, 0, 0))
      if (page.length > pageBytes) this.device.fault(`a listing of ${page.length} bytes`)
      const listed = listedIn(page, isPlus)
      for (const { entry, name, type, next } of listed) {
        offset = next
        if (name === '.' || name === '..') continue
        if (found.has(name)) this.device.fault(`${name} is listed twice`)
        found.set(name, kindOfMode(type << 12))
        if (entry !== undefined && entry.node !== 0) this.#nodes.enter(directory, name, entry)
      }
      if (listed.length === 0) return found
    }
  }

  async #xattr(opcode: number, given: string, name?: string): Promise<Buffer> {
    return this.#call(async again => {
      const { id } = await this.#names.there(given, 'keep', again)
      const rest = name === undefined ? Buffer.alloc(0) : text(name)
      const ask = (size: number): Promise<Buffer> =>
        this.#ask(opcode, id, Buffer.concat([halves(size, 0), rest]))
      const length = (await ask(0)).readUInt32LE(0)
      return length === 0 ? Buffer.alloc(0) : ask(length)
    })
  }

  readonly files: DriveFiles = {
    readdir: path =>
      this.#call(async again => {
        const node = await this.#names.there(path, 'follow', again)
        if (kindOf(node) !== 'directory') throw new Errno('ENOTDIR', path)
        return this.#list(node)
      }),
    lstat: path =>
      this.#call(async again => seen(await this.#names.fresh(await this.#names.there(path, 'keep', again)))),
    stat: path =>
      this.#call(async again =>
        seen(await this.#names.fresh(await this.#names.there(path, 'follow', again))),
      ),
    readFile: async path => {
      const file = await this.#open(path, 'r')
      try {
        const pieces: Buffer[] = []
        for (let at = 0; ; at += pieceBytes) {
          const piece = await file.read(pieceBytes, at)
          pieces.push(piece)
          if (piece.length < pieceBytes) return Buffer.concat(pieces)
        }
      } finally {
        await file.close()
      }
    },
    readlink: path =>
      this.#call(async again => {
        const node = await this.#names.there(path, 'keep', again)
        if (kindOf(node) !== 'link') throw new Errno('EINVAL', path)
        return (await this.#ask(opcodes.readlink, node.id)).toString()
      }),
    open: (path, how) => this.#open(path, how),
    truncate: (path, size) => this.#set(path, setattr({ size })),
    rename: (from, to) => this.#rename(from, to),
    unlink: path => this.#remove(opcodes.unlink, path),
    mkdir: path => this.#make(opcodes.mkdir, path, name => Buffer.concat([halves(0o755, 0o022), text(name)])),
    rmdir: path => this.#remove(opcodes.rmdir, path),
    symlink: (target, path) => this.#make(opcodes.symlink, path, name => text(name, target)),
    touch: async path => {
      const opened = await this.#open(path, 'touch').catch(() => undefined)
      await opened?.close()
      await this.#set(path, setattr({}))
    },
    chmod: (path, mode) => this.#set(path, setattr({ mode })),
    statfs: async () => {
      const space = await this.#ask(opcodes.statfs, 1)
      return { bsize: space.readUInt32LE(40), blocks: numberAt(space, 0) }
    },
    xattr: async (path, name) => {
      try {
        return (await this.#xattr(opcodes.getxattr, path, name)).toString()
      } catch (thrown) {
        if (isErrno(thrown, 'ENODATA')) return undefined
        throw thrown
      }
    },
    xattrs: async path =>
      (await this.#xattr(opcodes.listxattr, path))
        .toString()
        .split('\0')
        .filter(name => name !== ''),
  }
}

const notMounted = (): never => {
  throw new Errno('ENOTCONN', 'nothing is mounted')
}

const permissionBits = 0o7777

const seen = ({ mode, size, mtimeMs }: KernelStat): FileStat => ({
  kind: kindOfMode(mode),
  mode: mode & permissionBits,
  size,
  mtimeMs,
})
