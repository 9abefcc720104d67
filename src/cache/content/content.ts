// Content cache: each content is downloaded once, read while it arrives, and served from the disk afterwards.
import { LRUCache } from 'lru-cache'
import { type Activity, openCacheUse, openForesight } from '../../activity/activity.js'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { openRecentMap } from '../../recent-map.js'
import type { Clock } from '../../remote/clock.js'
import {
  type ByteCount,
  byteCount,
  type Content,
  type Remote,
  type RequestContext,
} from '../../remote/remote.js'
import type { Ledger } from '../ledger/ledger.js'
import type { ContentCache } from './content-cache.js'
import { openContentEntries } from './download/content-entries.js'
import type { ColdRead, PrefetchRequest } from './download/content-entry.js'
import { contentOfParts, partsOf } from './download/download-lifecycle.js'
import { openHotFiles } from './hot-files.js'
import { startMaintenance } from './maintenance.js'
import type { Blob } from './store/blob.js'
import { type BlobStore, openBlobStore, type StoreSettings } from './store/blob-store.js'
import { contentFileName, contentKeyOf } from './store/content-name.js'
import { openLruIndex } from './store/lru.js'
import { FileClosed } from './store/open-file.js'
import { shortBytes } from './store/short-files.js'
import { openContradictions } from './versions/contradiction.js'
import { openReplacedContents } from './versions/replaced.js'
import { openContentSizes } from './versions/sizes.js'
import { fingerprintOf, isOther, tells } from './versions/versions.js'

export interface ContentCacheOptions extends Pick<StoreSettings, 'log' | 'dropped'> {
  /** Made if missing, 0700. Two processes may share it. */
  readonly directory: string
  /** What kept files may take; a file larger than that is kept only while it is read. */
  readonly limitBytes: number
  readonly ledger: Ledger
  readonly remote: Pick<Remote, 'content' | 'contentSize' | 'contentFacts'>
  readonly clock: Clock
  /** A content has another length or version than it was told with. */
  readonly changed?: () => void
  /** Counts what is read, and what was asked ahead. */
  readonly activity?: Pick<Activity, 'cache' | 'foresight'> | undefined
  /** A content of this name is another version than before: found here, not heard of. */
  readonly replaced?: (name: string) => void
}

const openFilesAtMost = 256
const namesAtMost = 16_384
/** A file can be closed or found damaged between two steps; more often than this in one read, something else is wrong. */
const triesAtMost = 8

/** Opens the cache at once; the files of earlier days are counted in the background. Throws a Failure if it cannot write. */
export function openContentCache(options: ContentCacheOptions): ContentCache {
  const { clock, log, changed = () => {} } = options
  const { cache: use, foresight } = options.activity ?? { cache: openCacheUse(), foresight: openForesight() }
  const { now } = clock
  const store = storeIn(options)
  const sizes = openContentSizes(options.ledger, changed, now)
  const names = openRecentMap<string>(namesAtMost)
  const open = new LRUCache<string, Blob>({ max: openFilesAtMost, dispose: blob => blob.close() })
  const hotFiles = openHotFiles()
  /** How often each was let go. */
  const removals = openRecentMap<number>(namesAtMost)
  const replaced = openReplacedContents(options.ledger, { now, elsewhere: replacedElsewhere, changed })
  let pinned: ReadonlySet<string> = new Set()
  const isPinned = (name: string): boolean => pinned.has(name)
  const lru = openLruIndex({ limitBytes: options.limitBytes, now, inUse, isPinned, drop })
  const entries = openContentEntries({
    ...options,
    store: { ...store, open: openedNow },
    sizes,
    lru,
    contradictions: openContradictions(now),
    replaced: replacedHere,
    keepOpen: blob => open.set(blob.name, blob),
    holdHotFile: hotFiles.hold,
  })
  const maintenance = startMaintenance({ store, lru, entries, discard, drop, clock, log })

  /** A stat asks several times in a row. */
  let lastNamed: { readonly content: Content; readonly name: string } | undefined

  function nameOf(content: Content): string {
    if (lastNamed?.content !== content) lastNamed = { content, name: namedBy(contentKeyOf(content)) }
    return lastNamed.name
  }

  function namedBy(key: string): string {
    const known = names.get(key)
    if (known !== undefined) return known
    const name = contentFileName(key)
    names.set(key, name)
    return name
  }

  function inUse(name: string): boolean {
    const parts = contentOfParts(name)
    if (parts !== undefined) return entries.isComing(parts)
    return entries.isBusy(name) || open.peek(name)?.idle === false
  }

  async function drop(name: string, bytes?: number): Promise<void> {
    const parts = contentOfParts(name)
    if (parts !== undefined) return entries.forget(parts)
    foresight.dropped(name)
    letGo(name)
    await store.drop(name, bytes)
    // A reader may have opened it meanwhile, and would read what is gone for as long as it is asked for.
    letGo(name)
  }

  /** Undefined for what was let go while it was being opened: it may be the old file. */
  async function openedNow(name: string): Promise<Blob | undefined> {
    const before = removals.get(name)
    const blob = await store.open(name)
    if (removals.get(name) === before) return blob
    blob?.close()
    return undefined
  }

  /** What is open of it, or is being opened, is not read from any more. */
  function letGo(name: string): void {
    removals.set(name, (removals.get(name) ?? 0) + 1)
    hotFiles.drop(name)
    open.delete(name)
  }

  function replacedHere(name: string): void {
    replaced.note(name)
    options.replaced?.(name)
  }

  /** Another mount has found that the service holds another version: what is open here is the old one. */
  function replacedElsewhere(name: string): void {
    letGo(name)
    entries
      .forget(name)
      .catch((error: unknown) => log('an old version could not be dropped', { name, error: String(error) }))
  }

  /** The file is not what was kept: it goes, and the next step downloads it again. */
  async function discard(name: string, error: unknown): Promise<void> {
    log('a kept file could not be read and is dropped', { name, error: String(error) })
    lru.remove(name)
    await drop(name)
  }

  function readNow(content: Content, offset: number, into: Uint8Array): number | undefined {
    const name = nameOf(content)
    foresight.used(name)
    const hot = hotFiles.read(name, offset, into)
    if (hot !== undefined) return counted(hot, 'kept', name)
    const arriving = entries.readNow(name, offset, into)
    if (arriving !== undefined) return counted(arriving, 'arriving', name)
    const blob = open.get(name)
    const stored = blob === undefined ? readShort(name, offset, into) : readStored(blob, offset, into)
    return stored === undefined ? undefined : counted(stored, 'kept', name)
  }

  function counted(bytes: number, from: 'kept' | 'arriving', name: string): number {
    lru.touch(name)
    if (from === 'kept') {
      use.readsKept += 1
      use.bytesKept += bytes
    } else {
      use.readsArriving += 1
      use.bytesArriving += bytes
    }
    return bytes
  }

  /** A short file is read whole, for its next bytes are asked for in a moment. */
  function readShort(name: string, offset: number, into: Uint8Array): number | undefined {
    const told = sizes.known(name)
    if (told === undefined || told > shortBytes) return undefined
    store.readShort(name, bytes => {
      if (bytes.length === told) hotFiles.hold(name, bytes)
    })
    return hotFiles.read(name, offset, into)
  }

  async function read(
    content: Content,
    offset: number,
    into: Uint8Array,
    context: RequestContext,
  ): Promise<number> {
    const now = readNow(content, offset, into)
    return now ?? readCold(content, { name: nameOf(content), offset, into, context }).catch(rethrow)
  }

  async function readCold(content: Content, wanted: NamedRead): Promise<number> {
    lru.touch(wanted.name)
    for (let tries = 0; tries < triesAtMost; tries += 1) {
      const entry = entries.of(content, wanted.name)
      const blob = open.get(wanted.name) ?? (await entry.kept())
      const bytes = blob === undefined ? await entry.read(wanted) : await readKept(blob, wanted)
      if (bytes !== undefined) return counted(bytes, blob === undefined ? 'arriving' : 'kept', wanted.name)
    }
    throw new Failure('internal', 'a kept file was closed or damaged again and again')
  }

  async function readKept(blob: Blob, wanted: NamedRead): Promise<number | undefined> {
    try {
      lru.touch(wanted.name)
      return await blob.read(wanted.offset, wanted.into)
    } catch (error) {
      if (!(error instanceof FileClosed)) await discard(wanted.name, error)
      return undefined
    }
  }

  async function size(content: Content, context: RequestContext): Promise<ByteCount> {
    const name = nameOf(content)
    const told = sizes.known(name)
    if (told !== undefined) return told
    const entry = entries.of(content, name)
    const blob = open.get(name) ?? (await entry.kept())
    if (blob === undefined) return byteCount(await entry.size(context))
    sizes.remember(name, blob.length)
    return byteCount(blob.length)
  }

  async function ahead(content: Content, guess: PrefetchRequest): Promise<number> {
    const name = nameOf(content)
    const told = sizes.known(name)
    if (told !== undefined && (told === 0 || told > guess.most || lru.has(name))) return told
    const entry = entries.of(content, name)
    const blob = open.get(name) ?? (await entry.kept())
    if (blob !== undefined) return blob.length
    const length = await entry.prefetch(guess)
    if (guess.context.priority === 'guess' && length <= guess.most) foresight.brought(name, length)
    return length
  }

  async function keepWhole(content: Content, context: RequestContext): Promise<number> {
    const name = nameOf(content)
    // Another program may have removed it: what is open of it is not kept any more.
    if (!store.has(name)) {
      lru.remove(name)
      letGo(name)
    }
    const most = Number.POSITIVE_INFINITY
    return ahead(content, { context, most, signal: undefined, wanted: context.deadline })
  }

  async function forget(name: string): Promise<void> {
    await entries.forget(name)
    sizes.forget(name)
    lru.remove(name)
    lru.remove(partsOf(name))
    await drop(name)
  }

  async function clear(isMeant: (name: string) => boolean): Promise<{ files: number; bytes: number }> {
    let files = 0
    let total = 0
    for await (const { name, bytes } of store.list()) {
      if (!isMeant(name)) continue
      // What is known of size and version stays, to be compared with the next download: the kernel still has pages of it.
      // Where no validator tells versions apart, the file's time moves instead.
      if (!tells(sizes.version(name))) replaced.note(name)
      lru.remove(name)
      await drop(name)
      files += 1
      total += bytes
    }
    return { files, bytes: total }
  }

  /** A service that is away takes nothing: the question fails before anything is forgotten. */
  async function renew(content: Content, context: RequestContext): Promise<void> {
    const name = nameOf(content)
    const told = sizes.known(name)
    if (told === undefined) return
    const facts = await options.remote.contentFacts(content, context)
    const now = fingerprintOf(facts.version)
    const lengths = [facts.head, facts.range].filter(bytes => bytes !== undefined)
    const before = sizes.version(name)
    if (tells(before) && !isOther(before, now) && lengths.every(bytes => bytes === told)) return
    // Bytes that were not kept, or not for long, may still be pages of the kernel.
    const wasGiven = before !== undefined || entries.fraction(name) > 0
    const wasRead = wasGiven || lru.has(name) || store.has(name)
    if (wasRead || lengths.some(bytes => bytes !== told)) replacedHere(name)
    await forget(name)
  }

  return {
    size: (content, context) => size(content, context).catch(rethrow),
    knownSize: content => sizes.known(nameOf(content)),
    modifiedAt: content => sizes.modified(nameOf(content)),
    replacedAt: content => replaced.at(nameOf(content)),
    read,
    readNow,
    prefetch: (content, context, most, signal) => ahead(content, { context, most, signal }).catch(rethrow),
    keepWhole: (content, context) => keepWhole(content, context).catch(rethrow),
    pin(names) {
      pinned = names
    },
    nameOf,
    isOnDisk: content => store.has(nameOf(content)),
    keptBytes: name => lru.bytesOf(name) ?? (sizes.known(name) === 0 ? 0 : undefined),
    cached(content) {
      const name = nameOf(content)
      return lru.has(name) || store.has(name) ? 1 : entries.fraction(name)
    },
    forget: content => forget(nameOf(content)).catch(rethrow),
    async outdate(name) {
      if (sizes.known(name) !== undefined || lru.has(name) || store.has(name)) replaced.note(name)
      await forget(name).catch(rethrow)
    },
    renew: (content, context) => renew(content, context).catch(rethrow),
    maintain: () => maintenance.maintain().catch(rethrow),
    scrub: (which = 'all', isMeant = () => true) => maintenance.scrub(which, isMeant).catch(rethrow),
    clear: (isMeant = () => true) => clear(isMeant).catch(rethrow),
    stats: () => ({
      files: lru.files,
      bytes: lru.bytes,
      limitBytes: options.limitBytes,
      downloads: entries.downloads,
      openFiles: open.size,
    }),
    progress: entries.progress,
    async close() {
      await entries.close()
      await maintenance.close()
      open.clear()
    },
  }
}

interface NamedRead extends ColdRead {
  readonly name: string
}

function storeIn(options: ContentCacheOptions): BlobStore {
  try {
    return openBlobStore(options.directory, { ...options, now: options.clock.now })
  } catch (error) {
    throw asFailure(error)
  }
}

/** A disk that cannot give the bytes now may do so in the slower way, which also finds what is wrong. */
function readStored(blob: Blob, offset: number, into: Uint8Array): number | undefined {
  try {
    return blob.readNow(offset, into)
  } catch {
    return undefined
  }
}
