// Requests of the kernel: opcodes and the layouts of requests, as include/uapi/linux/fuse.h has them (7.23 to 7.45); little-endian.
import { accessOf, type OpenAccess } from '../drive/interface/verbs.js'

/** The requests of the kernel, enum fuse_opcode. */
export const opcodes = {
  lookup: 1,
  forget: 2,
  getattr: 3,
  setattr: 4,
  readlink: 5,
  symlink: 6,
  mknod: 8,
  mkdir: 9,
  unlink: 10,
  rmdir: 11,
  rename: 12,
  link: 13,
  open: 14,
  read: 15,
  write: 16,
  statfs: 17,
  release: 18,
  fsync: 20,
  setxattr: 21,
  getxattr: 22,
  listxattr: 23,
  removexattr: 24,
  flush: 25,
  init: 26,
  opendir: 27,
  readdir: 28,
  releasedir: 29,
  fsyncdir: 30,
  create: 35,
  interrupt: 36,
  destroy: 38,
  batchForget: 42,
  readdirplus: 44,
} as const

/** The node id of the directory that is mounted. */
export const rootId = 1

/** The FUSE_* flags of INIT that a session asks for. Those above 31 lie in `flags2`; none of them is used. */
export const initFlags = {
  asyncRead: 1 << 0,
  bigWrites: 1 << 5,
  readdirplus: 1 << 13,
  readdirplusAuto: 1 << 14,
  parallelDirops: 1 << 18,
  maxPages: 1 << 22,
  cacheSymlinks: 1 << 23,
  explicitInvalData: 1 << 25,
} as const

/** FATTR_* bits of SETATTR. */
const setattrBits = {
  mode: 1 << 0,
  uid: 1 << 1,
  gid: 1 << 2,
  size: 1 << 3,
  mtime: 1 << 5,
  handle: 1 << 6,
  mtimeNow: 1 << 8,
}

const inHeaderBytes = 40

export interface Header {
  readonly opcode: number
  /** Names the request; below 2^53, because the kernel counts up from 0. */
  readonly unique: number
  readonly node: number
  /** Of the thread that asks; 0 where it is none, or lies in a pid name space of its own. */
  readonly pid: number
}

/** A message that is not what its header says: answered EIO, and nothing of it is believed. */
export class Malformed extends Error {}

/** A whole number of 64 bits, as far as it is exact. @throws Malformed beyond 2^53 */
function wide(bytes: Buffer, at: number): number {
  const high = bytes.readUInt32LE(at + 4)
  if (high > 0x1f_ffff) throw new Malformed('a number beyond 2^53')
  return high * 0x1_0000_0000 + bytes.readUInt32LE(at)
}

/** As `wide`, or infinite: lengths and offsets may be "all of it". */
const offsetAt = (bytes: Buffer, at: number): number =>
  bytes.readUInt32LE(at + 4) > 0x1f_ffff ? Number.MAX_SAFE_INTEGER : wide(bytes, at)

export function headerOf(message: Buffer): Header {
  if (message.length < inHeaderBytes || message.readUInt32LE(0) !== message.length)
    throw new Malformed('a message of another length than it says')
  return {
    opcode: message.readUInt32LE(4),
    unique: wide(message, 8),
    node: wide(message, 16),
    pid: message.readUInt32LE(32),
  }
}

/** The body of a message, of at least so many bytes. */
function body(message: Buffer, bytes: number): Buffer {
  if (message.length < inHeaderBytes + bytes) throw new Malformed('a message that is cut')
  return message.subarray(inHeaderBytes)
}

/** Where the text that begins there ends, with NUL. */
function endOfText(message: Buffer, begin: number): number {
  const end = message.indexOf(0, begin)
  if (end === -1) throw new Malformed('a name without its end')
  return end
}

/** The text behind so many bytes of the body. */
function oneText(message: Buffer, behind: number): string {
  const begin = inHeaderBytes + behind
  return message.toString('utf8', begin, endOfText(message, begin))
}

/** The same, and the one behind it. */
function twoTexts(message: Buffer, behind: number): readonly [string, string] {
  const second = endOfText(message, inHeaderBytes + behind) + 1
  return [oneText(message, behind), message.toString('utf8', second, endOfText(message, second))]
}

export const openAccessIn = (message: Buffer): OpenAccess => accessOf(body(message, 8).readUInt32LE(0))

/** True if an open may be interrupted: one for writing has begun something. Any other request is no open. */
export const openAccessIsRead = (message: Buffer, { opcode }: Header): boolean =>
  opcode !== opcodes.open || openAccessIn(message) === 'read'

/** A chmod, a chown or a touch: an unmount waits for no outcome of it. */
export const setsNoSize = (message: Buffer, { opcode }: Header): boolean =>
  opcode === opcodes.setattr && (body(message, 88).readUInt32LE(0) & setattrBits.size) === 0

/** A handle; of INTERRUPT the request that is meant. */
export const handleIn = (message: Buffer): number => wide(body(message, 8), 0)

/** Bytes before the name in a request about a name in a directory; of two names the first. */
const namesBehind = new Map<number, number>([
  [opcodes.lookup, 0],
  [opcodes.unlink, 0],
  [opcodes.rmdir, 0],
  [opcodes.symlink, 0],
  [opcodes.rename, 8],
  [opcodes.link, 8],
  [opcodes.mkdir, 8],
  [opcodes.mknod, 16],
  [opcodes.create, 16],
])

/** The name that a request is about; undefined where it is about a node. */
export function nameIn(message: Buffer, { opcode }: Header): string | undefined {
  const behind = namesBehind.get(opcode)
  return behind === undefined ? undefined : oneText(message, behind)
}

export function symlinkIn(message: Buffer): { readonly name: string; readonly target: string } {
  const [name, target] = twoTexts(message, 0)
  return { name, target }
}

/** Those with flags of renameat2(2) have an opcode of their own: it is not offered, and the kernel answers EINVAL by itself. */
export function renameIn(message: Buffer) {
  const [from, to] = twoTexts(message, 8)
  return { from, to, directory: wide(body(message, 8), 0) }
}

export interface SetattrIn {
  readonly size: number | undefined
  readonly handle: number | undefined
  /** Milliseconds since 1970. */
  readonly mtime: number | undefined
  readonly isMtimeNow: boolean
  /** chmod or chown. */
  readonly isOther: boolean
}

export function setattrIn(message: Buffer): SetattrIn {
  const given = body(message, 88)
  const valid = given.readUInt32LE(0)
  return {
    size: valid & setattrBits.size ? offsetAt(given, 16) : undefined,
    handle: valid & setattrBits.handle ? wide(given, 8) : undefined,
    mtime:
      valid & setattrBits.mtime
        ? offsetAt(given, 40) * 1000 + Math.floor(given.readUInt32LE(60) / 1e6)
        : undefined,
    isMtimeNow: (valid & setattrBits.mtimeNow) !== 0,
    isOther: (valid & (setattrBits.mode | setattrBits.uid | setattrBits.gid)) !== 0,
  }
}

export interface ReadIn {
  readonly handle: number
  readonly offset: number
  readonly size: number
}

/** 256 pages of 64 KiB: more than any kernel asks for at once. */
const largestRead = 1 << 24

/** Of READ, READDIR and READDIRPLUS. */
export function readIn(message: Buffer): ReadIn {
  const given = body(message, 40)
  if (given.readUInt32LE(16) > largestRead) throw new Malformed('a read of more than a kernel asks for')
  return { handle: wide(given, 0), offset: offsetAt(given, 8), size: given.readUInt32LE(16) }
}

export function writeIn(message: Buffer) {
  const given = body(message, 40)
  const size = given.readUInt32LE(16)
  if (given.length < 40 + size) throw new Malformed('a write that is cut')
  return {
    handle: wide(given, 0),
    offset: offsetAt(given, 8),
    // Lies in the message: copied where it is kept.
    bytes: given.subarray(40, 40 + size),
  }
}

export const getxattrIn = (message: Buffer) => ({
  name: oneText(message, 8),
  // Of the caller's buffer, in bytes; 0 asks for the length alone.
  size: body(message, 8).readUInt32LE(0),
})

export const listxattrSize = (message: Buffer): number => body(message, 8).readUInt32LE(0)

export function forgottenIn(message: Buffer, { opcode, node }: Header) {
  if (opcode === opcodes.forget) return [{ node, count: wide(body(message, 8), 0) }]
  const given = body(message, 8)
  const count = given.readUInt32LE(0)
  if (given.length < 8 + count * 16) throw new Malformed('a list of forgotten nodes that is cut')
  return Array.from({ length: count }, (_, at) => ({
    node: wide(given, 8 + at * 16),
    count: wide(given, 16 + at * 16),
  }))
}

export function initIn(message: Buffer) {
  const given = body(message, 16)
  return {
    major: given.readUInt32LE(0),
    minor: given.readUInt32LE(4),
    readahead: given.readUInt32LE(8),
    flags: given.readUInt32LE(12),
  }
}
