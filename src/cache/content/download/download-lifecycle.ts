// One content's download and what becomes of it: kept, refused by the disk, given up, or a failure.
import { setTimeout } from 'node:timers/promises'
import { Failure } from '../../../failure.js'
import { type Ask, type ContentFacts, type Instant, instant } from '../../../remote/remote.js'
import type { Log } from '../../ledger/ledger.js'
import { type Blob, blobOf } from '../store/blob.js'
import type { BlobStore } from '../store/blob-store.js'
import { keptBytes, type Proof } from '../store/checksum.js'
import type { Shelf } from '../store/lru.js'
import type { OpenFile } from '../store/open-file.js'
import { type Contradiction, isContradiction, judged } from '../versions/contradiction.js'
import type { Sizes } from '../versions/sizes.js'
import type { Fingerprint, Versions } from '../versions/versions.js'
import { CannotKeep, type Whole } from './chunk-buffer.js'
import { type Download, type DownloadPorts, NotWanted, startDownload } from './download.js'
import { bigBytes, type Ranges } from './range-scheduler.js'

export interface KeepingPorts {
  readonly versions: Versions
  /** Remembers that the service holds another version of it than before. */
  readonly replaced: (name: string) => void
  readonly store: BlobStore
  readonly sizes: Sizes
  readonly shelf: Shelf
  readonly ranges: Ranges
  /** Holds a short content in memory for the readers that come in a moment. */
  readonly holdNewcomer: (name: string, bytes: Uint8Array) => void
  /** Puts an open kept file where the readers to come find it. */
  readonly keepOpen: (blob: Blob) => void
  readonly now: () => Instant
  readonly log: Log
}

/** How one content is asked for. */
export interface Source extends Pick<DownloadPorts, 'fetch' | 'mayJump' | 'askLength'> {
  readonly facts: () => Promise<ContentFacts>
}

export interface Keeping {
  /** The one under way or resting; undefined before, and as soon as its file is kept or discarded. */
  readonly download: Download | undefined
  /** The one under way, begun now if there is none. */
  begin(): Download
  /** The same as long as it is no longer than `most` bytes or somebody reads it; its length, or at least so many bytes. */
  guess(lane: Ask['lane'], most: number): Promise<number>
  /** Stops a download that was only a guess. */
  giveUpGuess(): void
  /** The disk took no more of it a short while ago: it is read without being kept. */
  isRefused(): boolean
  refuse(): void
  /** In bytes, as far as the service said it. */
  told(): number | undefined
  /**
   * What a reader hears who met this; undefined where it is to be asked for again. Resolves when the download that met it is
   * over.
   */
  judged(found: Contradiction): Promise<Failure | undefined>
  /** A contradiction that was found a moment ago: nothing is asked meanwhile. */
  readonly standing: Failure | undefined
  /** Stops the download if it is stalled, or big and abandoned: `idleMs` is how long nobody has asked for it. */
  tend(idleMs: number, purpose: 'reading' | 'counting'): void
  /** Resolves when nothing is under way any more. */
  stop(sentence: string): Promise<void>
}

/** Without a piece for so long, a download is dead. */
const stalledAfterMs = 60_000
/** What has arrived is lost, or waits for its readers to come back. */
export const abandonedAfterMs = 60_000
const idleAfterMs = 5_000
/** Who has everything is given this time to end and to be written. */
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

export function openKeeping(ports: KeepingPorts, name: string, source: Source): Keeping {
  const { now, sizes, store, shelf, log } = ports
  let download: Download | undefined
  let settled: Promise<void> = Promise.resolve()
  let refusedUntil = instant(0)
  let mostWanted = 0
  let known: number | undefined
  let counted = 0
  let judging: { readonly found: Contradiction; readonly verdict: Promise<Failure | undefined> } | undefined
  let standing: { readonly failure: Failure; readonly until: number } | undefined

  /** The ledger is asked until it knows; lengths never change. */
  function told(): number | undefined {
    known ??= sizes.told(name)
    return known
  }

  function begin(most = Number.POSITIVE_INFINITY): Download {
    mostWanted = Math.max(download === undefined ? 0 : mostWanted, most)
    if (download !== undefined) return download
    download = startDownload({
      ...source,
      versions: ports.versions,
      grew: countParts,
      versionBefore: () => sizes.version(name),
      met(version) {
        const told = sizes.told(name)
        if (told !== undefined) sizes.remember(name, told, version)
      },
      // What came faster than room could be made for it would pile up in memory.
      async fetch(span, lane, of) {
        await shelf.room()
        return source.fetch(span, lane, of)
      },
      ranges: ports.ranges,
      create: async () => {
        await shelf.settle()
        return store.create()
      },
      discard: store.discard,
      told,
      makeRoom: () => shelf.shed(roomBytes),
      most: () => mostWanted,
      now,
    })
    settled = keep(download).finally(() => {
      download = undefined
      counted = 0
      shelf.remove(partsOf(name))
    })
    return download
  }

  /** Readers meet a failure by themselves; here it decides what is remembered. */
  async function keep(started: Download): Promise<void> {
    try {
      await shelve(await started.whole, started.version)
    } catch (error) {
      if (error instanceof NotWanted) return
      if (error instanceof CannotKeep) refuse()
      if (isContradiction(error)) await verdictOf(error).catch(unanswered)
      log('a download was not kept', { name, error: String(error), cause: causeOf(error) })
    }
  }

  /** Counted before it is named, so that the others make room first. */
  async function shelve(whole: Whole, version: Fingerprint | undefined): Promise<void> {
    sizes.remember(name, whole.proof.length, version)
    sizes.settle(name)
    shelf.remove(partsOf(name))
    await shelf.add({ name, bytes: keptBytes(whole.proof), used: now() })
    if (whole.in === 'memory') ports.holdNewcomer(name, whole.bytes)
    const file = await publish(whole)
    if (file !== undefined) ports.keepOpen(blobOf({ name, file, proof: whole.proof }, 'believed', now))
  }

  /** What gets no name is still read until it is closed, or as long as it stays in memory: its bytes are whole. */
  async function publish(whole: Whole): Promise<OpenFile | undefined> {
    try {
      if (whole.in === 'memory') await keepShort(whole.bytes, whole.proof)
      else await store.publish(whole.unfinished, name, whole.proof)
    } catch (error) {
      shelf.remove(name)
      log('a whole download could not be given its name', { name, error: String(error) })
    }
    return whole.in === 'memory' ? undefined : whole.unfinished.file
  }

  async function keepShort(bytes: Uint8Array, proof: Proof): Promise<void> {
    try {
      await store.keep(name, bytes, proof)
    } catch (error) {
      if (!(await shelf.shed(roomBytes))) throw error
      await store.keep(name, bytes, proof)
    }
  }

  async function guess(lane: Ask['lane'], most: number): Promise<number> {
    const started = begin(most)
    started.fetchAll(lane)
    try {
      return (await started.whole).proof.length
    } catch (error) {
      if (!(error instanceof NotWanted)) throw error
      if (error.bytes <= most) throw new Failure('timeout', 'the guess was given up')
      // Another source tells it if the service has one.
      const told = started.length === undefined ? undefined : await source.askLength()
      if (started.length !== undefined && told === undefined) sizes.remember(name, started.length)
      return error.bytes
    }
  }

  function refuse(): void {
    refusedUntil = instant(now() + refusedForMs)
  }

  /** One question for all who meet the same. */
  function verdictOf(found: Contradiction): Promise<Failure | undefined> {
    if (judging?.found !== found) judging = { found, verdict: judge(found) }
    return judging.verdict
  }

  async function judge(found: Contradiction): Promise<Failure | undefined> {
    const failure = await judged(found, {
      name,
      sizes,
      versions: ports.versions,
      facts: source.facts,
      replaced: () => ports.replaced(name),
    })
    known = undefined
    if (failure?.kind === 'broken') standing = { failure, until: now() + standsForMs }
    return failure
  }

  /** What is on its way takes room like what is kept; where it waits for its readers it goes like it, too. */
  function countParts(bytes: number): void {
    if (counted === bytes) return
    counted = bytes
    shelf
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
    guess,
    giveUpGuess() {
      if (download !== undefined && mostWanted < Number.POSITIVE_INFINITY) download.stop(new NotWanted(0))
    },
    isRefused: () => now() < refusedUntil,
    refuse,
    told: () => told() ?? download?.length,
    async judged(found) {
      const verdict = await verdictOf(found)
      await settled
      return verdict
    },
    get standing() {
      return standing !== undefined && now() < standing.until ? standing.failure : undefined
    },
    tend(idleMs, purpose) {
      if (download === undefined) return
      if (download.resting) {
        // Nothing would tell whether what is asked for later belongs to them.
        const mayAge = ports.versions.tells(download.version) || idleMs < abandonedAfterMs
        return mayAge ? countParts(download.arrived) : download.stop(new NotWanted(0))
      }
      const missing = (download.length ?? 2 * download.arrived) - download.arrived
      const isCounted = purpose === 'counting' && download.length === undefined
      const patienceMs = download.canRest ? idleAfterMs : abandonedAfterMs
      if (now() - download.movedAt > stalledAfterMs) {
        pause('the service sent nothing more of the file for a minute')
      } else if (missing > bigBytes && !isCounted && idleMs > patienceMs) {
        pause('the download was stopped: nobody reads the file any more')
      }
    },
    async stop(sentence) {
      if (download?.completing === true) await Promise.race([settled, setTimeout(completingMs)])
      download?.stop(new Failure('unreachable', sentence))
      await settled
    },
  }
}

/** The readers hear it; what was told stays. */
function unanswered(): void {}

function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined
}
