// Chunk buffer: the bytes of one content while they arrive in any order, in memory by chunks until the disk has them, then verified; one chunk that is all stays there.
import { crc32 } from 'node:zlib'
import { giveMemoryBack, lendMemory } from '../../../lent-memory.js'
import type { Instant } from '../../../remote/remote.js'
import { warmMs } from '../store/blob.js'
import type { UnfinishedFile } from '../store/blob-store.js'
import { chunkBytes, chunkSum, shortChecksum, sumField } from '../store/checksum.js'
import type { CompleteContent } from '../store/kept-files.js'
import { FileClosed } from '../store/open-file.js'
import { IntervalSet } from './interval-set.js'

export interface ChunkBufferPorts {
  readonly create: () => Promise<UnfinishedFile>
  readonly discard: (unfinished: UnfinishedFile) => Promise<void>
  /** The whole length in bytes, as far as it is known. */
  readonly length: () => number | undefined
  readonly now: () => Instant
  /** Makes room on a full disk; false if there is nothing to give up. */
  readonly makeRoom: () => Promise<boolean>
  /** The disk takes no more. */
  readonly lost: (reason: DiskRefused) => void
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
const waitingAtMost = 1

export class ChunkBuffer {
  arrived = new IntervalSet()
  private readonly held = new Set<BufferedChunk>()
  /** Of each chunk, summed before the disk has it, as far as it came in order. */
  private readonly sums = new Map<
    number,
    { readonly end: number; readonly sum: number; readonly at: Instant }
  >()
  private readonly flushing = new Set<Promise<void>>()
  private creating: Promise<UnfinishedFile> | undefined
  private unfinished: UnfinishedFile | undefined
  private discarded = false
  /** Its memory has another owner. */
  private isHandedOver = false

  constructor(private readonly ports: ChunkBufferPorts) {}

  /** Fills `into` with bytes that have arrived; a promise only where the disk has to be asked. */
  read(offset: number, into: Uint8Array): Promise<number> | number {
    const end = offset + into.length
    const coming: Promise<void>[] = []
    for (let position = offset; position < end; ) {
      const one = this.holding(position)
      const stop = one === undefined ? this.nextHeld(position, end) : Math.min(end, one.start + one.filled)
      const part = into.subarray(position - offset, stop - offset)
      if (one === undefined) coming.push(this.readFile(part, position))
      else part.set(one.bytes.subarray(position - one.start, stop - one.start))
      position = stop
    }
    return coming.length === 0 ? into.length : Promise.all(coming).then(() => into.length)
  }

  /** The same where all of it is in memory, or in a chunk that was written moments ago; else undefined. */
  readNow(offset: number, into: Uint8Array): number | undefined {
    const end = offset + into.length
    const one = this.holding(offset)
    if (one === undefined) return this.nextHeld(offset, end) === end ? this.readWarm(offset, into) : undefined
    if (one.start + one.filled < end) return undefined
    into.set(one.bytes.subarray(offset - one.start, end - one.start))
    return into.length
  }

  private readWarm(offset: number, into: Uint8Array): number | undefined {
    const written = this.sums.get(Math.floor(offset / chunkBytes))
    if (written === undefined || written.end < offset + into.length) return undefined
    if (this.unfinished === undefined || this.ports.now() - written.at > warmMs) return undefined
    try {
      this.unfinished.file.readNow(into, offset)
      return into.length
    } catch {
      // The slower way finds what is wrong.
      return undefined
    }
  }

  /** Resolves when all `length` bytes are proven, and written where they are many. */
  async finish(length: number): Promise<CompleteContent> {
    const [first] = this.held
    if (length === 0 || (first !== undefined && this.isAll(first))) return this.short(first)
    while (this.flushing.size > 0) await Promise.all(this.flushing)
    for (const one of this.held) await this.flush(one)
    const checksum = { length, sums: await this.sumAll(length) }
    if (this.unfinished === undefined) throw new DiskRefused()
    return { in: 'file', unfinished: this.unfinished, checksum }
  }

  private short(one: BufferedChunk | undefined): CompleteContent {
    // An empty one has come to no chunk.
    const bytes = one?.bytes.subarray(0, one.filled) ?? Buffer.alloc(0)
    const handOver = (): void => {
      this.isHandedOver = true
      this.held.clear()
    }
    return { in: 'memory', bytes, checksum: shortChecksum(bytes), handOver }
  }

  discard(): void {
    this.discarded = true
    if (this.unfinished !== undefined) void this.ports.discard(this.unfinished)
  }

  hold(start: number, end: number | undefined): BufferedChunk {
    const isSure = end !== undefined && this.ports.length() !== undefined
    const room = isSure ? Math.min(chunkEnd(start), end) - start : firstBytes
    const one = { start, bytes: lendMemory(room), filled: 0 }
    this.held.add(one)
    return one
  }

  /** It is full, or no more comes for it. */
  letGo(one: BufferedChunk): void {
    if (one.filled === 0 || this.discarded) this.held.delete(one)
    else if (!this.isAll(one)) void this.flush(one)
  }

  /** Nothing has come yet. */
  restart(): void {
    this.arrived = new IntervalSet()
    this.held.clear()
  }

  /** A promise where the disk falls behind and the next piece should wait. */
  get behind(): Promise<unknown> | undefined {
    return this.flushing.size > waitingAtMost ? Promise.race(this.flushing) : undefined
  }

  /** All of a content that is short, and not on its way to the disk: its memory would be lent again. */
  private isAll(one: BufferedChunk): boolean {
    return one.start === 0 && one.filled === this.ports.length() && !this.sums.has(0)
  }

  private flush(one: BufferedChunk): Promise<void> {
    const bytes = one.bytes.subarray(0, one.filled)
    const end = one.start + one.filled
    const index = Math.floor(one.start / chunkBytes)
    const before = one.start % chunkBytes === 0 ? { end: one.start, sum: 0 } : this.sums.get(index)
    if (before?.end === one.start)
      this.sums.set(index, { end, sum: crc32(bytes, before.sum), at: this.ports.now() })
    const written = this.write(bytes, one.start)
      .then(() => {
        this.held.delete(one)
        giveMemoryBack(one.bytes)
      }, this.ports.lost)
      .finally(() => this.flushing.delete(written))
    this.flushing.add(written)
    return written
  }

  private async write(bytes: Uint8Array, start: number): Promise<void> {
    const put = async (): Promise<void> => (await this.file()).file.write(bytes, start)
    try {
      await put()
    } catch (cause) {
      if (this.discarded) return
      if (!(await this.ports.makeRoom())) throw new DiskRefused(undefined, { cause })
      await put().catch(again => Promise.reject(new DiskRefused(undefined, { cause: again })))
    }
  }

  private file(): Promise<UnfinishedFile> {
    this.creating ??= this.create().catch(error => {
      this.creating = undefined
      throw error
    })
    return this.creating
  }

  private async create(): Promise<UnfinishedFile> {
    const made = await this.ports.create()
    this.unfinished = made
    if (this.discarded) await this.ports.discard(made)
    return made
  }

  private async readFile(into: Uint8Array, offset: number): Promise<void> {
    if (this.isHandedOver) throw new FileClosed()
    const { file } = await this.file()
    await file.read(into, offset)
  }

  private holding(offset: number): BufferedChunk | undefined {
    for (const one of this.held) if (one.start <= offset && offset < one.start + one.filled) return one
    return undefined
  }

  /** Where the bytes in memory begin again. */
  private nextHeld(offset: number, end: number): number {
    let next = end
    for (const one of this.held)
      if (one.filled > 0 && one.start > offset && one.start < next) next = one.start
    return next
  }

  /** Chunks that came out of order are read again to be summed. */
  private async sumAll(length: number): Promise<Uint8Array> {
    const list: Uint8Array[] = []
    for (let start = 0; start < length; start += chunkBytes) {
      const end = Math.min(start + chunkBytes, length)
      const known = this.sums.get(start / chunkBytes)
      list.push(known?.end === end ? sumField(known.sum) : await this.sumOf(start, end))
    }
    return Buffer.concat(list)
  }

  private async sumOf(start: number, end: number): Promise<Uint8Array> {
    const bytes = lendMemory(end - start)
    try {
      await this.readFile(bytes, start)
      return chunkSum(bytes)
    } finally {
      giveMemoryBack(bytes)
    }
  }
}

/** Writes from a position on, not beyond `end`. */
export class ChunkWriter {
  private current: BufferedChunk | undefined

  constructor(
    private readonly buffer: ChunkBuffer,
    private position: number,
    private readonly end: () => number | undefined,
  ) {}

  /** Takes a copy, and gives the piece's memory back; a promise where the next piece should wait. */
  put(piece: Uint8Array): Promise<unknown> | undefined {
    const start = this.position
    for (let from = 0; from < piece.length; ) {
      const part = piece.subarray(from, from + chunkEnd(this.position) - this.position)
      this.add(part)
      from += part.length
    }
    this.buffer.arrived.add(start, this.position)
    giveMemoryBack(piece)
    return this.buffer.behind
  }

  /** Bytes in memory go to the disk: the chunk is full, or no more comes. */
  close(): void {
    if (this.current !== undefined) this.buffer.letGo(this.current)
    this.current = undefined
  }

  /** Begins again with the first byte. */
  restart(): void {
    this.buffer.restart()
    this.current = undefined
    this.position = 0
  }

  private add(part: Uint8Array): void {
    const chunk = this.current ?? this.buffer.hold(this.position, this.end())
    makeFit(chunk, chunk.filled + part.length)
    chunk.bytes.set(part, chunk.filled)
    chunk.filled += part.length
    this.position += part.length
    this.current = chunk
    if (this.position % chunkBytes === 0) this.close()
  }
}

const chunkEnd = (offset: number): number => offset - (offset % chunkBytes) + chunkBytes

function makeFit(one: BufferedChunk, bytes: number): void {
  if (bytes <= one.bytes.length) return
  const larger = lendMemory(Math.min(chunkBytes, Math.max(bytes, one.bytes.length * 4)))
  one.bytes.copy(larger, 0, 0, one.filled)
  giveMemoryBack(one.bytes)
  one.bytes = larger
}
