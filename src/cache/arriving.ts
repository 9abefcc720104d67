// One content on its way: which of four ways a read takes (kept file, download, stretch ahead, passing through).
import { asFailure, Failure } from '../failure.js'
import {
  type Ask,
  type ByteOffset,
  byteOffset,
  type Content,
  instant,
  type Remote,
} from '../remote/remote.js'
import type { Blob } from './blob.js'
import { within } from './deadline.js'
import { CannotKeep, NotWanted } from './download.js'
import { abandonedAfterMs, type KeepingPorts, openKeeping } from './keeping.js'
import { FileClosed } from './open-file.js'
import { countBytes, type Passing, passThrough } from './passing.js'

export interface ArrivingPorts extends KeepingPorts {
  readonly remote: Pick<Remote, 'content' | 'contentSize'>
}

export interface ColdRead {
  readonly offset: number
  readonly into: Uint8Array
  readonly ask: Ask
}

/** A content that somebody may want to read soon. */
export interface Guess {
  readonly ask: Ask
  /** Bytes. */
  readonly most: number
  /** Ends the download where no reader has come for it. */
  readonly signal: AbortSignal | undefined
}

export interface Arriving {
  /** Opens the kept file; undefined if there is none, or none yet. */
  kept(): Promise<Blob | undefined>
  /** Reads from what arrives; undefined if things changed meanwhile and the caller has to look again. */
  read(wanted: ColdRead): Promise<number | undefined>
  /** In bytes. */
  size(ask: Ask): Promise<number>
  /** Downloads it as a guess; its length in bytes when it is whole, or skipped because it is longer than `most`. */
  ahead(guess: Guess): Promise<number>
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
/** A gap up to this arrives soon; beyond it, a stretch is asked for by itself. */
const nearBytes = 4 << 20
/** Who reads this much by stretches wants the file: the download begins as well. */
const stretchesBytes = 8 << 20

export function openArriving(ports: ArrivingPorts, content: Content, name: string): Arriving {
  const { now, sizes, store } = ports
  const keeping = openKeeping(ports, name, fetchIn)
  let opening: Promise<Blob | undefined> | undefined
  let asking: Promise<number> | undefined
  let passing: Passing | undefined
  let askedAt = now()
  let purpose: 'reading' | 'counting' = 'reading'
  let stretched = 0

  function ownAsk(lane: Ask['lane']): Ask {
    return { deadline: instant(now() + beginWithinMs), lane }
  }

  function fetchIn(lane: Ask['lane']) {
    return (start: ByteOffset) => ports.remote.content(content, start, ownAsk(lane))
  }

  function inTime<Answer>(ask: Ask, answer: Promise<Answer>): Promise<Answer> {
    const sentence = 'the service did not send the bytes in time; the download goes on'
    return within(ask, { now, sentence }, answer)
  }

  /** What cannot be opened is downloaded again, like what is not there. */
  async function openKept(): Promise<Blob | undefined> {
    // Looking costs a twentieth of an open that fails, and most files that are asked about are not kept yet.
    if (!store.has(name)) return undefined
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

  async function readDownload(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = keeping.begin(wanted.ask.lane)
    const end = wanted.offset + wanted.into.length
    await inTime(wanted.ask, current.reach(length === undefined ? end : Math.min(end, length)))
    return current.read(wanted.offset, wanted.into)
  }

  /** Undefined where the bytes come soon anyway or the service does not honour Range. */
  async function readStretch(wanted: ColdRead, length: number | undefined): Promise<number | undefined> {
    const gap = wanted.offset - (keeping.download?.arrived ?? 0)
    if (length === undefined || gap <= nearBytes || content.of === 'xyz' || !ports.ahead.possible)
      return undefined
    stretched += wanted.into.length
    if (stretched > stretchesBytes) keeping.begin(wanted.ask.lane)
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
    keeping.forgetLength()
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
    const length = keeping.told()
    if (length !== undefined && wanted.offset >= length) return 0
    try {
      if (keeping.isRefused()) return await readPassing(wanted, length)
      return (await readStretch(wanted, length)) ?? (await readDownload(wanted, length))
    } catch (error) {
      if (error instanceof CannotKeep) keeping.refuse()
      if (error instanceof CannotKeep || error instanceof NotWanted || error instanceof FileClosed)
        return undefined
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
    purpose = 'counting'
    try {
      if (keeping.isRefused()) return await countBytes(await fetchIn(ask.lane)(byteOffset(0)))
      return await keeping.begin(ask.lane).lengthKnown()
    } catch (error) {
      if (error instanceof NotWanted) return count(ask)
      if (!(error instanceof CannotKeep)) throw error
      keeping.refuse()
      return countBytes(await fetchIn(ask.lane)(byteOffset(0)))
    }
  }

  async function findLength(ask: Ask): Promise<number> {
    const knownWay = content.of === 'xyz' || keeping.download !== undefined || keeping.isRefused()
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

  async function ahead({ ask, most, signal }: Guess): Promise<number> {
    if (keeping.isRefused()) throw new Failure('no-space', 'the cache directory takes no more bytes')
    if (signal?.aborted === true) throw new Failure('timeout', 'the guess was given up')
    signal?.addEventListener('abort', keeping.giveUpGuess)
    try {
      return await inTime(ask, keeping.guess(ask.lane, most))
    } catch (error) {
      if (error instanceof CannotKeep) keeping.refuse()
      throw error instanceof CannotKeep ? new Failure('no-space', error.message, { cause: error }) : error
    } finally {
      signal?.removeEventListener('abort', keeping.giveUpGuess)
    }
  }

  function endPassing(): void {
    passing?.close()
    passing = undefined
  }

  return {
    kept() {
      if (keeping.download !== undefined) return Promise.resolve(undefined)
      opening ??= openKept().finally(() => {
        opening = undefined
      })
      return opening
    },
    read,
    size,
    ahead,
    fraction() {
      const length = keeping.told()
      return keeping.download === undefined || !length ? 0 : keeping.download.arrived / length
    },
    tend() {
      const idleMs = now() - askedAt
      if (idleMs > abandonedAfterMs) {
        endPassing()
        stretched = 0
      }
      keeping.tend(idleMs, purpose)
    },
    atRest: () =>
      (opening ?? asking ?? passing ?? keeping.download) === undefined &&
      stretched === 0 &&
      !keeping.isRefused(),
    stop(sentence) {
      endPassing()
      return keeping.stop(sentence)
    },
    get busy() {
      return opening !== undefined || keeping.download !== undefined
    },
    get downloading() {
      return keeping.download !== undefined
    },
  }
}
