// Lifecycle of one download and its outcome: kept, refused by the disk, given up, or failed.
import { Failure } from '../../../failure.js'
import { type Clock, sleep } from '../../../remote/clock.js'
import { type Instant, instant, type RequestContext } from '../../../remote/remote.js'
import type { LogFunction } from '../../ledger/ledger.js'
import { type Blob, blobOf } from '../store/blob.js'
import type { BlobStore } from '../store/blob-store.js'
import { type Checksum, storedBytes } from '../store/checksum.js'
import type { LruIndex } from '../store/lru.js'
import type { CacheFile } from '../store/open-file.js'
import { type Contradiction, type Contradictions, isContradiction } from '../versions/contradiction.js'
import type { ContentSizes } from '../versions/sizes.js'
import { tells, type VersionFingerprint } from '../versions/versions.js'
import { type CompleteContent, DiskRefused } from './chunk-buffer.js'
import { type Download, type DownloadPorts, PrefetchAbandoned, startDownload } from './download.js'
import { bigBytes, type RangeSupport } from './range-scheduler.js'

export interface DownloadLifecyclePorts {
  readonly contradictions: Contradictions
  /** Remembers that the service holds another version of it than before. */
  readonly replaced: (name: string) => void
  readonly store: BlobStore
  readonly sizes: ContentSizes
  readonly lru: LruIndex
  readonly ranges: RangeSupport
  /** Holds a copy of a short content in memory for the readers that come in a moment. */
  readonly holdHotFile: (name: string, bytes: Uint8Array) => void
  /** Puts an open kept file where the readers to come find it. */
  readonly keepOpen: (blob: Blob) => void
  readonly clock: Clock
  readonly log: LogFunction
}

/** How one content is asked for. */
export interface ContentSource extends Pick<DownloadPorts, 'fetch' | 'askLength'> {
  /** Whether parts of it may be asked for at all. */
  readonly mayJump: boolean
  /** A download has ended, however. */
  readonly over: () => void
}

/** How far a download is, in bytes. */
export interface DownloadProgress {
  readonly arrived: number
  /** Undefined where the service has not told it. */
  readonly length: number | undefined
}

export interface DownloadLifecycle {
  /** The one under way or resting; undefined before, and as soon as its file is kept or discarded. */
  readonly download: Download | undefined
  /** The one under way, begun now if there is none. */
  begin(): Download
  /**
   * The same as long as it is no longer than `most` bytes or is read; its length, or at least so many bytes. Until `wanted` it
   * is not paused for want of readers, and the answer comes once it is kept.
   */
  prefetch(priority: RequestContext['priority'], most: number, wanted?: Instant): Promise<number>
  /** Gives up what has arrived where nothing more is asked for at the moment. */
  dropResting(): void
  /** Stops a download that was only a guess. */
  cancelPrefetch(): void
  /** The disk took no more of it a short while ago: it is read without being kept. */
  isRefused(): boolean
  refuse(): void
  /** In bytes, as far as the service said it. */
  told(): number | undefined
  /** Readers get bytes of this version: what comes later is compared with it. */
  met(version: VersionFingerprint | undefined): void
  /** The failure of a reader that met this. Resolves when the download that met it is over. */
  resolveContradiction(found: Contradiction): Promise<Failure>
  /** A contradiction that was found a moment ago: nothing is asked meanwhile. */
  readonly standing: Failure | undefined
  /** Stops the download if it is stalled, or big and abandoned: `idleMs` is how long it was not asked for. */
  /** Of the download under way, if any. */
  progress(): DownloadProgress | undefined
  maintain(idleMs: number, purpose: 'reading' | 'counting'): void
  /** Resolves when nothing is under way any more. */
  stop(sentence: string): Promise<void>
}

/** Without a piece for so long, a download is dead. */
const stalledAfterMs = 60_000
/** What has arrived is lost, or waits for its readers to come back. */
export const abandonedAfterMs = 60_000
const idleAfterMs = 5_000
/** A download that has everything is given this time to end and to be written. */
const completingMs = 2_000
/** The kernel asks again at once, page by page, for what it did not get. */
const standsForMs = 1000
/** A disk that took no more is tried again after this time. */
const refusedForMs = 60_000
const roomBytes = 64 << 20

/** A resting one that is not among the kept files is found by this name among them. */
export const partsOf = (name: string): string => `${name}${partsMark}`
const partsMark = '.parts'
/** The content whose parts go by this name. */
export const contentOfParts = (name: string): string | undefined =>
  name.endsWith(partsMark) ? name.slice(0, -partsMark.length) : undefined

const noValidators: VersionFingerprint = { tag: undefined, modified: undefined }

export function openDownloadLifecycle(
  ports: DownloadLifecyclePorts,
  name: string,
  source: ContentSource,
): DownloadLifecycle {
  const { clock, sizes, store, lru, log } = ports
  const { now } = clock
  let download: Download | undefined
  let settled: Promise<void> = Promise.resolve()
  let refusedUntil = instant(0)
  let mostWanted = 0
  let wantedUntil = instant(0)
  let known: number | undefined
  let counted = 0
  let judged: { readonly found: Contradiction; readonly failure: Failure } | undefined
  let standing: { readonly failure: Failure; readonly until: number } | undefined

  /** The ledger is asked until it knows; lengths never change. */
  function told(): number | undefined {
    known ??= sizes.known(name)
    return known
  }

  function met(version: VersionFingerprint | undefined): void {
    const bytes = sizes.known(name)
    ports.contradictions.met(name)
    if (bytes !== undefined)
      sizes.remember(name, bytes, { version: version ?? sizes.version(name) ?? noValidators })
  }

  function begin(most = Number.POSITIVE_INFINITY): Download {
    mostWanted = Math.max(download === undefined ? 0 : mostWanted, most)
    if (download !== undefined) return download
    const started = startDownload({
      ...source,
      mayJump: () => source.mayJump && ports.contradictions.mayJoin(name),
      isRecent: () => ports.contradictions.isRecent(name),
      grew: countParts,
      versionBefore: () => sizes.version(name),
      met,
      // What came faster than room could be made for it would pile up in memory.
      async fetch(span, priority, of) {
        await lru.room()
        return source.fetch(span, priority, of)
      },
      ranges: ports.ranges,
      create: async () => {
        await lru.settle()
        return store.create()
      },
      discard: store.discard,
      told,
      makeRoom: () => lru.evict(roomBytes),
      most: () => mostWanted,
      now,
    })
    download = started
    settled = keep(started).finally(() => {
      download = undefined
      counted = 0
      lru.remove(partsOf(name))
      started.release()
      source.over()
    })
    return started
  }

  /** Readers meet a failure by themselves; here it decides what is remembered. */
  async function keep(started: Download): Promise<void> {
    try {
      await shelve(await started.whole, started.version)
    } catch (error) {
      if (error instanceof PrefetchAbandoned) return
      if (error instanceof DiskRefused) refuse()
      if (isContradiction(error)) judge(error)
      log('a download was not kept', { name, error: String(error), cause: causeOf(error) })
    }
  }

  /** Counted before it is named, so that the others make room first. */
  async function shelve(whole: CompleteContent, version: VersionFingerprint | undefined): Promise<void> {
    sizes.remember(name, whole.checksum.length, { version, modified: version?.date })
    lru.remove(partsOf(name))
    await lru.add({ name, bytes: storedBytes(whole.checksum), used: now() })
    if (whole.in === 'memory') ports.holdHotFile(name, whole.bytes)
    const file = await publish(whole)
    if (file !== undefined) ports.keepOpen(blobOf({ name, file, checksum: whole.checksum }, 'believed', now))
  }

  /** What gets no name is still read until it is closed, or as long as it stays in memory: its bytes are whole. */
  async function publish(whole: CompleteContent): Promise<CacheFile | undefined> {
    try {
      if (whole.in === 'memory') await keepShort(whole.bytes, whole.checksum)
      else await store.publish(whole.unfinished, name, whole.checksum)
    } catch (error) {
      lru.remove(name)
      log('a whole download could not be given its name', { name, error: String(error) })
    }
    return whole.in === 'memory' ? undefined : whole.unfinished.file
  }

  async function keepShort(bytes: Uint8Array, checksum: Checksum): Promise<void> {
    try {
      await store.keep(name, bytes, checksum)
    } catch (error) {
      if (!(await lru.evict(roomBytes))) throw error
      await store.keep(name, bytes, checksum)
    }
  }

  async function guess(
    priority: RequestContext['priority'],
    most: number,
    wanted?: Instant,
  ): Promise<number> {
    const started = begin(most)
    wantedUntil = wanted ?? wantedUntil
    started.fetchAll(priority)
    try {
      const { length } = (await started.whole).checksum
      if (wanted !== undefined) await settled
      return length
    } catch (error) {
      if (!(error instanceof PrefetchAbandoned)) throw error
      if (error.bytes <= most) throw new Failure('timeout', 'the guess was given up')
      if (started.length !== undefined)
        sizes.remember(name, started.length, { modified: started.version?.date })
      return error.bytes
    }
  }

  function refuse(): void {
    refusedUntil = instant(now() + refusedForMs)
  }

  /** The same for all readers that meet the same; the next question goes to the service. */
  function judge(found: Contradiction): Failure {
    if (judged?.found === found) return judged.failure
    const failure = ports.contradictions.found(name, found)
    judged = { found, failure }
    sizes.forget(name)
    known = undefined
    if (failure.kind === 'broken') standing = { failure, until: now() + standsForMs }
    else ports.replaced(name)
    return failure
  }

  /** What is on its way takes room like what is kept; where it waits for its readers it goes like it, too. */
  function countParts(bytes: number): void {
    if (counted === bytes) return
    counted = bytes
    lru
      .add({ name: partsOf(name), bytes: counted, used: now() })
      .catch(error => log('the parts of a file could not be counted', { name, error: String(error) }))
  }

  function pause(sentence: string): void {
    const reason = new Failure('timeout', sentence)
    if (download?.canRest === true) download.pause(reason)
    else download?.stop(reason)
  }

  return {
    get download() {
      return download
    },
    begin: () => begin(),
    prefetch: guess,
    dropResting() {
      if (download?.resting === true) download.stop(new PrefetchAbandoned(0))
    },
    cancelPrefetch() {
      if (download !== undefined && mostWanted < Number.POSITIVE_INFINITY)
        download.stop(new PrefetchAbandoned(0))
    },
    isRefused: () => now() < refusedUntil,
    refuse,
    told: () => told() ?? download?.length,
    met,
    async resolveContradiction(found) {
      const failure = judge(found)
      await settled
      return failure
    },
    get standing() {
      return standing !== undefined && now() < standing.until ? standing.failure : undefined
    },
    progress() {
      if (download === undefined || download.resting) return undefined
      return { arrived: download.arrived, length: told() }
    },
    maintain(sinceAsked, purpose) {
      if (download === undefined) return
      const idleMs = now() < wantedUntil ? 0 : sinceAsked
      if (download.resting) {
        // Nothing would tell whether what is asked for later belongs to them.
        const mayAge = tells(download.version) || idleMs < abandonedAfterMs
        return mayAge ? countParts(download.arrived) : download.stop(new PrefetchAbandoned(0))
      }
      const missing = (download.length ?? 2 * download.arrived) - download.arrived
      const isCounted = purpose === 'counting' && download.length === undefined
      const patienceMs = download.canRest ? idleAfterMs : abandonedAfterMs
      if (now() - download.movedAt > stalledAfterMs) {
        pause('the service sent nothing more of the file for a minute')
      } else if (missing > bigBytes && !isCounted && idleMs > patienceMs) {
        pause('the download was stopped: no program reads the file any more')
      }
    },
    async stop(sentence) {
      if (download?.completing === true) await Promise.race([settled, sleep(clock, completingMs)])
      download?.stop(new Failure('unreachable', sentence))
      await settled
    },
  }
}

function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined
}
