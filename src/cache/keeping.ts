// One content's download and what becomes of it: kept, refused by the disk, given up, or a failure.
import { Failure } from '../failure.js'
import { type Ask, type Body, type ByteOffset, type Instant, instant } from '../remote/remote.js'
import type { Ahead } from './ahead.js'
import { type Blob, blobOf } from './blob.js'
import type { BlobStore } from './blob-store.js'
import { CannotKeep, type Download, NotWanted, startDownload, type Whole } from './download.js'
import type { Shelf } from './eviction.js'
import type { Log } from './ledger.js'
import { keptBytes } from './proof.js'
import type { Sizes } from './sizes.js'

export interface KeepingPorts {
  readonly store: BlobStore
  readonly sizes: Sizes
  readonly shelf: Shelf
  readonly ahead: Ahead
  /** Puts an open kept file where the readers to come find it. */
  readonly keepOpen: (blob: Blob) => void
  readonly now: () => Instant
  readonly log: Log
}

export interface Keeping {
  /** The one under way; undefined before, and as soon as its file is kept or discarded. */
  readonly download: Download | undefined
  /** The one under way, begun now if there is none. */
  begin(lane: Ask['lane']): Download
  /** The same as long as it is no longer than `most` bytes or somebody reads it; its length, or at least so many bytes. */
  guess(lane: Ask['lane'], most: number): Promise<number>
  /** Stops a download that was only a guess. */
  giveUpGuess(): void
  /** The disk took no more of it a short while ago: it is read without being kept. */
  isRefused(): boolean
  refuse(): void
  /** In bytes, as far as the service said it. */
  told(): number | undefined
  /** Two answers of the service contradict each other: neither is remembered. */
  forgetLength(): void
  /** Stops the download if it is stalled, or big and abandoned: `idleMs` is how long nobody has asked for it. */
  tend(idleMs: number, purpose: 'reading' | 'counting'): void
  /** Resolves when nothing is under way any more. */
  stop(sentence: string): Promise<void>
}

/** Without a piece for so long, a download is dead. */
const stalledAfterMs = 60_000
export const abandonedAfterMs = 60_000
/** What is shorter is worth finishing although nobody waits. */
const bigBytes = 8 << 20
/** A disk that took no more is tried again after this time. */
const refusedForMs = 60_000
const roomBytes = 64 << 20

/** `fetch` asks the service for the content's bytes. */
export function openKeeping(
  ports: KeepingPorts,
  name: string,
  fetch: (lane: Ask['lane']) => (start: ByteOffset) => Promise<Body>,
): Keeping {
  const { now, sizes, store, shelf, log } = ports
  let download: Download | undefined
  let settled: Promise<void> = Promise.resolve()
  let refusedUntil = instant(0)
  let mostWanted = 0

  function begin(lane: Ask['lane'], most = Number.POSITIVE_INFINITY): Download {
    mostWanted = Math.max(download === undefined ? 0 : mostWanted, most)
    if (download !== undefined) return download
    download = startDownload(
      {
        fetch: fetch(lane),
        create: async () => {
          await shelf.settle()
          return store.create()
        },
        told: () => sizes.told(name),
        makeRoom: () => shelf.shed(roomBytes),
        most: () => mostWanted,
        now,
      },
      store.discard,
    )
    settled = keep(download).finally(() => {
      download = undefined
    })
    return download
  }

  /** Readers meet a failure by themselves; here it decides what is remembered. */
  async function keep(started: Download): Promise<void> {
    try {
      await shelve(await started.whole)
    } catch (error) {
      if (error instanceof NotWanted) return
      if (error instanceof CannotKeep) refuse()
      if (error instanceof Failure && error.kind === 'broken') forgetLength()
      log('a download was not kept', { name, error: String(error), cause: causeOf(error) })
    }
  }

  /** Counted before it is named, so that the others make room first. */
  async function shelve(whole: Whole): Promise<void> {
    sizes.remember(name, whole.proof.length)
    await shelf.add({ name, bytes: keptBytes(whole.proof), used: now() })
    await publish(whole)
    ports.keepOpen(blobOf({ name, file: whole.unfinished.file, proof: whole.proof }, 'believed', now))
  }

  /** A file that gets no name is still read until it is closed: its bytes are whole. */
  async function publish({ unfinished, proof }: Whole): Promise<void> {
    try {
      await store.publish(unfinished, name, proof)
    } catch (error) {
      shelf.remove(name)
      log('a whole download could not be given its name', { name, error: String(error) })
    }
  }

  async function guess(lane: Ask['lane'], most: number): Promise<number> {
    const started = begin(lane, most)
    try {
      return (await started.whole).proof.length
    } catch (error) {
      if (!(error instanceof NotWanted)) throw error
      if (error.bytes <= most) throw new Failure('timeout', 'the guess was given up')
      if (started.length !== undefined) sizes.remember(name, started.length)
      return error.bytes
    }
  }

  function refuse(): void {
    refusedUntil = instant(now() + refusedForMs)
  }

  function forgetLength(): void {
    sizes.forget(name)
    ports.ahead.forget(name)
  }

  return {
    get download() {
      return download
    },
    begin: lane => begin(lane),
    guess,
    giveUpGuess() {
      if (download !== undefined && mostWanted < Number.POSITIVE_INFINITY) download.stop(new NotWanted(0))
    },
    isRefused: () => now() < refusedUntil,
    refuse,
    told: () => sizes.told(name) ?? download?.length,
    forgetLength,
    tend(idleMs, purpose) {
      if (download === undefined) return
      const isBig = (download.length ?? download.arrived) > bigBytes
      const isCounted = purpose === 'counting' && download.length === undefined
      if (now() - download.movedAt > stalledAfterMs) {
        download.stop(new Failure('timeout', 'the service sent nothing more of the file for a minute'))
      } else if (isBig && !isCounted && idleMs > abandonedAfterMs) {
        download.stop(
          new Failure('timeout', 'the download was stopped: nobody had read the file for a minute'),
        )
      }
    },
    async stop(sentence) {
      download?.stop(new Failure('unreachable', sentence))
      await settled
    },
  }
}

function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined
}
