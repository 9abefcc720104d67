// The kernel's side of the protocol: requests as it writes them and replies as it reads them, include/uapi/linux/fuse.h; little-endian.
import { constants } from 'node:os'

/** A message as the kernel sends it, struct fuse_in_header. */
export function message(opcode: number, body: Buffer, { unique = 2, node = 1, pid = 4711 } = {}): Buffer {
  const header = Buffer.alloc(40)
  header.writeUInt32LE(40 + body.length, 0)
  header.writeUInt32LE(opcode, 4)
  header.writeBigUInt64LE(BigInt(unique), 8)
  header.writeBigUInt64LE(BigInt(node), 16)
  header.writeUInt32LE(1000, 24)
  header.writeUInt32LE(pid, 32)
  return Buffer.concat([header, body])
}

/** Numbers of 64 bits; two of 32 are one whose upper half is 0. */
export const words = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 8)
  numbers.forEach((number, at) => void bytes.writeBigUInt64LE(BigInt(number), at * 8))
  return bytes
}

/** Numbers of 32 bits. */
export const halves = (...numbers: number[]): Buffer => {
  const bytes = Buffer.alloc(numbers.length * 4)
  numbers.forEach((number, at) => void bytes.writeUInt32LE(number >>> 0, at * 4))
  return bytes
}

/** Names, each with its NUL. */
export const text = (...names: string[]): Buffer => Buffer.from(names.map(name => `${name}\0`).join(''))

/** struct fuse_init_in: 16 bytes before 7.36, and 64 since. */
export const init = ({ minor, flags, flags2 = 0 }: KernelOffer): Buffer =>
  Buffer.concat([
    halves(7, minor, 131_072, flags),
    minor < 36 ? halves() : halves(flags2, ...Array(11).fill(0)),
  ])

export interface KernelOffer {
  readonly minor: number
  readonly flags: number
  readonly flags2?: number
}

/** What fuse_send_init of these kernels offers. */
export const offers: Readonly<Record<string, KernelOffer>> = {
  '4.18': { minor: 27, flags: 0x3ffffb },
  '5.10': { minor: 32, flags: 0x3fffffb },
  '6.1': { minor: 37, flags: 0x73fffffb, flags2: 1 },
}

/** FATTR_* and the fields that they say are set, struct fuse_setattr_in. */
export function setattr({ size, handle, mode }: { size?: number; handle?: number; mode?: number }): Buffer {
  const isTouch = size === undefined && mode === undefined
  const valid =
    (mode === undefined ? 0 : 1) |
    (size === undefined ? 0 : 1 << 3) |
    (handle === undefined ? 0 : 1 << 6) |
    // atime and mtime, both of now.
    (isTouch ? (1 << 4) | (1 << 5) | (1 << 7) | (1 << 8) : 0)
  const now = Math.floor(Date.now() / 1000)
  const times = words(valid, handle ?? 0, size ?? 0, 0, now, now, now)
  return Buffer.concat([times, halves(0, 0, 0, mode ?? 0, 0, 0, 0, 0)])
}

export interface KernelStat {
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
}

/** struct fuse_attr. */
const statAt = (bytes: Buffer, at: number): KernelStat => ({
  mode: bytes.readUInt32LE(at + 60),
  size: numberAt(bytes, at + 8),
  mtimeMs: Number(bytes.readBigInt64LE(at + 32)) * 1000 + Math.floor(bytes.readUInt32LE(at + 52) / 1e6),
})

export const numberAt = (bytes: Buffer, at: number): number => Number(bytes.readBigUInt64LE(at))

const seconds = (bytes: Buffer, whole: number, rest: number): number =>
  numberAt(bytes, whole) + bytes.readUInt32LE(rest) / 1e9

export interface Entry {
  readonly node: number
  readonly nameSeconds: number
  readonly seconds: number
  readonly stat: KernelStat
}

/** struct fuse_entry_out. */
export const entryAt = (bytes: Buffer, at = 0): Entry => ({
  node: numberAt(bytes, at),
  nameSeconds: seconds(bytes, at + 16, at + 32),
  seconds: seconds(bytes, at + 24, at + 36),
  stat: statAt(bytes, at + 40),
})

/** struct fuse_attr_out. */
export const attributesIn = (bytes: Buffer): Omit<Entry, 'node' | 'nameSeconds'> => ({
  seconds: seconds(bytes, 0, 8),
  stat: statAt(bytes, 16),
})

export interface Listed {
  /** Of READDIRPLUS; node 0 tells the type alone. */
  readonly entry: Entry | undefined
  readonly next: number
  readonly name: string
  /** DT_* of readdir(3). */
  readonly type: number
}

/** struct fuse_dirent or fuse_direntplus, one behind the other. */
export function listedIn(bytes: Buffer, isPlus: boolean): readonly Listed[] {
  const found: Listed[] = []
  for (let at = 0; at < bytes.length; ) {
    const entry = isPlus ? entryAt(bytes, at) : undefined
    if (isPlus) at += 128
    const length = bytes.readUInt32LE(at + 16)
    const name = bytes.toString('utf8', at + 24, at + 24 + length)
    found.push({ entry, next: numberAt(bytes, at + 8), name, type: bytes.readUInt32LE(at + 20) })
    at += Math.ceil((24 + length) / 8) * 8
  }
  return found
}

export class Errno extends Error {
  constructor(
    readonly code: string,
    about: string,
  ) {
    super(`${code}: ${about}`)
  }
}

export const isErrno = (thrown: unknown, code: string): boolean =>
  thrown instanceof Errno && thrown.code === code

const names = new Map(Object.entries(constants.errno).map(([name, number]) => [number, name]))
export const errnoName = (number: number): string => names.get(number) ?? `errno ${number}`
