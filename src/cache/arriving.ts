// One content on its way: which of four ways a read takes (kept file, download, stretch ahead, passing through).
import { asFailure, Failure } from '../failure.js'
import {
  type Ask,
  type ByteOffset,
  byteOffset,
  type Content,
  type Instant,
  instant,
  type Remote,
} from '../remote/remote.js'
import type { Ahead } from './ahead.js'
import { type Blob, blobOf } from './blob.js'
import type { BlobStore } from './blob-store.js'
import { within } from './deadline.js'
import { CannotKeep, type Download, startDownload, type Whole } from './download.js'
import type { Shelf } from './eviction.js'
import type { Log } from './ledger.js'
import { FileClosed } from './open-file.js'
import { countBytes, type Passing, passThrough } from './passing.js'
import { keptBytes } from './proof.js'
import type { Sizes } from './sizes.js'

export interface ArrivingPorts {
  readonly remote: Pick<Remote, 'content' | 'contentSize'>
  readonly store: BlobStore
  readonly sizes: Sizes
  readonly shelf: Shelf
  readonly ahead: Ahead
  /** Puts an open kept file where the readers to come find it. */
  readonly keepOpen: (blob: Blob) => void
  readonly now: () => Instant
  readonly log: Log
}

export interface ColdRead {
  readonly offset: number
  readonly into: Uint8Array
  readonly ask: Ask
}

export interface Arriving {
  /** Opens the kept file; undefined if there is none, or none yet. */
  kept(): Promise<Blob | undefined>
  /** Reads from what arrives; undefined if things changed meanwhile and the caller has to look again. */
  read(wanted: ColdRead): Promise<number | undefined>
  /** In bytes. */
  size(ask: Ask): Promise<number>
  /** How much has arrived, from 0 to 1. */
  fraction(): number
  /** Stops the download if it is stalled or abandoned. */
  tend(): void
  /** Nothing is under way, and nothing is worth remembering. */
  atRest(): boolean
  /** Resolves when nothing of it is under way any more. */
  stop(sentence: string): Promise<void>
  readonly busy: boolean
  readonly downloading: boolean
}

/** A request of ours begins to be answered within this time; its readers may give up long before. */
const beginWithinMs = 60_000
/** Without a piece for so long, a download is dead. */
const stalledAfterMs = 60_000
const abandonedAfterMs = 60_000
/** What is shorter is worth finishing although nobody waits. */
const bigBytes = 8 << 20
/** A gap up to this arrives soon; beyond it, a stretch is asked for by itself. */
const nearBytes = 4 << 20
/** Who reads this much by stretches wants the file: the download begins as well. */
const stretchesBytes = 8 << 20
/** A disk that took no more is tried again after this time. */
const passForMs = 60_000
const roomBytes = 64 << 20

export function openArriving(ports: ArrivingPorts, content: Content, name: string): Arriving {
  const { now, sizes, store } = ports
  let download: Download | undefined
  let keeping: Promise<void> | undefined
  let opening: Promise<Blob | undefined> | undefined
  let asking: Promise<number> | undefined
  let passing: Passing | undefined
  let passUntil = instant(0)
  let askedAt = now()
  let counting = false
  let stretched = 0

  const ownAsk = (lane: Ask['lane']): Ask => ({ deadline: later(beginWithinMs), lane })
  const fetchIn = (lane: Ask['lane']) => (start: ByteOffset) =>
    ports.remote.content(content, start, ownAsk(lane))
  const later = (milliseconds: number) => instant(now() + milliseconds)
  const inTime = <Answer>(ask: Ask, answer: Promise<Answer>) =>
    within(ask, { now, sentence: 'the service did not send the bytes in time; the download goes on' }, answer)
  const told = () => sizes.told(name) ?? download?.length

  /** What cannot be opened is downloaded again, like what is not there. */
  async function openKept(): Promise<Blob | undefined> {
    const blob = await store.open(name).catch(error => {
      ports.log('a kept file cannot be opened', { name, error: String(error) })
    })
    if (!blob) return undefined
    const expected = sizes.told(name)
    if (expected === undefined || expected === blob.length) {
      ports.keepOpen(blob)
      return blob
    }
    ports.log('a kept file has not the length the service told, and both are forgotten', { name })
    blob.close()
    sizes.forget(name)
    await store.drop(name)
    return undefined
  }

  function begin(lane: Ask['lane']): Download {
    if (download !== undefined) return download
    const started = startDownload(
      {
        fetch: fetchIn(lane),
        create: async () => {
          await ports.shelf.settle()
          return store.create()
        },
        told: () => sizes.told(name),
        makeRoom: () => ports.shelf.shed(roomBytes),
        now,
      },
      store.discard,
    )
    download = started
    keeping = keep(started).finally(() => {
      download = undefined
      keeping = undefined
      counting = false
    })
    return started
  }

  /** Readers meet a failure by themselves; here it decides what is remembered. */
  async function keep(started: Download): Promise<void> {
    try {
      await shelve(await started.whole)
    } catch (error) {
      if (error instanceof CannotKeep) passUntil = later(passForMs)
      if (error instanceof Failure && error.kind === 'broken') forgetLength()
      ports.log('a download was not kept', { name, error: String(error), cause: causeOf(error) })
    }
  }

  /** Counted before it is named, so that the others make room first. */
  async function shelve(whole: Whole): Promise<void> {
    sizes.remember(name, whole.proof.length)
    await ports.shelf.add({ name, bytes: keptBytes(whole.proof), used: now() })
    await publish(whole)
    ports.keepOpen(blobOf({ name, file: whole.unfinished.file, proof: whole.proof }, 'believed', now))
  }

  /** A file that gets no name is still read until it is closed: its bytes are whole. */
  async function publish({ unfinished, proof }: Whole): Promise<void> {
    try {
      await store.publish(unfinished, name, proof)
    } catch (error) {
      ports.shelf.remove(name)
      ports.log('a whole download could not be given its name', { name, error: String(error) })
    }
  }

  function forgetLength(): void {
    sizes.forget(name)
    ports.ahead.forget(name)
  }

  async function readDownload(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = begin(wanted.ask.lane)
    const end = wanted.offset + wanted.into.length
    await inTime(wanted.ask, current.reach(length === undefined ? end : Math.min(end, length)))
    return current.read(wanted.offset, wanted.into)
  }

  /** Undefined where the bytes come soon anyway or the service does not honour Range. */
  async function readStretch(wanted: ColdRead, length: number | undefined): Promise<number | undefined> {
    const gap = wanted.offset - (download?.arrived ?? 0)
    if (length === undefined || gap <= nearBytes || content.of === 'xyz' || !ports.ahead.possible)
      return undefined
    stretched += wanted.into.length
    if (stretched > stretchesBytes) begin(wanted.ask.lane)
    return lent(wanted, length, into =>
      ports.ahead.read({ key: name, offset: wanted.offset, into, length, fetch: fetchIn(wanted.ask.lane) }),
    )
  }

  async function readPassing(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = passing ?? passThrough(fetchIn(wanted.ask.lane))
    passing = current
    const filled = await lent(wanted, length, into => current.read(wanted.offset, into))
    const due = length === undefined ? filled : Math.min(wanted.into.length, length - wanted.offset)
    if (filled === due) return filled
    forgetLength()
    throw new Failure('broken', `the service said ${length} bytes and sent fewer`)
  }

  /** Reads into a buffer of ours first: after the deadline the caller's belongs to somebody else. */
  async function lent<Count extends number | undefined>(
    wanted: ColdRead,
    length: number | undefined,
    fill: (into: Uint8Array) => Promise<Count>,
  ): Promise<Count> {
    const room =
      length === undefined ? wanted.into.length : Math.min(wanted.into.length, length - wanted.offset)
    const own = Buffer.allocUnsafe(room)
    const filled = await inTime(wanted.ask, fill(own))
    if (filled !== undefined) wanted.into.set(own.subarray(0, filled))
    return filled
  }

  async function read(wanted: ColdRead): Promise<number | undefined> {
    askedAt = now()
    const length = told()
    if (length !== undefined && wanted.offset >= length) return 0
    try {
      if (now() < passUntil) return await readPassing(wanted, length)
      return (await readStretch(wanted, length)) ?? (await readDownload(wanted, length))
    } catch (error) {
      if (error instanceof CannotKeep) passUntil = later(passForMs)
      if (error instanceof CannotKeep || error instanceof FileClosed) return undefined
      throw asFailure(error)
    }
  }

  function askOnce(question: () => Promise<number>): Promise<number> {
    asking ??= question().finally(() => {
      asking = undefined
    })
    return asking
  }

  async function count(ask: Ask): Promise<number> {
    counting = true
    try {
      if (now() < passUntil) return await countBytes(await fetchIn(ask.lane)(byteOffset(0)))
      return await begin(ask.lane).lengthKnown()
    } catch (error) {
      if (!(error instanceof CannotKeep)) throw error
      passUntil = later(passForMs)
      return countBytes(await fetchIn(ask.lane)(byteOffset(0)))
    }
  }

  async function findLength(ask: Ask): Promise<number> {
    const knownWay = content.of === 'xyz' || download !== undefined || now() < passUntil
    const said = knownWay ? undefined : await ports.remote.contentSize(content, ownAsk(ask.lane))
    const length = said ?? (await count(ask))
    sizes.remember(name, length)
    return length
  }

  async function size(ask: Ask): Promise<number> {
    askedAt = now()
    return inTime(
      ask,
      askOnce(() => findLength(ask)),
    )
  }

  const isIdleFor = (milliseconds: number) => now() - askedAt > milliseconds

  function tend(): void {
    if (isIdleFor(abandonedAfterMs)) {
      passing?.close()
      passing = undefined
    }
    if (download === undefined) return
    const isBig = (download.length ?? download.arrived) > bigBytes
    const isCounted = counting && download.length === undefined
    if (now() - download.movedAt > stalledAfterMs) {
      download.stop(new Failure('timeout', 'the service sent nothing more of the file for a minute'))
    } else if (isBig && !isCounted && isIdleFor(abandonedAfterMs)) {
      download.stop(new Failure('timeout', 'the download was stopped: nobody had read the file for a minute'))
    }
  }

  return {
    kept() {
      if (download !== undefined) return Promise.resolve(undefined)
      opening ??= openKept().finally(() => {
        opening = undefined
      })
      return opening
    },
    read,
    size,
    fraction() {
      const length = told()
      return download === undefined || !length ? 0 : download.arrived / length
    },
    tend,
    atRest: () =>
      (opening ?? keeping ?? asking ?? passing) === undefined &&
      now() >= passUntil &&
      (stretched === 0 || isIdleFor(abandonedAfterMs)),
    async stop(sentence) {
      passing?.close()
      passing = undefined
      download?.stop(new Failure('unreachable', sentence))
      await keeping
    },
    get busy() {
      return opening !== undefined || download !== undefined
    },
    get downloading() {
      return download !== undefined
    },
  }
}

function causeOf(error: unknown): string | undefined {
  return error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined
}
