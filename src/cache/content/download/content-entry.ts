// One content on its way: which way a read takes (kept file, what arrives, passing through).
import { openAskers } from '../../../askers.js'
import { asFailure, Failure } from '../../../failure.js'
import {
  type Ask,
  type ByteOffset,
  byteOffset,
  type Content,
  instant,
  type Remote,
} from '../../../remote/remote.js'
import { within } from '../../deadline.js'
import type { Blob } from '../store/blob.js'
import { FileClosed } from '../store/open-file.js'
import { type Contradiction, isContradiction, OtherLength } from '../versions/contradiction.js'
import { CannotKeep } from './chunk-buffer.js'
import { type Download, NotWanted } from './download.js'
import { abandonedAfterMs, type KeepingPorts, openKeeping } from './download-lifecycle.js'
import { bigBytes } from './range-scheduler.js'
import { countBytes, type Passing, passThrough } from './uncached-stream.js'

export interface ArrivingPorts extends KeepingPorts {
  readonly remote: Pick<Remote, 'content' | 'contentSize' | 'contentFacts'>
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
  /** The bytes at once where they are in memory already, else undefined: the caller then takes `read`. */
  readNow(offset: number, into: Uint8Array): number | undefined
}

/** A request of ours begins to be answered within this time; its readers may give up long before. */
const beginWithinMs = 60_000
/** A request that failed is repeated within this time. */
const repeatWithinMs = 20_000

const lateForMs = 1000
const tooLate = 'the service did not send the bytes in time; the download goes on'

export function openArriving(ports: ArrivingPorts, content: Content, name: string): Arriving {
  const { now, sizes, store } = ports
  const keeping = openKeeping(ports, name, {
    mayJump: content.of === 'file',
    fetch: ({ start, end }, lane, of) => ports.remote.content(content, start, ownAsk(lane), end, of),
    askLength: async () => (tellsNothing ? undefined : askedLength('guess').catch(ifNothingTells)),
    facts: () => ports.remote.contentFacts(content, ownAsk('user')),
  })
  let opening: Promise<Blob | undefined> | undefined
  let asking: Promise<number> | undefined
  let passing: Passing | undefined
  /** Bytes that a reader has waited for in vain a moment ago. */
  let late: { readonly start: number; readonly end: number; readonly until: number } | undefined
  /** The service was asked for the length a moment ago. */
  let tellsNothing = false
  let askedAt = now()
  let purpose: 'reading' | 'counting' = 'reading'
  const triedAgain = new WeakSet<ColdRead>()

  /** Those who wait for it now: without any, its requests yield to those of others. */
  const askers = openAskers()

  function ownAsk(lane: Ask['lane']): Ask {
    const deadline = instant(now() + beginWithinMs)
    return { deadline, answerBy: instant(now() + repeatWithinMs), patience: repeatWithinMs, lane, askers }
  }

  async function joined<Answer>({ lane }: Ask, answer: () => Promise<Answer>): Promise<Answer> {
    const leave = lane === 'user' ? askers.join() : undefined
    try {
      return await answer()
    } finally {
      leave?.()
    }
  }

  function fetchIn(lane: Ask['lane']) {
    return (start: ByteOffset) => ports.remote.content(content, start, ownAsk(lane))
  }

  function inTime<Answer>(ask: Ask, answer: Promise<Answer>): Promise<Answer> {
    return within(ask, { now, sentence: tooLate }, answer)
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
    ports.log('a kept file has not the length the service told, and is dropped', { name })
    blob.close()
    await store.drop(name)
    return undefined
  }

  /** The kernel asks once more, page by page, for what came too late: a reader waits for one deadline only. */
  async function patiently({ ask, offset, into }: ColdRead, coming: Promise<void>): Promise<void> {
    const isAgain = late !== undefined && now() < late.until && offset >= late.start && offset < late.end
    if (isAgain) coming.catch(ignored)
    if (isAgain) throw new Failure('timeout', tooLate)
    try {
      await inTime(ask, coming)
    } catch (error) {
      if (now() >= ask.deadline) late = { start: offset, end: offset + into.length, until: now() + lateForMs }
      throw error
    }
  }

  async function readDownload(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = keeping.begin()
    const coming = current.reach(spanOf(wanted, length), wanted.ask.lane)
    if (coming !== undefined) await patiently(wanted, coming)
    return current.read(wanted.offset, wanted.into)
  }

  async function readPassing(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = passing ?? passThrough(fetchIn(wanted.ask.lane))
    passing = current
    const filled = await lent(wanted, length, into => current.read(wanted.offset, into))
    const due = length === undefined ? filled : Math.min(wanted.into.length, length - wanted.offset)
    if (filled === due || length === undefined) return filled
    throw new OtherLength(length, wanted.offset + filled)
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

  function readNow(offset: number, into: Uint8Array): number | undefined {
    const { download } = keeping
    const length = download?.length
    if (download === undefined || length === undefined || offset >= length) return undefined
    return download.readNow(spanOf({ offset, into }, length), into)
  }

  async function read(wanted: ColdRead): Promise<number | undefined> {
    askedAt = now()
    purpose = 'reading'
    const isJoining = keeping.download !== undefined
    const length = keeping.told()
    if (length !== undefined && wanted.offset >= length) return 0
    if (keeping.standing !== undefined) throw keeping.standing
    try {
      if (keeping.isRefused()) return await readPassing(wanted, length)
      return await readDownload(wanted, length)
    } catch (error) {
      if (isContradiction(error)) return void (await told(error, wanted.ask))
      if (error instanceof CannotKeep) keeping.refuse()
      if (error instanceof CannotKeep || error instanceof NotWanted || error instanceof FileClosed)
        return undefined
      // What others began before may have been lost long ago: that says nothing about asking now.
      if (isJoining && now() < wanted.ask.deadline && (isLost(error) || isFirstTry(wanted))) return undefined
      throw asFailure(error)
    }
  }

  /** What failed was begun by others before; once, whatever it was, this reader asks for himself. */
  function isFirstTry(wanted: ColdRead): boolean {
    if (triedAgain.has(wanted)) return false
    triedAgain.add(wanted)
    return true
  }

  /** Resolves where the content may be asked for again. @throws what the reader hears of a contradiction */
  async function told(found: Contradiction, ask: Ask): Promise<void> {
    const failure = await inTime(ask, keeping.judged(found))
    if (failure !== undefined) throw failure
  }

  /** The answer; asked again once where it met a contradiction that was none. */
  async function judged<Answer>(ask: Ask, answer: () => Promise<Answer>): Promise<Answer> {
    try {
      return await answer()
    } catch (error) {
      if (!isContradiction(error)) throw error
      await told(error, ask)
      return answer()
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
      return await lengthOf(keeping.begin(), ask)
    } catch (error) {
      if (error instanceof NotWanted) return count(ask)
      if (!(error instanceof CannotKeep)) throw error
      keeping.refuse()
      return countBytes(await fetchIn(ask.lane)(byteOffset(0)))
    }
  }

  /** Nobody reads it yet: what is big waits until somebody does. */
  async function lengthOf(download: Download, ask: Ask): Promise<number> {
    const length = await download.lengthKnown(ask.lane)
    if (purpose === 'counting' && length - download.arrived > bigBytes && download.canRest)
      download.pause(new Failure('timeout', 'the download waits for a reader'))
    return length
  }

  async function findLength(ask: Ask): Promise<number> {
    const knownWay = content.of === 'xyz' || keeping.download !== undefined || keeping.isRefused()
    const said = knownWay ? undefined : await askedLength(ask.lane)
    if (said !== undefined) return said
    tellsNothing = !knownWay
    const length = await count(ask)
    sizes.remember(name, length)
    return length
  }

  /** A size of 0 is said by services that do not know it, too, and who reads such a file asks for nothing more. */
  async function askedLength(lane: Ask['lane']): Promise<number | undefined> {
    const said = await ports.remote.contentSize(content, ownAsk(lane))
    if (said === undefined || said === 0) return undefined
    sizes.remember(name, said)
    return said
  }

  async function size(ask: Ask): Promise<number> {
    askedAt = now()
    const isJoining = asking !== undefined || keeping.download !== undefined
    return joined(ask, () =>
      judged(ask, () => {
        const answer = () => askOnce(() => findLength(ask))
        return inTime(ask, isJoining ? answer().catch(onceMore(answer)) : answer())
      }),
    )
  }

  async function ahead({ ask, most, signal }: Guess): Promise<number> {
    if (keeping.isRefused()) throw new Failure('no-space', 'the cache directory takes no more bytes')
    if (signal?.aborted === true) throw new Failure('timeout', 'the guess was given up')
    signal?.addEventListener('abort', keeping.giveUpGuess)
    try {
      return await judged(ask, () => inTime(ask, keeping.guess(ask.lane, most)))
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
    read: wanted => joined(wanted.ask, () => read(wanted)),
    readNow(offset, into) {
      askedAt = now()
      purpose = 'reading'
      return readNow(offset, into)
    },
    size,
    ahead: guess => joined(guess.ask, () => ahead(guess)),
    fraction() {
      const length = keeping.told()
      return keeping.download === undefined || !length ? 0 : keeping.download.arrived / length
    },
    tend() {
      const idleMs = now() - askedAt
      if (idleMs > abandonedAfterMs) {
        endPassing()
      }
      keeping.tend(idleMs, purpose)
    },
    atRest: () =>
      (opening ?? asking ?? passing ?? keeping.download ?? keeping.standing) === undefined &&
      !keeping.isRefused(),
    stop(sentence) {
      endPassing()
      return keeping.stop(sentence)
    },
    get busy() {
      return opening !== undefined || keeping.download !== undefined
    },
    get downloading() {
      return keeping.download !== undefined && !keeping.download.resting
    },
  }
}

/** A service that refuses the question only does not tell; one that is away does not let the body be believed. */
function ifNothingTells(thrown: unknown): undefined {
  if (!/^(broken|unsupported|invalid|forbidden|absent)$/.test(asFailure(thrown).kind)) throw thrown
}

/** Whoever waits for it next hears it. */
function ignored(): void {}

const spanOf = ({ offset, into }: Pick<ColdRead, 'offset' | 'into'>, length: number | undefined) => ({
  start: offset,
  end: Math.min(offset + into.length, length ?? Number.POSITIVE_INFINITY),
})

/** The connection failed, before the answer or in its middle (which has a cause: an answer that is no good has none). */
const isLost = (error: unknown): boolean =>
  error instanceof Failure &&
  (error.kind === 'unreachable' || (error.kind === 'broken' && error.cause !== undefined))

/** Asks once more where what was joined has failed: that says nothing about asking now. */
const onceMore =
  <Answer>(again: () => Promise<Answer>) =>
  (error: unknown): Promise<Answer> => {
    if (isContradiction(error) || asFailure(error).kind === 'absent') throw error
    return again()
  }
