// Content cache: each content is downloaded once, read while it arrives, and served from the disk afterwards.
import type { Activity } from '../../activity/activity.js'
import { Failure } from '../../failure.js'
import { foundOnce } from '../../recent-map.js'
import type { Clock } from '../../remote/clock.js'
import {
  type ByteCount,
  byteCount,
  type Content,
  type Instant,
  type Remote,
  type RequestContext,
} from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'
import type { PrefetchRequest } from './download/download.js'
import { ContentEntries, type DownloadProgress } from './download/entries.js'
import type { ColdRead } from './download/entry.js'
import { Maintenance } from './maintenance.js'
import type { Blob } from './store/blob.js'
import { BlobStore, contentFileName, type StoreSettings } from './store/blob-store.js'
import { storedBytes } from './store/checksum.js'
import { KeptFiles } from './store/kept-files.js'
import { LruIndex } from './store/lru.js'
import { FileClosed } from './store/open-file.js'
import { ContentVersions, fingerprintOf, isOther, tells } from './store/versions.js'

export interface ContentCacheOptions extends Pick<StoreSettings, 'log' | 'dropped'> {
  /** Made if missing, 0700. Two processes may share it. */
  readonly directory: string
  /** The room of kept files; a file larger than that is kept only while it is read. */
  readonly limitBytes: number
  readonly ledger: Ledger
  readonly remote: Pick<Remote, 'content' | 'contentSize' | 'contentFacts'>
  readonly clock: Clock
  /** The names of what must stay on this disk, as all mounts want it. */
  readonly pinned: () => ReadonlySet<string>
  /** A content has another length or version than it was told with. */
  readonly changed: () => void
  /** Counts what is read, and what was asked ahead. */
  readonly activity: Pick<Activity, 'cache' | 'foresight'>
  /** A content of this name is another version than before: found here, not heard of. */
  readonly replaced: (name: string) => void
}

/** A file can be closed or found damaged between two steps; more often than this in one read, something else is wrong. */
const triesAtMost = 8

/** Methods reject with a Failure, 'timeout' at the ask's deadline, while the download goes on; or with what the local disk said. */
export class ContentCache {
  private readonly store: BlobStore
  private readonly versions: ContentVersions
  private readonly lru: LruIndex
  private readonly files: KeptFiles
  private readonly entries: ContentEntries
  readonly maintenance: Maintenance
  private readonly use: Activity['cache']
  private readonly foresight: Activity['foresight']
  /** The name under which a content is kept: 64 hexadecimal digits. */
  readonly nameOf = foundOnce(contentFileName)

  /** Opens at once; the files of earlier days are counted in the background. Throws what the disk says. */
  constructor(private readonly options: ContentCacheOptions) {
    const { activity, changed, clock, log, ledger, limitBytes, pinned, remote, replaced } = options
    const { now } = clock
    this.use = activity.cache
    this.foresight = activity.foresight
    const dropped = (name: string, since: Instant): void => {
      this.lru.remove(name, since)
      options.dropped?.(name, since)
    }
    this.store = new BlobStore(options.directory, { log, now, dropped })
    this.versions = new ContentVersions(ledger, {
      now,
      changed,
      replaced,
      elsewhere: name => this.replacedElsewhere(name),
    })
    this.lru = new LruIndex({
      limitBytes,
      ledger,
      clock,
      pinned,
      inUse: name => this.entries.find(name)?.busy === true || this.files.isBeingRead(name),
      find: name => this.store.find(name),
      drop: (name, bytes) => this.drop(name, bytes),
      isArriving: name => this.entries.find(name)?.downloading === true,
      dropParts: name => this.entries.forget(name),
      log,
    })
    const { store, versions, lru } = this
    this.files = new KeptFiles({ store, versions, lru, clock, log })
    this.entries = new ContentEntries({ remote, store, versions, lru, kept: this.files, clock, log })
    this.maintenance = new Maintenance({
      store,
      lru,
      entries: this.entries,
      discard: (name, error) => this.discard(name, error),
      clock,
      log,
    })
  }

  /** The true size in bytes, from memory, from the service, or counted. */
  async size(content: Content, context: RequestContext): Promise<ByteCount> {
    const name = this.nameOf(content)
    const told = this.versions.length(name)
    if (told !== undefined) return told
    const { entry, blob } = this.found(content, name)
    if (blob === undefined) return byteCount(await entry.size(context))
    this.versions.remember(name, blob.length)
    return byteCount(blob.length)
  }

  knownSize(content: Content): ByteCount | undefined {
    return this.versions.length(this.nameOf(content))
  }

  /** Fills `into` from `offset`, less only at the end; 0 at or after the end. At once, where the bytes were read moments ago; undefined where `read` must be asked. */
  readNow(content: Content, offset: number, into: Uint8Array): number | undefined {
    const name = this.nameOf(content)
    this.foresight.used(name)
    const hot = this.files.readHot(name, offset, into)
    if (hot !== undefined) return this.counted(hot, 'kept', name)
    const arriving = this.entries.find(name)?.readNow(offset, into)
    if (arriving !== undefined) return this.counted(arriving, 'arriving', name)
    const kept = this.files.readNow(name, offset, into)
    return kept === undefined ? undefined : this.counted(kept, 'kept', name)
  }

  /** The same where `readNow` has none of them. */
  async read(content: Content, wanted: ColdRead): Promise<number> {
    const name = this.nameOf(content)
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const hot = this.files.readHot(name, wanted.offset, wanted.into)
      if (hot !== undefined) return this.counted(hot, 'arriving', name)
      const { entry, blob } = this.found(content, name)
      const bytes = blob === undefined ? await entry.read(wanted) : await this.readKept(blob, name, wanted)
      if (bytes !== undefined) return this.counted(bytes, blob === undefined ? 'arriving' : 'kept', name)
    }
    throw new Failure('internal', 'a kept file was closed or damaged again and again')
  }

  /**
   * Downloads it at the question's priority before it is read, or joins the download under way; a reader that comes joins too.
   * Its length in bytes when it is whole or was kept before. One longer than `most` is left alone: its length as far as
   * the service told it, else more than `most`. The signal ends a download that no reader has come for.
   */
  prefetch(content: Content, context: RequestContext, most: number, signal?: AbortSignal): Promise<number> {
    return this.ahead(content, { context, most, signal })
  }

  /**
   * Downloads all of it in the background, however long it is and whether a reader comes or not. Its length in bytes when it
   * is whole on this disk. 'timeout' at the context's deadline, while the download goes on.
   */
  keepWhole(content: Content, context: RequestContext): Promise<number> {
    const name = this.nameOf(content)
    // Another program may have removed it: what is open of it is not kept any more.
    if (!this.isOnDisk(content)) this.files.letGo(name)
    const most = Number.POSITIVE_INFINITY
    const wanted = context.deadline
    return this.ahead(content, { context, most, signal: undefined, wanted })
  }

  /** True if its file is there now, in its length; other daemons remove some, too. */
  isOnDisk(content: Content): boolean {
    const name = this.nameOf(content)
    const length = this.versions.length(name)
    const bytes = this.store.has(name) ? this.store.find(name)?.bytes : undefined
    return bytes !== undefined && (length === undefined || bytes === storedBytes(length))
  }

  /** The number and the room on disk of those that are kept; an empty content is kept by its length. */
  kept(names: readonly string[]): { readonly files: number; readonly bytes: number } {
    const { bytes, missing } = this.lru.amountsOf(names)
    const absent = missing.filter(name => this.versions.length(name) !== 0)
    return { files: names.length - absent.length, bytes }
  }

  /** When it was made, as the service said with its length, and never later than that was heard. Without a request. */
  modifiedAt(content: Content): Instant | undefined {
    return this.versions.modified(this.nameOf(content))
  }

  /** When it was last found to be another version than the one before; undefined for nearly all. Without a request. */
  replacedAt(content: Content): Instant | undefined {
    return this.versions.replacedAt(this.nameOf(content))
  }

  /** @throws Failure where it is another version than the one that `replacedAt` told */
  check(content: Content, replacedAt: Instant | undefined): void {
    this.versions.check(this.nameOf(content), replacedAt)
  }

  /** True if its file was there when this process looked last. One of unknown length is not: most that are foreseen are such, and need no look at the disk. */
  isKept(content: Content): boolean {
    const name = this.nameOf(content)
    return this.versions.length(name) !== undefined && this.files.isKept(name)
  }

  /** How much of it is on this disk, from 0 to 1; without a request. */
  cached(content: Content): number {
    const name = this.nameOf(content)
    return this.store.has(name) ? 1 : (this.entries.find(name)?.fraction ?? 0)
  }

  /** Another daemon has found that the service holds another version of the content that goes by this name. */
  async outdate(name: string): Promise<void> {
    const isMet = this.entries.find(name) !== undefined || this.versions.length(name) !== undefined
    await this.forgetNamed(name, isMet || this.store.has(name))
  }

  /**
   * Asks the service about it now: what is kept stays only where a validator says that it is the same version still. A service
   * that is away takes nothing: the question fails before anything is forgotten.
   */
  async renew(content: Content, context: RequestContext): Promise<void> {
    const name = this.nameOf(content)
    const told = this.versions.length(name)
    if (told === undefined) return
    const { head, range, version } = await this.options.remote.contentFacts(content, context)
    const isOneLength = [head, range].every(bytes => bytes === undefined || bytes === told)
    const before = this.versions.version(name)
    if (tells(before) && !isOther(before, fingerprintOf(version)) && isOneLength) return
    // Bytes that were not kept, or not for long, may still be pages of the kernel.
    const wasRead = before !== undefined || this.cached(content) > 0
    const isReplaced = wasRead || !isOneLength
    if (isReplaced) this.options.replaced(name)
    await this.forgetNamed(name, isReplaced)
  }

  /** Drops the kept files that are meant; what is being downloaded goes on. */
  async clear(isMeant: (name: string) => boolean): Promise<{ files: number; bytes: number }> {
    let files = 0
    let total = 0
    for await (const name of this.store.names()) {
      const bytes = isMeant(name) ? this.store.find(name)?.bytes : undefined
      if (bytes === undefined) continue
      // Known size and version stay, to be compared with the next download: the kernel still has pages of it.
      // Where no validator tells versions apart, the file's time moves instead.
      if (!tells(this.versions.version(name))) this.versions.noteReplaced(name)
      await this.drop(name)
      files += 1
      total += bytes
    }
    return { files, bytes: total }
  }

  stats() {
    return { ...this.lru.amounts(), limitBytes: this.options.limitBytes, downloads: this.progress().length }
  }

  progress(): readonly DownloadProgress[] {
    return this.entries.progress()
  }

  async close(): Promise<void> {
    await this.entries.close()
    await this.maintenance.close()
    this.files.close()
  }

  private async drop(name: string, bytes?: number): Promise<void> {
    this.foresight.dropped(name)
    this.files.letGo(name)
    await this.store.drop(name, bytes)
    // A reader may have opened it meanwhile, and would read what is gone for as long as it is asked for.
    this.files.letGo(name)
  }

  /** Another mount has found that the service holds another version: what is open here is the old one. */
  private replacedElsewhere(name: string): void {
    const { log } = this.options
    this.files.letGo(name)
    this.entries
      .forget(name)
      .catch((error: unknown) => log('an old version could not be dropped', { name, error: String(error) }))
  }

  /** The file is not what was kept: it goes, and the next step downloads it again. */
  private async discard(name: string, error: unknown): Promise<void> {
    this.options.log('a kept file could not be read and is dropped', { name, error: String(error) })
    await this.drop(name)
  }

  private counted(bytes: number, from: 'kept' | 'arriving', name: string): number {
    this.lru.touch(name)
    if (from === 'kept') {
      this.use.readsKept += 1
      this.use.bytesKept += bytes
    } else {
      this.use.readsArriving += 1
      this.use.bytesArriving += bytes
    }
    return bytes
  }

  private found(content: Content, name: string) {
    const entry = this.entries.of(content, name)
    const blob = entry.busy ? undefined : this.files.find(name)
    if (blob === undefined) this.use.missed += 1
    return { entry, blob }
  }

  private async readKept(blob: Blob, name: string, { offset, into }: ColdRead): Promise<number | undefined> {
    try {
      return await blob.read(offset, into)
    } catch (error) {
      if (!(error instanceof FileClosed)) await this.discard(name, error)
      return undefined
    }
  }

  private async ahead(content: Content, guess: PrefetchRequest): Promise<number> {
    const name = this.nameOf(content)
    const told = this.versions.length(name)
    if (told !== undefined && (told === 0 || told > guess.most || this.isOnDisk(content))) return told
    const { entry, blob } = this.found(content, name)
    if (blob !== undefined) return blob.length
    const length = await entry.prefetch(guess)
    if (guess.context.priority === 'guess' && length <= guess.most) this.foresight.brought(name, length)
    return length
  }

  private async forgetNamed(name: string, isReplaced: boolean): Promise<void> {
    const wasComing = this.entries.find(name)?.busy === true
    const ended = this.entries.forget(name)
    this.forgetNow(name, isReplaced)
    await ended
    // The download that ended may have been kept.
    if (wasComing) this.forgetNow(name, isReplaced)
  }

  /** In one step: a handle that is opened after it reads no byte of before, nor are such bytes kept by the kernel as new ones. */
  private forgetNow(name: string, isReplaced: boolean): void {
    this.foresight.dropped(name)
    this.files.letGo(name)
    this.versions.forget(name)
    if (isReplaced) this.versions.noteReplaced(name)
    this.store.dropNow(name)
  }
}
