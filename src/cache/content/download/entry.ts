// Content entry: how one content that is not open yet is read, sized and fetched ahead; what its failures mean to its readers.
import { asFailure, Failure, isA, isAbsent } from '../../../failure.js'
import { SingleFlight } from '../../../maybe-promise.js'
import { Askers } from '../../../remote/askers.js'
import { dueIn, sleep, withDeadline } from '../../../remote/clock.js'
import type { Body, Content, Remote, RequestContext } from '../../../remote/remote.js'
import { FileClosed } from '../store/open-file.js'
import { Contradiction } from '../store/versions.js'
import { DiskRefused } from './buffer.js'
import {
  abandonedAfterMs,
  Download,
  type DownloadPorts,
  type DownloadSource,
  idleAfterMs,
  PrefetchAbandoned,
  type PrefetchRequest,
} from './download.js'
import { bigBytes, type FetchRange, type Priority } from './ranges.js'
import { UncachedStream } from './uncached.js'

export interface ContentEntryPorts extends DownloadPorts {
  readonly remote: Pick<Remote, 'content' | 'contentSize'>
  /** Nothing of it is worth remembering any more. */
  readonly rested: (entry: ContentEntry) => void
}

export interface ColdRead {
  readonly offset: number
  readonly into: Uint8Array
  readonly context: RequestContext
  /** The failed download was begun by others before: this reader asks for himself now. */
  asksItself?: boolean
}

/** A request of ours begins to be answered within this time; its readers may give up long before. */
const beginWithinMs = 60_000
/** A request that failed is repeated within this time. */
const repeatWithinMs = 20_000
/** The kernel asks once more, page by page, for what came too late: a reader waits for one deadline only. */
const lateForMs = 1000
/** A download that has everything is given this time to end and to be written. */
const completingMs = 2_000
/** A disk that took no more is tried again after this time. */
const refusedForMs = 60_000
const tooLate = 'the service did not send the bytes in time; the download goes on'

export class ContentEntry {
  private arriving: Download | undefined
  /** Resolves when what was begun last is kept, or has failed. */
  private settled: Promise<void> = Promise.resolve()
  private readonly source: DownloadSource
  private passing: UncachedStream | undefined
  private readonly sizing = new SingleFlight<number>()
  private readonly lengthAsked = new SingleFlight<number | undefined>()
  /** The calls that wait for it now: without any, its requests yield to other ones. */
  private readonly askers = new Askers()
  private askedAt: number
  private isRead = false
  private refusedUntil = 0
  /** The service was asked for the length a moment ago. */
  private tellsNothing = false
  /** Bytes that a reader has waited for in vain a moment ago. */
  private late: { readonly start: number; readonly end: number; readonly until: number } | undefined

  constructor(
    private readonly ports: ContentEntryPorts,
    readonly content: Content,
    readonly name: string,
  ) {
    this.askedAt = ports.clock.now()
    this.source = {
      name,
      hasParts: content.of === 'file',
      fetch: (span, priority, of) => this.fetch(span, priority, of),
      askLength: async () => (this.tellsNothing ? undefined : this.askLength('guess').catch(ifSizeUnknown)),
    }
  }

  /** Something of it is under way that needs its file to stay. */
  get busy(): boolean {
    return this.arriving !== undefined
  }

  /** A request brings its bytes just now. */
  get downloading(): boolean {
    return this.arriving !== undefined && !this.arriving.resting
  }

  /** How much has arrived, from 0 to 1. */
  get fraction(): number {
    return this.arrived / (this.told || Number.POSITIVE_INFINITY)
  }

  get arrived(): number {
    return this.arriving?.arrived ?? 0
  }

  /** Nothing is under way, and nothing is worth remembering. */
  get atRest(): boolean {
    const isBusy = this.busy || this.sizing.isUnderWay || this.passing !== undefined
    return !isBusy && !this.isRefused
  }

  /** The bytes at once where they are in memory already, else undefined: the caller then takes `read`. */
  readNow(offset: number, into: Uint8Array): number | undefined {
    this.askedAt = this.ports.clock.now()
    this.isRead = true
    return this.arriving?.readNow(offset, into)
  }

  /** Reads from what arrives; undefined if things changed meanwhile and the caller has to look again. */
  async read(wanted: ColdRead): Promise<number | undefined> {
    this.askedAt = this.ports.clock.now()
    this.isRead = true
    const isJoining = this.arriving !== undefined && wanted.asksItself !== true
    wanted.asksItself = true
    const { context, offset } = wanted
    const length = this.told
    if (length !== undefined && offset >= length) return 0
    const leave = this.join(context)
    try {
      return await (this.isRefused ? this.readPassing(wanted) : this.readDownload(wanted, length))
    } catch (error) {
      if (error instanceof Contradiction) throw await this.contradicted(error, context)
      if (error instanceof DiskRefused) this.refuse()
      if (isPassing(error) || error instanceof FileClosed) return undefined
      const isLate = this.ports.clock.now() >= context.deadline
      if (!isJoining || isLate) throw asFailure(error)
      return undefined
    } finally {
      leave?.()
    }
  }

  /** In bytes. */
  size(context: RequestContext): Promise<number> {
    this.askedAt = this.ports.clock.now()
    const isJoining = this.sizing.isUnderWay || this.arriving !== undefined
    return this.answered(context, isJoining, () => this.sizing.ask(() => this.findLength(context)))
  }

  /** Downloads it as a guess; its length in bytes when it is whole, or skipped because it is longer than `most`. */
  async prefetch(guess: PrefetchRequest): Promise<number> {
    const { context, signal } = guess
    if (this.isRefused) throw new Failure('no-space', 'the cache directory takes no more bytes')
    if (signal?.aborted === true) throw new Failure('timeout', 'the guess was given up')
    const cancel = () => this.arriving?.callOff()
    signal?.addEventListener('abort', cancel)
    try {
      return await this.answered(context, false, async () => {
        const length = await this.begin(guess.most).fetchAll(guess)
        if (guess.wanted !== undefined) await this.settled
        return length
      })
    } catch (error) {
      if (!(error instanceof DiskRefused)) throw error
      this.refuse()
      throw new Failure('no-space', error.message, { cause: error })
    } finally {
      signal?.removeEventListener('abort', cancel)
    }
  }

  maintain(): void {
    const idleMs = this.ports.clock.now() - this.askedAt
    if (idleMs > (this.passing?.canRest === true ? idleAfterMs : abandonedAfterMs)) this.endPassing()
    this.arriving?.maintain(idleMs)
  }

  /** Gives up what has arrived where nothing more is asked for at the moment. */
  dropResting(): void {
    if (this.arriving?.resting === true) this.arriving.stop(new PrefetchAbandoned(0))
  }

  /** Resolves when nothing of it is under way any more. */
  async stop(sentence: string): Promise<void> {
    this.endPassing()
    if (this.arriving?.completing === true)
      await Promise.race([this.settled, sleep(this.ports.clock, completingMs)])
    this.arriving?.stop(new Failure('unreachable', sentence))
    await this.settled
  }

  /** In bytes, as far as the service said it. */
  private get told(): number | undefined {
    return this.arriving?.length ?? this.ports.versions.length(this.name)
  }

  /** The disk took no more of it a short while ago: it is read without being kept. */
  private get isRefused(): boolean {
    return this.ports.clock.now() < this.refusedUntil
  }

  private refuse(): void {
    this.refusedUntil = this.ports.clock.now() + refusedForMs
  }

  private endPassing(): void {
    this.passing?.stop()
    this.passing = undefined
  }

  private join({ priority, requests }: RequestContext): (() => void) | undefined {
    return priority === 'user' ? this.askers.join(requests) : undefined
  }

  private ownContext(priority: Priority): RequestContext {
    const { clock } = this.ports
    const answerBy = dueIn(repeatWithinMs, clock).deadline
    const { askers } = this
    return { ...dueIn(beginWithinMs, clock, priority), answerBy, askers }
  }

  /** The download under way, begun now if there is none. */
  private begin(most = Number.POSITIVE_INFINITY): Download {
    if (this.arriving === undefined) {
      this.arriving = new Download(this.ports, this.source)
      this.settled = this.keep(this.arriving)
    }
    this.arriving.wantMost(most)
    return this.arriving
  }

  private async keep(started: Download): Promise<void> {
    const { kept, lru, rested } = this.ports
    try {
      const whole = await started.whole
      const keeping = kept.keep(this.name, whole, started.print)
      if (keeping !== undefined) await keeping
    } catch (error) {
      this.ended(error)
    } finally {
      this.arriving = undefined
      lru.endParts(this.name)
    }
    if (this.atRest && !this.askers.waiting) rested(this)
  }

  private inTime<Answer>(context: RequestContext, answer: Promise<Answer>): Promise<Answer> {
    return withDeadline(answer, context, this.ports.clock, tooLate)
  }

  private async fetch(...[{ start, end }, priority, of]: Parameters<FetchRange>): Promise<Body> {
    const { remote, lru } = this.ports
    // Bytes that come faster than room is made would pile up in memory.
    await lru.room()
    return remote.content(this.content, start, this.ownContext(priority), end, of)
  }

  /** Readers meet a failure by themselves; here it decides what is remembered. */
  private ended(reason: unknown): void {
    const { versions, log } = this.ports
    const { name } = this
    if (reason instanceof DiskRefused) this.refuse()
    if (reason instanceof Contradiction) versions.contradict(name, reason)
    if (!(reason instanceof PrefetchAbandoned))
      log('a download was not kept', { name, error: String(reason), cause: causeOf(reason) })
  }

  /** A reader's failure after a contradiction, once the download that met it is over. */
  private async contradicted(found: Contradiction, context: RequestContext): Promise<Failure> {
    this.endPassing()
    const failure = this.ports.versions.contradict(this.name, found)
    await this.inTime(context, this.settled)
    return failure
  }

  private async readDownload(wanted: ColdRead, length: number | undefined): Promise<number | undefined> {
    const { context, offset, into } = wanted
    const current = this.begin()
    const end = Math.min(offset + into.length, length ?? Number.POSITIVE_INFINITY)
    const coming = current.reach(offset, end, context.priority)
    if (coming !== undefined) await this.patiently(wanted, coming)
    return current.read(offset, end, into)
  }

  private async patiently({ context, offset, into }: ColdRead, coming: Promise<void>): Promise<void> {
    const { now } = this.ports.clock
    const { late } = this
    if (late !== undefined && now() < late.until && offset >= late.start && offset < late.end) {
      // The next call that waits for it gets it.
      coming.catch(() => {})
      throw new Failure('timeout', tooLate)
    }
    try {
      await this.inTime(context, coming)
    } catch (error) {
      if (now() >= context.deadline)
        this.late = { start: offset, end: offset + into.length, until: now() + lateForMs }
      throw error
    }
  }

  /** Reads into a buffer of ours first: after the deadline the caller's may be used for another call. */
  private async readPassing({ context, offset, into }: ColdRead): Promise<number> {
    this.passing ??= this.uncached(context.priority)
    const own = Buffer.allocUnsafe(into.length)
    const filled = await this.inTime(context, this.passing.read(offset, own))
    into.set(own.subarray(0, filled))
    return filled
  }

  private uncached(priority: Priority): UncachedStream {
    const { remote, versions } = this.ports
    return new UncachedStream({
      name: this.name,
      versions,
      fetch: (start, of) => remote.content(this.content, start, this.ownContext(priority), undefined, of),
    })
  }

  /** The answer; asked again once where it was begun by others, or is of another version: nothing of it was read here. */
  private async answered(
    context: RequestContext,
    isJoining: boolean,
    answer: () => Promise<number>,
  ): Promise<number> {
    const leave = this.join(context)
    try {
      return await this.inTime(context, answer())
    } catch (error) {
      const found = error instanceof Contradiction ? await this.contradicted(error, context) : undefined
      const isAgain = found === undefined ? isJoining && !isAbsent(error) : found.kind === 'replaced'
      if (!isAgain) throw found ?? error
      return await this.answered(context, false, answer)
    } finally {
      leave?.()
    }
  }

  private async findLength(context: RequestContext): Promise<number> {
    const knownWay = this.arriving !== undefined || this.isRefused
    const said = knownWay ? undefined : await this.askLength(context.priority)
    if (said !== undefined) return said
    this.tellsNothing = !knownWay
    const length = await this.count(context)
    this.ports.versions.remember(this.name, length, { modified: this.arriving?.print?.date })
    return length
  }

  /**
   * One question, whether a stat or a foreseen download has it. A size of 0 is said by services that do not know it, too, and
   * a program that reads such a file asks for nothing more.
   */
  private askLength(priority: Priority): Promise<number | undefined> {
    return this.lengthAsked.ask(async () => {
      const said = await this.ports.remote.contentSize(this.content, this.ownContext(priority))
      if (said === undefined || said.bytes === 0) return undefined
      this.ports.versions.remember(this.name, said.bytes, { modified: said.modified })
      return said.bytes
    })
  }

  /** It may not be read yet: what is big waits for a reader. */
  private async count(context: RequestContext): Promise<number> {
    try {
      if (this.isRefused) return await this.uncached(context.priority).size()
      const download = this.begin()
      const length = await download.lengthKnown(context.priority)
      if (!this.isRead && length - download.arrived > bigBytes && download.canRest)
        download.pause(new Failure('timeout', 'the download waits for a reader'))
      return length
    } catch (error) {
      if (error instanceof DiskRefused) this.refuse()
      if (isPassing(error)) return this.count(context)
      throw error
    }
  }
}

/** It goes on in another way. */
const isPassing = (error: unknown): boolean =>
  error instanceof DiskRefused || error instanceof PrefetchAbandoned

/** A service that refuses the question only does not tell; one that is away does not let the body be believed. */
function ifSizeUnknown(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (!isA('denial', failure) && failure.kind !== 'broken') throw thrown
}

const causeOf = (error: unknown): string | undefined =>
  error instanceof Error && error.cause !== undefined ? String(error.cause) : undefined
