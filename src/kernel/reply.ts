// Answers and news for the kernel: the layouts of replies and notifications, as include/uapi/linux/fuse.h has them; little-endian.
import type { Space } from '../drive/interface/verbs.js'
import { longestName } from '../drive/nodes/name.js'

/** FOPEN_* flags of the answer to an open. */
export const openFlags = { directIo: 1 << 0, keepCache: 1 << 1, cacheDir: 1 << 3, noFlush: 1 << 5 } as const

const outHeaderBytes = 16
const entryBytes = 128
const attributesBytes = 88
const direntBytes = 24

/** The attributes of a node in stat(2). */
export interface NodeAttributes {
  readonly ino: bigint
  readonly mode: number
  readonly size: number
  /** Milliseconds since 1970. */
  readonly mtime: number
}

/** Seconds for which the kernel keeps what it was told. */
export interface Lifetimes {
  readonly name: number
  readonly attributes: number
}

/** An answer that grows to its length; the header is written last. */
export class Reply {
  #bytes: Buffer
  #length = outHeaderBytes

  constructor(room = 256) {
    this.#bytes = takeBuffer(outHeaderBytes + room)
  }

  /** The kernel has it, and nothing looks at its bytes any more: the next one takes its room. */
  done(): void {
    giveBuffer(this.#bytes)
  }

  get length(): number {
    return this.#length - outHeaderBytes
  }

  #take(count: number): number {
    const at = this.#length
    if (at + count > this.#bytes.length) {
      const larger = Buffer.allocUnsafe(Math.max(2 * this.#bytes.length, at + count))
      this.#bytes.copy(larger, 0, 0, at)
      this.#bytes = larger
    }
    this.#length = at + count
    return at
  }

  u32(value: number): this {
    const at = this.#take(4)
    this.#bytes.writeUInt32LE(value >>> 0, at)
    return this
  }

  u64(value: number): this {
    const at = this.#take(8)
    put64(this.#bytes, value, at)
    return this
  }

  big(value: bigint): this {
    const at = this.#take(8)
    this.#bytes.writeBigUInt64LE(value, at)
    return this
  }

  /** struct fuse_attr. For a directory, 1 link means "unknown" to find(1); counting sub-directories would cost requests. */
  attributes({ ino, mode, size, mtime }: NodeAttributes): this {
    const at = this.#take(attributesBytes)
    const bytes = this.#bytes
    bytes.writeBigUInt64LE(ino, at)
    put64(bytes, size, at + 8)
    put64(bytes, Math.ceil(size / blockBytes), at + 16)
    const seconds = Math.floor(mtime / 1000)
    const nanoseconds = Math.floor((mtime - seconds * 1000) * 1e6)
    put64(bytes, seconds, at + 24)
    bytes.copyWithin(at + 32, at + 24, at + 32).copyWithin(at + 40, at + 24, at + 32)
    for (let time = 0; time < 3; time += 1) bytes.writeUInt32LE(nanoseconds, at + 48 + 4 * time)
    bytes.writeUInt32LE(mode >>> 0, at + 60)
    bytes.writeUInt32LE(1, at + 64)
    bytes.writeUInt32LE(uid, at + 68)
    bytes.writeUInt32LE(gid, at + 72)
    bytes.writeUInt32LE(0, at + 76)
    bytes.writeUInt32LE(preferredBytes, at + 80)
    bytes.writeUInt32LE(0, at + 84)
    return this
  }

  /** The bytes before the attributes in struct fuse_entry_out. */
  node(id: number, { name, attributes }: Lifetimes): this {
    const at = this.#take(entryBytes - attributesBytes)
    const bytes = this.#bytes
    put64(bytes, id, at)
    put64(bytes, 0, at + 8)
    put64(bytes, Math.floor(name), at + 16)
    put64(bytes, Math.floor(attributes), at + 24)
    bytes.writeUInt32LE(nanosecondsOf(name), at + 32)
    bytes.writeUInt32LE(nanosecondsOf(attributes), at + 36)
    return this
  }

  raw(bytes: Uint8Array): this {
    const at = this.#take(bytes.length)
    this.#bytes.set(bytes, at)
    return this
  }

  zeros(count: number): this {
    const at = this.#take(count)
    this.#bytes.fill(0, at, at + count)
    return this
  }

  /** Room for a read to fill; `shorten` says how much of it was. */
  room(count: number): Buffer {
    const at = this.#take(count)
    return this.#bytes.subarray(at, at + count)
  }

  shorten(count: number): this {
    this.#length = outHeaderBytes + count
    return this
  }

  /** The message for the device; `error` is an errno, 0 for none. */
  message(unique: number, error = 0): Buffer {
    const bytes = this.#bytes
    const length = error === 0 ? this.#length : outHeaderBytes
    bytes.writeUInt32LE(length, 0)
    bytes.writeInt32LE(-error, 4)
    bytes.writeUInt32LE(unique % 0x1_0000_0000, 8)
    bytes.writeUInt32LE(Math.floor(unique / 0x1_0000_0000), 12)
    return bytes.subarray(0, length)
  }
}

/** Buffers of these lengths are used again: the system gives memory for the larger ones page by page. */
const smallBuffer = outHeaderBytes + 256
const largeBuffer = 64 * 1024
const keptBuffers = 8
const small: Buffer[] = []
const large: Buffer[] = []

function takeBuffer(bytes: number): Buffer {
  if (bytes <= smallBuffer) return small.pop() ?? Buffer.allocUnsafeSlow(smallBuffer)
  const kept = bytes < largeBuffer ? undefined : large.pop()
  return kept !== undefined && kept.length >= bytes ? kept : Buffer.allocUnsafe(bytes)
}

function giveBuffer(buffer: Buffer): void {
  const kept = buffer.length === smallBuffer ? small : buffer.length < largeBuffer ? undefined : large
  if (kept !== undefined && kept.length < keptBuffers) kept.push(buffer)
}

const uid = process.getuid?.() ?? 0
const gid = process.getgid?.() ?? 0
const blockBytes = 512 // st_blocks counts these, stat(2)
const preferredBytes = 131_072

/** A whole number, as two's complement where it is negative. */
function put64(bytes: Buffer, value: number, at: number): void {
  bytes.writeUInt32LE((value % 0x1_0000_0000) >>> 0, at)
  bytes.writeUInt32LE(Math.floor(value / 0x1_0000_0000) >>> 0, at + 4)
}

/** struct fuse_entry_out. Node 0 says that there is nothing of the name, for as long as the lifetime. */
export function putEntry(
  reply: Reply,
  node: number,
  lifetimes: Lifetimes,
  attributes: NodeAttributes | undefined,
): Reply {
  reply.node(node, lifetimes)
  return attributes === undefined ? reply.zeros(attributesBytes) : reply.attributes(attributes)
}

/** struct fuse_attr_out. */
export function putAttrOut(reply: Reply, seconds: number, attributes: NodeAttributes): Reply {
  return reply.u64(Math.floor(seconds)).u32(nanosecondsOf(seconds)).u32(0).attributes(attributes)
}

const nanosecondsOf = (seconds: number): number => Math.floor((seconds % 1) * 1e9)

/** struct fuse_open_out. */
export const putOpened = (reply: Reply, handle: number, flags: number): Reply =>
  reply.u64(handle).u32(flags).u32(0)

/** struct fuse_write_out and fuse_getxattr_out, which tells the length that was asked for. */
export const putWritten = (reply: Reply, bytes: number): Reply => reply.u32(bytes).u32(0)

export interface DirentOut {
  readonly ino: bigint
  readonly name: string
  /** Of the entry after it. */
  readonly next: number
  readonly mode: number
}

const typeShift = 12 // DT_* are the type bits of st_mode, readdir(3)

/** struct fuse_dirent. False where it has no more room. */
export function putDirent(reply: Reply, limit: number, { ino, name, next, mode }: DirentOut): boolean {
  const bytes = Buffer.from(name)
  const padded = Math.ceil((direntBytes + bytes.length) / 8) * 8
  if (reply.length + padded > limit) return false
  reply
    .big(ino)
    .u64(next)
    .u32(bytes.length)
    .u32((mode >> typeShift) & 15)
    .raw(bytes)
  reply.zeros(padded - direntBytes - bytes.length)
  return true
}

/** True if a struct fuse_direntplus of this name has room. */
export const direntplusFits = (reply: Reply, limit: number, name: string): boolean =>
  reply.length + entryBytes + Math.ceil((direntBytes + Buffer.byteLength(name)) / 8) * 8 <= limit

/** struct fuse_kstatfs. */
export function putSpace(reply: Reply, space: Space): Reply {
  reply.u64(space.blocks).u64(space.bfree).u64(space.bavail).u64(space.files).u64(space.ffree)
  return reply.u32(space.bsize).u32(longestName).u32(space.bsize).zeros(28)
}

export interface InitOut {
  readonly minor: number
  readonly readahead: number
  readonly flags: number
  readonly maxWrite: number
  readonly maxPages: number
}

/** struct fuse_init_out, 64 bytes since 7.23. */
export function putInit(reply: Reply, { minor, readahead, flags, maxWrite, maxPages }: InitOut): Reply {
  reply.u32(7).u32(minor).u32(readahead).u32(flags)
  // max_background and congestion_threshold: 16 bits each.
  reply
    .u32(backgroundRequests | (((backgroundRequests * 3) / 4) << 16))
    .u32(maxWrite)
    .u32(1)
  return reply.u32(maxPages).zeros(32)
}

/** Reads ahead and releases that may be under way at once. */
const backgroundRequests = 64

const invalidateInode = 2 // FUSE_NOTIFY_INVAL_INODE
const notification = Buffer.alloc(outHeaderBytes + 24)

/** Ends the kernel's attributes of a node; its pages stay. It waits for nothing, on any kernel. */
export function attributesGone(node: number): Buffer {
  notification.writeUInt32LE(notification.length, 0)
  notification.writeInt32LE(invalidateInode, 4)
  notification.writeUInt32LE(node % 0x1_0000_0000, outHeaderBytes)
  notification.writeUInt32LE(Math.floor(node / 0x1_0000_0000), outHeaderBytes + 4)
  notification.writeBigInt64LE(-1n, outHeaderBytes + 8)
  notification.writeBigInt64LE(0n, outHeaderBytes + 16)
  return notification
}
