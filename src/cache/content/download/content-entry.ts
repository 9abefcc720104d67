// Content entry: chooses how a read of one content is served (kept file, running download, uncached stream).
import { asFailure, Failure, isA, isAbsent } from '../../../failure.js'
import { openAskers } from '../../../remote/askers.js'
import { dueIn, withDeadline } from '../../../remote/clock.js'
import {
  type ByteOffset,
  byteOffset,
  type Content,
  type Remote,
  type RequestContext,
} from '../../../remote/remote.js'
import { openSingleFlight } from '../../../single-flight.js'
import type { Blob } from '../store/blob.js'
import { FileClosed } from '../store/open-file.js'
import { type Contradiction, isContradiction, OtherLength } from '../versions/contradiction.js'
import { DiskRefused } from './chunk-buffer.js'
import { type Download, PrefetchAbandoned } from './download.js'
import type { DownloadProgress } from './download-lifecycle.js'
import { abandonedAfterMs, type DownloadLifecyclePorts, openDownloadLifecycle } from './download-lifecycle.js'
import { bigBytes } from './range-scheduler.js'
import { countBytes, openUncachedStream, type UncachedStream } from './uncached-stream.js'

export interface ContentEntryPorts extends DownloadLifecyclePorts {
  readonly remote: Pick<Remote, 'content' | 'contentSize'>
  /** It is at rest: nothing of it is worth remembering any more. */
  readonly rested: () => void
}

export interface ColdRead {
  readonly offset: number
  readonly into: Uint8Array
  readonly context: RequestContext
}

/** A content that may be read soon. */
export interface PrefetchRequest {
  readonly context: RequestContext
  /** Bytes. */
  readonly most: number
  /** Ends the download where no reader has come for it. */
  readonly signal: AbortSignal | undefined
  /** Until then no pause of readers ends it, and the answer comes once it is kept. */
  readonly wanted?: RequestContext['deadline']
}

export interface ContentEntry {
  /** Opens the kept file; undefined if there is none, or none yet. */
  kept(): Promise<Blob | undefined>
  /** Reads from what arrives; undefined if things changed meanwhile and the caller has to look again. */
  read(wanted: ColdRead): Promise<number | undefined>
  /** In bytes. */
  size(context: RequestContext): Promise<number>
  /** Downloads it as a guess; its length in bytes when it is whole, or skipped because it is longer than `most`. */
  prefetch(guess: PrefetchRequest): Promise<number>
  /** How much has arrived, from 0 to 1. */
  fraction(): number
  progress(): DownloadProgress | undefined
  readonly content: Content
  /** Stops the download if it is stalled or abandoned. */
  maintain(): void
  /** Nothing is under way, and nothing is worth remembering. */
  atRest(): boolean
  /** Resolves when nothing of it is under way any more. */
  stop(sentence: string): Promise<void>
  readonly busy: boolean
  readonly downloading: boolean
  dropResting(): void
  /** The bytes at once where they are in memory already, else undefined: the caller then takes `read`. */
  readNow(offset: number, into: Uint8Array): number | undefined
}

/** A request of ours begins to be answered within this time; its readers may give up long before. */
const beginWithinMs = 60_000
/** A request that failed is repeated within this time. */
const repeatWithinMs = 20_000

const lateForMs = 1000
const tooLate = 'the service did not send the bytes in time; the download goes on'

export function openContentEntry(ports: ContentEntryPorts, content: Content, name: string): ContentEntry {
  const { clock, sizes, store } = ports
  const { now } = clock
  const lifecycle = openDownloadLifecycle(ports, name, {
    mayJump: content.of === 'file',
    fetch: ({ start, end }, priority, of) =>
      ports.remote.content(content, start, ownContext(priority), end, of),
    askLength: async () => (tellsNothing ? undefined : askedLength('guess').catch(ifSizeUnknown)),
    over() {
      if (atRest() && !askers.waiting) ports.rested()
    },
  })
  const opening = openSingleFlight<Blob | undefined>()
  const sizing = openSingleFlight<number>()
  const lengthAsked = openSingleFlight<number | undefined>()
  let passing: UncachedStream | undefined
  /** Bytes that a reader has waited for in vain a moment ago. */
  let late: { readonly start: number; readonly end: number; readonly until: number } | undefined
  /** The service was asked for the length a moment ago. */
  let tellsNothing = false
  let askedAt = now()
  let purpose: 'reading' | 'counting' = 'reading'
  const triedAgain = new WeakSet<ColdRead>()

  /** The calls that wait for it now: without any, its requests yield to other ones. */
  const askers = openAskers()

  function ownContext(priority: RequestContext['priority']): RequestContext {
    const answerBy = dueIn(repeatWithinMs, clock).deadline
    return { ...dueIn(beginWithinMs, clock, priority), answerBy, patience: repeatWithinMs, askers }
  }

  async function joined<Answer>(
    { priority, requests }: RequestContext,
    answer: () => Promise<Answer>,
  ): Promise<Answer> {
    const leave = priority === 'user' ? askers.join(requests) : undefined
    try {
      return await answer()
    } finally {
      leave?.()
    }
  }

  function fetchIn(priority: RequestContext['priority']) {
    return (start: ByteOffset) => ports.remote.content(content, start, ownContext(priority))
  }

  function inTime<Answer>(context: RequestContext, answer: Promise<Answer>): Promise<Answer> {
    return withDeadline(answer, context, clock, tooLate)
  }

  /** What cannot be opened is downloaded again, like what is not there. */
  async function openKept(): Promise<Blob | undefined> {
    // Looking costs a twentieth of an open that fails, and most files that are asked about are not kept yet.
    if (!store.has(name)) return undefined
    const blob = await store.open(name).catch(error => {
      ports.log('a kept file cannot be opened', { name, error: String(error) })
    })
    if (!blob) return undefined
    const expected = sizes.known(name)
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
  async function patiently({ context, offset, into }: ColdRead, coming: Promise<void>): Promise<void> {
    const isAgain = late !== undefined && now() < late.until && offset >= late.start && offset < late.end
    // The next call that waits for it gets it.
    if (isAgain) coming.catch(() => {})
    if (isAgain) throw new Failure('timeout', tooLate)
    try {
      await inTime(context, coming)
    } catch (error) {
      if (now() >= context.deadline)
        late = { start: offset, end: offset + into.length, until: now() + lateForMs }
      throw error
    }
  }

  async function readDownload(wanted: ColdRead, length: number | undefined): Promise<number> {
    const current = lifecycle.begin()
    const coming = current.reach(spanOf(wanted, length), wanted.context.priority)
    if (coming !== undefined) await patiently(wanted, coming)
    return current.read(wanted.offset, wanted.into)
  }

  async function readPassing(wanted: ColdRead, length: number | undefined): Promise<number> {
    passing ??= openUncachedStream({
      fetch: (start, of) =>
        ports.remote.content(content, start, ownContext(wanted.context.priority), undefined, of),
      versionBefore: () => sizes.version(name),
      told: lifecycle.told,
      met: lifecycle.met,
    })
    const current = passing
    const filled = await lent(wanted, length, into => current.read(wanted.offset, into))
    const due = length === undefined ? filled : Math.min(wanted.into.length, length - wanted.offset)
    if (filled === due || length === undefined) return filled
    throw new OtherLength(length, wanted.offset + filled)
  }

  /** Reads into a buffer of ours first: after the deadline the caller's may be used for another call. */
  async function lent<Count extends number | undefined>(
    wanted: ColdRead,
    length: number | undefined,
    fill: (into: Uint8Array) => Promise<Count>,
  ): Promise<Count> {
    const room =
      length === undefined ? wanted.into.length : Math.min(wanted.into.length, length - wanted.offset)
    const own = Buffer.allocUnsafe(room)
    const filled = await inTime(wanted.context, fill(own))
    if (filled !== undefined) wanted.into.set(own.subarray(0, filled))
    return filled
  }

  function readNow(offset: number, into: Uint8Array): number | undefined {
    const { download } = lifecycle
    const length = download?.length
    if (download === undefined || length === undefined || offset >= length) return undefined
    return download.readNow(spanOf({ offset, into }, length), into)
  }

  async function read(wanted: ColdRead): Promise<number | undefined> {
    askedAt = now()
    purpose = 'reading'
    const isJoining = lifecycle.download !== undefined
    const length = lifecycle.told()
    if (length !== undefined && wanted.offset >= length) return 0
    if (lifecycle.standing !== undefined) throw lifecycle.standing
    try {
      if (lifecycle.isRefused()) return await readPassing(wanted, length)
      return await readDownload(wanted, length)
    } catch (error) {
      if (isContradiction(error)) {
        endPassing()
        throw await told(error, wanted.context)
      }
      if (error instanceof DiskRefused) lifecycle.refuse()
      if (error instanceof DiskRefused || error instanceof PrefetchAbandoned || error instanceof FileClosed)
        return undefined
      // What others began before may have been lost long ago: that says nothing about asking now.
      if (isJoining && now() < wanted.context.deadline && (isLost(error) || isFirstTry(wanted)))
        return undefined
      throw asFailure(error)
    }
  }

  /** What failed was begun by others before; once, whatever it was, this reader asks for himself. */
  function isFirstTry(wanted: ColdRead): boolean {
    if (triedAgain.has(wanted)) return false
    triedAgain.add(wanted)
    return true
  }

  /** What the reader hears of a contradiction. */
  function told(found: Contradiction, context: RequestContext): Promise<Failure> {
    return inTime(context, lifecycle.resolveContradiction(found))
  }

  /** The answer; asked again once where it is of another version: nothing of it was read here. */
  async function judged<Answer>(context: RequestContext, answer: () => Promise<Answer>): Promise<Answer> {
    try {
      return await answer()
    } catch (error) {
      if (!isContradiction(error)) throw error
      const failure = await told(error, context)
      if (failure.kind !== 'replaced') throw failure
      return answer()
    }
  }

  async function count(context: RequestContext): Promise<number> {
    purpose = 'counting'
    try {
      if (!lifecycle.isRefused()) return await lengthOf(lifecycle.begin(), context)
    } catch (error) {
      if (error instanceof PrefetchAbandoned) return count(context)
      if (!(error instanceof DiskRefused)) throw error
      lifecycle.refuse()
    }
    return countBytes(await fetchIn(context.priority)(byteOffset(0)))
  }

  /** It is not read yet: what is big waits for a reader. */
  async function lengthOf(download: Download, context: RequestContext): Promise<number> {
    const length = await download.lengthKnown(context.priority)
    if (purpose === 'counting' && length - download.arrived > bigBytes && download.canRest)
      download.pause(new Failure('timeout', 'the download waits for a reader'))
    return length
  }

  async function findLength(context: RequestContext): Promise<number> {
    const knownWay = lifecycle.download !== undefined || lifecycle.isRefused()
    const said = knownWay ? undefined : await askedLength(context.priority)
    if (said !== undefined) return said
    tellsNothing = !knownWay
    const length = await count(context)
    sizes.remember(name, length, { modified: lifecycle.download?.version?.date })
    return length
  }

  /** One question, whether a stat or a foreseen download has it. */
  const askedLength = (priority: RequestContext['priority']): Promise<number | undefined> =>
    lengthAsked.ask(() => askLength(priority))

  /** A size of 0 is said by services that do not know it, too, and a program that reads such a file asks for nothing more. */
  async function askLength(priority: RequestContext['priority']): Promise<number | undefined> {
    const said = await ports.remote.contentSize(content, ownContext(priority))
    if (said === undefined || said.bytes === 0) return undefined
    sizes.remember(name, said.bytes, { modified: said.modified })
    return said.bytes
  }

  async function size(context: RequestContext): Promise<number> {
    askedAt = now()
    const isJoining = sizing.isUnderWay || lifecycle.download !== undefined
    return joined(context, () =>
      judged(context, () => {
        const answer = () => sizing.ask(() => findLength(context))
        return inTime(context, isJoining ? answer().catch(retryJoined(answer)) : answer())
      }),
    )
  }

  async function ahead({ context, most, signal, wanted }: PrefetchRequest): Promise<number> {
    if (lifecycle.isRefused()) throw new Failure('no-space', 'the cache directory takes no more bytes')
    if (signal?.aborted === true) throw new Failure('timeout', 'the guess was given up')
    signal?.addEventListener('abort', lifecycle.cancelPrefetch)
    try {
      return await judged(context, () => inTime(context, lifecycle.prefetch(context.priority, most, wanted)))
    } catch (error) {
      if (error instanceof DiskRefused) lifecycle.refuse()
      throw error instanceof DiskRefused ? new Failure('no-space', error.message, { cause: error }) : error
    } finally {
      signal?.removeEventListener('abort', lifecycle.cancelPrefetch)
    }
  }

  const atRest = (): boolean =>
    (passing ?? lifecycle.download ?? lifecycle.standing) === undefined &&
    !opening.isUnderWay &&
    !sizing.isUnderWay &&
    !lifecycle.isRefused()

  function endPassing(): void {
    passing?.close()
    passing = undefined
  }

  return {
    kept() {
      if (lifecycle.download !== undefined) return Promise.resolve(undefined)
      return opening.ask(openKept)
    },
    read: wanted => joined(wanted.context, () => read(wanted)),
    readNow(offset, into) {
      askedAt = now()
      purpose = 'reading'
      return readNow(offset, into)
    },
    size,
    prefetch: guess => joined(guess.context, () => ahead(guess)),
    fraction() {
      const length = lifecycle.told()
      return lifecycle.download === undefined || !length ? 0 : lifecycle.download.arrived / length
    },
    content,
    progress: lifecycle.progress,
    maintain() {
      const idleMs = now() - askedAt
      if (idleMs > abandonedAfterMs) endPassing()
      lifecycle.maintain(idleMs, purpose)
    },
    atRest,
    stop(sentence) {
      endPassing()
      return lifecycle.stop(sentence)
    },
    get busy() {
      return opening.isUnderWay || lifecycle.download !== undefined
    },
    dropResting: lifecycle.dropResting,
    get downloading() {
      return lifecycle.download !== undefined && !lifecycle.download.resting
    },
  }
}

/** A service that refuses the question only does not tell; one that is away does not let the body be believed. */
function ifSizeUnknown(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (!isA('denial', failure) && failure.kind !== 'broken') throw thrown
}

const spanOf = ({ offset, into }: Pick<ColdRead, 'offset' | 'into'>, length: number | undefined) => ({
  start: offset,
  end: Math.min(offset + into.length, length ?? Number.POSITIVE_INFINITY),
})

/** The connection failed, before the answer or in its middle (which has a cause: an answer that is no good has none). */
const isLost = (error: unknown): boolean =>
  error instanceof Failure &&
  (error.kind === 'unreachable' || (error.kind === 'broken' && error.cause !== undefined))

/** Asks once more where what was joined has failed: that says nothing about asking now. */
const retryJoined =
  <Answer>(again: () => Promise<Answer>) =>
  (error: unknown): Promise<Answer> => {
    if (isContradiction(error) || isAbsent(error)) throw error
    return again()
  }
