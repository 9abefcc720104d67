// Chunk buffer: the bytes of one content while they arrive in any order, in memory by chunks until the disk has them, then verified.
import { giveMemoryBack, isLent } from '../../../lent-memory.js'
import type { UnfinishedFile } from '../store/blob-store.js'
import { type Checksum, chunkBytes, chunkCount, chunkSum } from '../store/checksum.js'
import { FileClosed } from '../store/open-file.js'
import { type IntervalSet, openIntervalSet } from './interval-set.js'

export interface ChunkBufferPorts {
  readonly create: () => Promise<UnfinishedFile>
  readonly discard: (unfinished: UnfinishedFile) => Promise<void>
  /** The whole length in bytes, as far as it is known. */
  readonly length: () => number | undefined
  /** Makes room on a full disk; false if there is nothing to give up. */
  readonly makeRoom: () => Promise<boolean>
  /** The disk takes no more. */
  readonly lost: (reason: DiskRefused) => void
}

/** Every byte is there: still in memory where all fits into one chunk. */
export type CompleteContent =
  | { readonly in: 'memory'; readonly bytes: Uint8Array; readonly checksum: Checksum }
  | { readonly in: 'file'; readonly unfinished: UnfinishedFile; readonly checksum: Checksum }

export interface ChunkBuffer {
  readonly arrived: IntervalSet
  /** Fills `into` with bytes that have arrived; a promise only where the disk has to be asked. */
  read(offset: number, into: Uint8Array): Promise<number> | number
  /** The same where all of it is in memory, else undefined. */
  readNow(offset: number, into: Uint8Array): number | undefined
  /** Writes from `offset` on, not beyond `end`. */
  writer(offset: number, end: () => number | undefined): ChunkWriter
  /** Resolves when all `length` bytes are written and proven. */
  finish(length: number): Promise<CompleteContent>
  discard(): void
  /** The short content it holds in memory was kept, or is given up: later reads are refused with `FileClosed`. */
  release(): void
}

export interface ChunkWriter {
  /** Takes a copy, or a piece that is the whole of a short content itself; a promise where the disk falls behind and the next piece should wait. */
  put(piece: Uint8Array): Promise<unknown> | undefined
  /** No more comes: what is in memory goes to the disk. */
  close(): void
}

/** The local disk takes no more of this content; the service can still be read. */
export class DiskRefused extends Error {
  override readonly message = 'the cache directory takes no more bytes'
}

/** Bytes in memory from `start` on. */
interface BufferedChunk {
  readonly start: number
  bytes: Buffer
  filled: number
}

const firstBytes = 64 << 10
/** So many chunks of one content may wait for the disk. */
const waitingAtMost = 3
/** Memory for chunks is used again, all contents together. */
const spare: Buffer[] = []
const sparesAtMost = 8

export function openChunkBuffer(ports: ChunkBufferPorts): ChunkBuffer {
  const arrived = openIntervalSet()
  const held = new Set<BufferedChunk>()
  const sums = new Map<number, Uint8Array>()
  const flushing = new Set<Promise<void>>()
  let file: Promise<UnfinishedFile> | undefined
  let opened: UnfinishedFile | undefined
  let discarded = false
  let released = false

  async function create(): Promise<UnfinishedFile> {
    const made = await ports.create()
    opened = made
    if (discarded) await ports.discard(made)
    return made
  }

  async function write(bytes: Uint8Array, start: number): Promise<void> {
    const attempt = async () => {
      file ??= create()
      file.catch(() => {
        file = undefined
      })
      await (await file).file.write(bytes, start)
    }
    try {
      await attempt()
    } catch (error) {
      if (discarded) return
      if (!(await ports.makeRoom())) throw new DiskRefused(undefined, { cause: error })
      await attempt().catch(again => {
        throw new DiskRefused(undefined, { cause: again })
      })
    }
  }

  function flush(one: BufferedChunk): Promise<void> {
    const bytes = one.bytes.subarray(0, one.filled)
    const end = one.start + one.filled
    const isChunk = one.start % chunkBytes === 0 && (one.filled === chunkBytes || end === ports.length())
    if (isChunk) sums.set(one.start / chunkBytes, chunkSum(bytes))
    const written = write(bytes, one.start)
      .then(() => {
        held.delete(one)
        giveBack(one.bytes)
      }, ports.lost)
      .finally(() => flushing.delete(written))
    flushing.add(written)
    return written
  }

  /** The last chunk of a content that fits into one stays here until `finish`: its file is then made in one go. */
  const isAll = (one: BufferedChunk) => one.start === 0 && one.filled === ports.length()

  function pen(offset: number, end: () => number | undefined): ChunkWriter {
    let position = offset
    let current: BufferedChunk | undefined

    function add(part: Uint8Array): void {
      current ??= hold(position, Math.min(chunkEnd(position), end() ?? Number.POSITIVE_INFINITY))
      makeFit(current, current.filled + part.length)
      current.bytes.set(part, current.filled)
      current.filled += part.length
      position += part.length
    }

    /** A short content that came in one piece, in memory of its own, stays where it is. */
    const isWholeShort = (piece: Uint8Array): boolean =>
      position === 0 &&
      current === undefined &&
      piece.length === ports.length() &&
      piece.length <= chunkBytes &&
      isLent(piece)

    return {
      put(piece) {
        const start = position
        if (isWholeShort(piece)) {
          current = adopt(piece)
          position += piece.length
          arrived.add(start, position)
          return undefined
        }
        for (let from = 0; from < piece.length; ) {
          const part = piece.subarray(from, from + chunkEnd(position) - position)
          add(part)
          from += part.length
          if (current === undefined || position % chunkBytes !== 0 || isAll(current)) continue
          void flush(current)
          current = undefined
        }
        arrived.add(start, position)
        return flushing.size > waitingAtMost ? Promise.race(flushing) : undefined
      },
      close() {
        if (current !== undefined && current.filled > 0) void flush(current)
        else if (current !== undefined) held.delete(current)
        current = undefined
      },
    }
  }

  function hold(start: number, end: number): BufferedChunk {
    const room = end === Number.POSITIVE_INFINITY || ports.length() === undefined ? firstBytes : end - start
    const one = { start, bytes: bufferOf(Math.min(room, chunkBytes)), filled: 0 }
    held.add(one)
    return one
  }

  function adopt(piece: Uint8Array): BufferedChunk {
    const bytes = Buffer.from(piece.buffer, piece.byteOffset, piece.length)
    const one = { start: 0, bytes, filled: piece.length }
    held.add(one)
    return one
  }

  const holding = (offset: number): BufferedChunk | undefined => {
    for (const one of held) if (one.start <= offset && offset < one.start + one.filled) return one
    return undefined
  }

  /** Where the bytes in memory begin again. */
  function nextHeld(offset: number, end: number): number {
    let next = end
    for (const one of held) if (one.filled > 0 && one.start > offset && one.start < next) next = one.start
    return next
  }

  async function readFile(into: Uint8Array, offset: number): Promise<void> {
    const unfinished = opened ?? (await file)
    await unfinished?.file.read(into, offset)
  }

  function read(offset: number, into: Uint8Array): Promise<number> | number {
    if (released) throw new FileClosed()
    const end = offset + into.length
    const coming: Promise<void>[] = []
    for (let position = offset; position < end; ) {
      const one = holding(position)
      const stop = one === undefined ? nextHeld(position, end) : Math.min(end, one.start + one.filled)
      const part = into.subarray(position - offset, stop - offset)
      if (one === undefined) coming.push(readFile(part, position))
      else part.set(one.bytes.subarray(position - one.start, stop - one.start))
      position = stop
    }
    return coming.length === 0 ? into.length : Promise.all(coming).then(() => into.length)
  }

  /** Chunks that came in parts are read again to be summed. */
  async function sumAll(length: number): Promise<Uint8Array> {
    const list: Uint8Array[] = []
    for (let index = 0; index < chunkCount(length); index += 1) {
      const known = sums.get(index)
      const start = index * chunkBytes
      const bytes = known === undefined ? bufferOf(Math.min(chunkBytes, length - start)) : undefined
      if (bytes !== undefined) await readFile(bytes, start)
      list.push(known ?? chunkSum(bytes ?? new Uint8Array()))
      if (bytes !== undefined) giveBack(bytes)
    }
    return Buffer.concat(list)
  }

  return {
    arrived,
    read,
    readNow(offset, into) {
      const one = holding(offset)
      if (one === undefined || one.start + one.filled < offset + into.length) return undefined
      into.set(one.bytes.subarray(offset - one.start, offset - one.start + into.length))
      return into.length
    },
    writer: pen,
    async finish(length) {
      const [only] = held
      if (file === undefined && length <= chunkBytes && (only === undefined || only.filled === length)) {
        const bytes = only?.bytes.subarray(0, length) ?? new Uint8Array()
        return { in: 'memory', bytes, checksum: { length, sums: length === 0 ? bytes : chunkSum(bytes) } }
      }
      while (flushing.size > 0) await Promise.all(flushing)
      for (const one of held) await flush(one)
      const checksum = { length, sums: await sumAll(length) }
      if (opened === undefined) throw new DiskRefused()
      return { in: 'file', unfinished: opened, checksum }
    },
    discard() {
      discarded = true
      if (opened !== undefined) void ports.discard(opened)
    },
    release() {
      if (file !== undefined || flushing.size > 0) return
      released = true
      for (const one of held) giveMemoryBack(one.bytes)
      held.clear()
    },
  }
}

const chunkEnd = (offset: number): number => offset - (offset % chunkBytes) + chunkBytes

/** As `allocUnsafeSlow`: nothing of it is shared with other buffers. */
function bufferOf(bytes: number): Buffer {
  const used = bytes === chunkBytes ? spare.pop() : undefined
  return used ?? Buffer.allocUnsafeSlow(bytes)
}

function giveBack(bytes: Buffer): void {
  if (bytes.length === chunkBytes && spare.length < sparesAtMost) spare.push(bytes)
}

function makeFit(one: BufferedChunk, bytes: number): void {
  if (bytes <= one.bytes.length) return
  const larger = bufferOf(Math.min(chunkBytes, Math.max(bytes, one.bytes.length * 4)))
  one.bytes.copy(larger, 0, 0, one.filled)
  one.bytes = larger
}
