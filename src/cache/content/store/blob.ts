// One kept file, open for reading: a chunk is believed only after its sum was checked in this process, and while nothing writes to it.
import { giveMemoryBack, lendMemory } from '../../../lent-memory.js'
import type { Instant } from '../../../remote/remote.js'
import { type Checksum, chunkBytes, chunkCount, matchesChunk } from './checksum.js'
import type { CacheFile } from './open-file.js'

/** A chunk read or written this recently is still in the page cache, so that a synchronous read does not wait for the disk. */
export const warmMs = 30_000

export class Blob {
  private readonly believed: Uint8Array
  private readonly warmUntil: Float64Array
  private readonly checks = new Map<number, Promise<void>>()
  private readers = 0
  /** Another one once anything was written to the file, or its times were set. */
  private stamp: number
  private readTo = 0

  constructor(
    private readonly file: CacheFile,
    private readonly checksum: Checksum,
    private readonly now: () => Instant,
  ) {
    this.believed = new Uint8Array(chunkCount(checksum.length))
    this.warmUntil = new Float64Array(this.believed.length)
    this.stamp = file.status().ctimeMs
  }

  get length(): number {
    return this.checksum.length
  }

  get idle(): boolean {
    return this.readers === 0 && this.file.idle
  }

  /** The bytes at once where they were read moments ago, else undefined: the caller then takes `read`. */
  readNow(offset: number, into: Uint8Array): number | undefined {
    const wanted = this.inside(offset, into)
    if (wanted.length === 0) return 0
    const last = chunkAt(offset + wanted.length - 1)
    const time = this.now()
    const { stamp } = this
    for (let index = chunkAt(offset); index <= last; index += 1) {
      if (!((this.warmUntil[index] ?? 0) > time)) return undefined
    }
    this.file.readNow(wanted, offset)
    if (this.look() !== stamp) return undefined
    this.checkAhead(offset, wanted.length)
    return wanted.length
  }

  /** Fills `into` up to the end; rejects rather than give a wrong byte. */
  async read(offset: number, into: Uint8Array): Promise<number> {
    const wanted = this.inside(offset, into)
    if (wanted.length === 0) return 0
    const last = chunkAt(offset + wanted.length - 1)
    this.readers += 1
    try {
      let stamp: number
      do {
        stamp = this.look()
        for (let index = chunkAt(offset); index <= last; index += 1) await this.ensure(index)
        this.checkAhead(offset, wanted.length)
        await this.file.read(wanted, offset)
      } while (this.look() !== stamp)
      this.warmUntil.fill(this.now() + warmMs, chunkAt(offset), last + 1)
      return wanted.length
    } finally {
      this.readers -= 1
    }
  }

  /** Checks every chunk not yet believed; rejects where one is not as it was kept. */
  async verify(): Promise<void> {
    this.look()
    for (let index = 0; index < this.believed.length; index += 1) await this.ensure(index)
  }

  close(): void {
    this.file.close()
  }

  /** A check counts as long as the file says that it is as it was, behind the read too; 2 µs. */
  private look(): number {
    const now = this.file.status().ctimeMs
    if (now === this.stamp) return now
    this.stamp = now
    this.checks.clear()
    this.believed.fill(0)
    this.warmUntil.fill(0)
    return now
  }

  private inside(offset: number, into: Uint8Array): Uint8Array {
    return into.subarray(0, Math.max(0, Math.min(into.length, this.length - offset)))
  }

  /** One check a chunk, however many readers wait for it. */
  private ensure(index: number): Promise<void> {
    if (this.believed[index] === 1) return Promise.resolve()
    const running = this.checks.get(index) ?? this.check(index)
    this.checks.set(index, running)
    return running
  }

  /** While a program takes one chunk, the disk and another thread bring the next. */
  private checkAhead(offset: number, length: number): void {
    const isReadOn = offset > 0 && offset === this.readTo
    this.readTo = offset + length
    const next = chunkAt(this.readTo - 1) + 1
    if (!isReadOn || this.believed[next] !== 0 || this.checks.has(next)) return
    // Its own reader checks it again, and hears what is wrong.
    this.ensure(next).catch(() => undefined)
  }

  private async check(index: number): Promise<void> {
    const start = index * chunkBytes
    const { stamp } = this
    const bytes = lendMemory(Math.min(chunkBytes, this.length - start))
    try {
      await this.file.read(bytes, start)
      if (!matchesChunk(this.checksum, index, bytes))
        throw new Error('the bytes are not those that were kept')
      // What was written meanwhile may not be what was checked.
      if (this.stamp !== stamp) return
      this.believed[index] = 1
      this.warmUntil[index] = this.now() + warmMs
    } finally {
      giveMemoryBack(bytes)
      if (this.stamp === stamp) this.checks.delete(index)
    }
  }
}

const chunkAt = (offset: number): number => Math.floor(offset / chunkBytes)
