// One kept file, open for reading: a chunk is believed only after its sum was checked in this process, and while nothing writes to it.
import type { Instant } from '../../../remote/remote.js'
import { type Checksum, chunkBytes, chunkCount, matchesChunk } from './checksum.js'
import { type CacheFile, FileTruncated } from './open-file.js'

export interface Blob {
  readonly name: string
  /** In bytes. */
  readonly length: number
  readonly idle: boolean
  /** The bytes at once where they were read moments ago, else undefined: the caller then takes `read`. */
  readNow(offset: number, into: Uint8Array): number | undefined
  /** Fills `into` up to the end; rejects with `BlobDamaged` rather than give a wrong byte. */
  read(offset: number, into: Uint8Array): Promise<number>
  /** Checks every chunk not yet believed; rejects with `BlobDamaged`. */
  verify(): Promise<void>
  close(): void
}

/** The file is not what was kept. */
class BlobDamaged extends Error {
  override readonly message = 'a kept file is damaged'
}

/** A chunk read this recently is still in the page cache, so that a synchronous read does not wait for the disk. */
const warmMs = 30_000

/** Room for the chunks that are checked, used again: a new one for each of a long file kept the collector busy for a third of its reading. */
const spareRooms: Buffer[] = []
const spareAtMost = 2

export interface BlobFile {
  readonly name: string
  readonly file: CacheFile
  readonly checksum: Checksum
}

/** `believed`: the bytes were summed on their way in by this very process. */
export function blobOf(kept: BlobFile, origin: 'believed' | 'found', now: () => Instant): Blob {
  const { file, checksum } = kept
  const believed = new Uint8Array(chunkCount(checksum.length)).fill(origin === 'believed' ? 1 : 0)
  const warmUntil = new Float64Array(believed.length)
  const checks = new Map<number, Promise<void>>()
  let readers = 0
  let stamp = file.stamp()

  /** A check counts as long as the file says that it is as it was; 2 µs. */
  function look(): void {
    const now = file.stamp()
    if (now === stamp) return
    stamp = now
    believed.fill(0)
    warmUntil.fill(0)
  }

  const inside = (offset: number, into: Uint8Array) =>
    into.subarray(0, Math.max(0, Math.min(into.length, checksum.length - offset)))

  async function check(index: number): Promise<void> {
    const start = index * chunkBytes
    const room = spareRooms.pop() ?? Buffer.allocUnsafeSlow(chunkBytes)
    const bytes = room.subarray(0, Math.min(chunkBytes, checksum.length - start))
    try {
      await file.read(bytes, start)
      if (!matchesChunk(checksum, index, bytes)) throw new BlobDamaged()
      believed[index] = 1
    } catch (error) {
      throw error instanceof FileTruncated ? new BlobDamaged() : error
    } finally {
      if (spareRooms.length < spareAtMost) spareRooms.push(room)
    }
  }

  /** One check a chunk, however many readers wait for it. */
  function ensure(index: number): Promise<void> {
    if (believed[index] === 1) return Promise.resolve()
    const running = checks.get(index) ?? check(index).finally(() => checks.delete(index))
    checks.set(index, running)
    return running
  }

  async function read(offset: number, into: Uint8Array): Promise<number> {
    const wanted = inside(offset, into)
    if (wanted.length === 0) return 0
    look()
    const last = chunkAt(offset + wanted.length - 1)
    readers += 1
    try {
      for (let index = chunkAt(offset); index <= last; index += 1) await ensure(index)
      await file.read(wanted, offset)
      warmUntil.fill(now() + warmMs, chunkAt(offset), last + 1)
      return wanted.length
    } finally {
      readers -= 1
    }
  }

  return {
    name: kept.name,
    length: checksum.length,
    get idle() {
      return readers === 0 && file.idle
    },
    readNow(offset, into) {
      const wanted = inside(offset, into)
      if (wanted.length === 0) return 0
      const last = chunkAt(offset + wanted.length - 1)
      const time = now()
      look()
      for (let index = chunkAt(offset); index <= last; index += 1) {
        if (!((warmUntil[index] ?? 0) > time)) return undefined
      }
      file.readNow(wanted, offset)
      return wanted.length
    },
    read,
    async verify() {
      look()
      for (let index = 0; index < believed.length; index += 1) await ensure(index)
    },
    close: () => file.close(),
  }
}

const chunkAt = (offset: number): number => Math.floor(offset / chunkBytes)
