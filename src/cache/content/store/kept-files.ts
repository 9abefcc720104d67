// Kept files in use: how a whole content joins them, which are open or in memory, and that none is read once it was let go.
import { LRUCache } from 'lru-cache'
import { giveMemoryBack, lendMemory } from '../../../lent-memory.js'
import { attempt, chain, type MaybePromise } from '../../../maybe-promise.js'
import { RecentMap } from '../../../recent-map.js'
import type { Clock } from '../../../remote/clock.js'
import type { LogFunction } from '../../ledger/ledger.js'
import { Blob } from './blob.js'
import type { BlobStore, UnfinishedFile } from './blob-store.js'
import { type Checksum, shortBytes, storedBytes } from './checksum.js'
import type { LruIndex } from './lru.js'
import type { ContentVersions, VersionFingerprint } from './versions.js'

/** Every byte is there: in memory of its own where the content is short, which its download reads no more once it was handed over. */
export type CompleteContent =
  | {
      readonly in: 'memory'
      readonly bytes: Buffer
      readonly checksum: Checksum
      readonly handOver: () => void
    }
  | { readonly in: 'file'; readonly unfinished: UnfinishedFile; readonly checksum: Checksum }

export interface KeptFilesPorts {
  readonly store: BlobStore
  readonly versions: ContentVersions
  readonly lru: LruIndex
  readonly clock: Clock
  readonly log: LogFunction
}

const openFilesAtMost = 256
const namesAtMost = 16_384
/** The room that a full disk gives up at once. */
export const roomBytes = 64 << 20
/** Short contents that arrived or were read a moment ago; the next reads need no disk. */
const hotBytes = 16 << 20

export class KeptFiles {
  private readonly open = new LRUCache<string, Blob>({ max: openFilesAtMost, dispose: blob => blob.close() })
  /** No one else reads or writes their memory. */
  private readonly hot = new LRUCache<string, Buffer>({
    maxSize: hotBytes,
    sizeCalculation: bytes => Math.max(1, bytes.buffer.byteLength),
    dispose: giveMemoryBack,
  })
  /** Kept or read by this process, and not let go: a guess needs no look at the disk. */
  private readonly met = new RecentMap<string, true>(namesAtMost)

  constructor(private readonly ports: KeptFilesPorts) {}

  isBeingRead(name: string): boolean {
    return this.open.peek(name)?.idle === false
  }

  /** True if its file was there when this process last looked; another daemon may have removed it since. */
  isKept(name: string): boolean {
    if (this.met.has(name)) return true
    if (!this.ports.store.has(name)) return false
    this.met.set(name, true)
    return true
  }

  /** From memory; undefined for a content that is not there. */
  readHot(name: string, offset: number, into: Uint8Array): number | undefined {
    const bytes = this.hot.get(name)
    if (bytes === undefined) return undefined
    const part = bytes.subarray(offset, offset + into.length)
    into.set(part)
    // Read to its end it is the kernel's: what is still waited for has the room.
    if (offset + part.length === bytes.length) this.hot.delete(name)
    return part.length
  }

  /** The bytes at once, from a file that was read a moment ago or is short; undefined where `find` must be asked. */
  readNow(name: string, offset: number, into: Uint8Array): number | undefined {
    const blob = this.open.get(name)
    if (blob === undefined) return this.readShort(name, offset, into)
    try {
      return blob.readNow(offset, into)
    } catch {
      // A disk that cannot give the bytes now may do so in the slower way, which also finds what is wrong.
      return undefined
    }
  }

  /** Open, or opened now; undefined where it is not kept. */
  find(name: string): Blob | undefined {
    const { store, versions, log } = this.ports
    const open = this.open.get(name)
    if (open !== undefined) return open
    try {
      const blob = store.open(name)
      if (blob === undefined) return undefined
      const told = versions.length(name)
      if (told === undefined || told === blob.length) {
        this.open.set(name, blob)
        return blob
      }
      blob.close()
      log('a kept file has not the length the service told, and is dropped', { name })
      store.dropNow(name)
    } catch (error) {
      log('a kept file cannot be opened', { name, error: String(error) })
    }
    return undefined
  }

  /** Counted before it is named, so that the others make room first; at once where the disk is quick. */
  keep(name: string, whole: CompleteContent, version: VersionFingerprint | undefined): MaybePromise<void> {
    const { versions, lru } = this.ports
    const { checksum } = whole
    versions.remember(name, checksum.length, { version, modified: version?.date })
    const counted = lru.add(name, storedBytes(checksum.length))
    return chain(counted, () =>
      whole.in === 'memory' ? this.keepShort(name, whole) : this.keepFile(name, whole),
    )
  }

  /** An open file of it is not read from any more. */
  letGo(name: string): void {
    this.met.delete(name)
    this.hot.delete(name)
    this.open.delete(name)
  }

  close(): void {
    this.open.clear()
  }

  /** Where its next bytes are asked for in a moment it is read whole. */
  private readShort(name: string, offset: number, into: Uint8Array): number | undefined {
    const { versions, store } = this.ports
    const length = versions.length(name)
    if (length === undefined || length > shortBytes) return undefined
    if (offset === 0 && into.length >= length)
      return store.readShort(name, into.subarray(0, length)) ? length : undefined
    const own = lendMemory(length)
    if (store.readShort(name, own)) this.hot.set(name, own)
    else giveMemoryBack(own)
    return this.readHot(name, offset, into)
  }

  private keepShort(name: string, whole: CompleteContent & { in: 'memory' }): MaybePromise<void> {
    const { bytes, checksum, handOver } = whole
    const keeping = attempt(
      () => this.keepNow(name, bytes, checksum),
      error => this.keepInRoom(name, whole, error),
    )
    // Not before it is written, and in one step: memory that is let go holds another content soon.
    return chain(keeping, () => {
      handOver()
      this.hot.set(name, bytes)
    })
  }

  private keepNow(name: string, bytes: Buffer, checksum: Checksum): MaybePromise<void> {
    return chain(this.ports.store.keep(name, bytes, checksum), () => void this.met.set(name, true))
  }

  private async keepInRoom(
    name: string,
    { bytes, checksum }: CompleteContent & { in: 'memory' },
    refused: unknown,
  ): Promise<void> {
    try {
      if (!(await this.ports.lru.evict(roomBytes))) throw refused
      await this.keepNow(name, bytes, checksum)
    } catch (error) {
      this.unnamed(name, error)
    }
  }

  private async keepFile(
    name: string,
    { unfinished, checksum }: CompleteContent & { in: 'file' },
  ): Promise<void> {
    const { store, clock } = this.ports
    try {
      await store.publish(unfinished, name, checksum)
    } catch (error) {
      this.unnamed(name, error)
    }
    this.open.set(name, new Blob(unfinished.file, checksum, clock.now))
  }

  /** It is still read until it is closed, or as long as it stays in memory: its bytes are whole. */
  private unnamed(name: string, error: unknown): void {
    this.ports.lru.remove(name)
    this.ports.log('a whole download could not be given its name', { name, error: String(error) })
  }
}
