// Download of one content: readers wait for exactly the bytes they requested, and nothing is given before it is believed.
import { Failure } from '../../../failure.js'
import type { Body, ContentVersion, Instant, RequestContext } from '../../../remote/remote.js'
import { type Checksum, ChecksumBuilder, sameChecksum } from '../store/checksum.js'
import { type CompleteContent, type KeptFiles, type KeptFilesPorts, roomBytes } from '../store/kept-files.js'
import {
  fingerprintOf,
  isOther,
  OtherLength,
  OtherVersion,
  tells,
  type VersionFingerprint,
} from '../store/versions.js'
import { ChunkBuffer } from './buffer.js'
import {
  bigBytes,
  type FetchRange,
  type Priority,
  type RangeSupport,
  Ranges,
  type RangeUser,
} from './ranges.js'

export interface DownloadPorts extends KeptFilesPorts {
  readonly ranges: RangeSupport
  readonly kept: KeptFiles
}

export interface DownloadSource {
  readonly name: string
  /** True if parts of it may be asked for at all. */
  readonly hasParts: boolean
  readonly fetch: FetchRange
  /** Asks the service for the length once, so that `versions` knows it where the service can tell. */
  readonly askLength: () => Promise<unknown>
}

export interface PrefetchRequest {
  readonly context: RequestContext
  /** Bytes. */
  readonly most: number
  /** Ends the download where no reader has come for it. */
  readonly signal: AbortSignal | undefined
  /** Until then no pause of readers ends it, and the answer comes once it is kept. */
  readonly wanted?: Instant
}

/** A prefetched content turns out longer than was wanted, or is not wanted any more; no reader has come for it. */
export class PrefetchAbandoned extends Error {
  /** How long it is, or how much of it there is at least; 0 where it was called off. */
  constructor(readonly bytes: number) {
    super('this content is not wanted any more')
  }
}

interface Waiter {
  /** The byte it waits for first; none for the length. */
  readonly missing?: () => number
  readonly ready: () => boolean
  readonly resolve: () => void
  readonly reject: (reason: unknown) => void
}

const countedEvery = 1 << 20
/** A content up to this is checked whole before any of it is given, where its head does not say its length. */
const heldBackBytes = 1 << 20
/** The arrived bytes are lost, or wait for its readers to come back. */
export const abandonedAfterMs = 60_000
export const idleAfterMs = 5_000

/** Asks for nothing until it is read or `fetchAll` is called. */
export class Download implements RangeUser {
  readonly buffer: ChunkBuffer
  readonly fetch: FetchRange
  /** Settles once: with everything, or with why not (a Failure, `DiskRefused`, `PrefetchAbandoned`). */
  readonly whole: Promise<CompleteContent>
  /** The version that all answers belong to, and the same in few letters. */
  version: ContentVersion | undefined
  print: VersionFingerprint | undefined
  private readonly requests: Ranges
  private readonly waiting = new Set<Waiter>()
  private total: number | undefined
  private toldBefore: number | undefined
  /** The head of an answer has said the length. */
  private isDeclared = false
  /** Nothing is given before so many bytes, or all, have come. */
  private heldBack = 0
  /** No reader gets it before it was compared with a second copy. */
  private isPage = false
  /** The service is asked for the length that no head says. */
  private asking: Promise<unknown> | undefined
  private isAsking = false
  private grown = 0
  /** Nothing more is asked for: its proof and the disk are being waited for. */
  private isComplete = false
  private isWhole = false
  private failure: { readonly reason: unknown } | undefined
  private settle!: (outcome: CompleteContent | Promise<never>) => void
  /** Beyond so many bytes it is not wanted. */
  most = 0
  private wantedUntil = 0

  constructor(
    private readonly ports: DownloadPorts,
    private readonly source: DownloadSource,
  ) {
    const { store, lru, ranges } = ports
    this.whole = new Promise(settle => {
      this.settle = settle
    })
    // Each reader gets it, and so does the store.
    this.whole.catch(() => {})
    this.fetch = source.fetch
    this.buffer = new ChunkBuffer({
      create: async () => {
        await lru.settle()
        return store.create()
      },
      discard: unfinished => store.discard(unfinished),
      length: () => this.known,
      now: ports.clock.now,
      makeRoom: () => lru.evict(roomBytes),
      lost: reason => this.stop(reason),
    })
    this.requests = new Ranges(this, ranges)
  }

  /** How many bytes readers may have. */
  get arrived(): number {
    return this.isBelieved || this.isWhole ? this.buffer.arrived.bytes : 0
  }

  /** The whole length as the service said it, or as counted. */
  get length(): number | undefined {
    return this.isWhole || this.isBelieved ? this.total : undefined
  }

  get known(): number | undefined {
    return this.total ?? this.told
  }

  /** Nothing is asked for at the moment; what has arrived waits for readers. */
  get resting(): boolean {
    return !this.isOver && !this.requests.busy && !this.isComplete
  }

  get completing(): boolean {
    return this.arrived >= (this.known ?? Number.POSITIVE_INFINITY)
  }

  /** The arrived bytes would be worth something if it was stopped now. */
  get canRest(): boolean {
    return this.ports.ranges.possible && this.mayJump && this.length !== undefined && this.arrived > 0
  }

  get mayJump(): boolean {
    return this.source.hasParts && this.ports.versions.mayJoin(this.source.name)
  }

  /** A reader wants all of it, a guess so many bytes. */
  wantMost(bytes: number): void {
    this.most = Math.max(this.most, bytes)
  }

  /**
   * Its length in bytes when it is whole, or left alone because it is longer than wanted.
   * @throws Failure 'timeout' where it was called off
   */
  async fetchAll({ context, most, wanted }: PrefetchRequest): Promise<number> {
    this.wantedUntil = wanted ?? this.wantedUntil
    this.requests.fetchAll(context.priority)
    try {
      return (await this.whole).checksum.length
    } catch (error) {
      if (!(error instanceof PrefetchAbandoned)) throw error
      if (error.bytes <= most) throw new Failure('timeout', 'the guess was given up')
      const { length, print } = this
      if (length !== undefined)
        this.ports.versions.remember(this.source.name, length, { modified: print?.date })
      return error.bytes
    }
  }

  callOff(): void {
    if (this.most < Number.POSITIVE_INFINITY) this.stop(new PrefetchAbandoned(0))
  }

  /** Stops what no program reads any more; `unaskedMs` is how long it was not asked for. */
  maintain(unaskedMs: number): void {
    const idleMs = this.ports.clock.now() < this.wantedUntil ? 0 : unaskedMs
    if (this.resting) {
      // Without a validator nothing would tell whether what is asked for later belongs to them.
      if (tells(this.print) || idleMs < abandonedAfterMs)
        this.ports.lru.countParts(this.source.name, this.arrived, this.known)
      else this.stop(new PrefetchAbandoned(0))
      return
    }
    const missing = (this.length ?? 2 * this.arrived) - this.arrived
    if (missing > bigBytes && idleMs > (this.canRest ? idleAfterMs : abandonedAfterMs))
      this.pause(new Failure('timeout', 'the download was stopped: no program reads the file any more'))
  }

  /** Resolves when these bytes may be read, or there are no more; asks for them and for what is likely to follow. */
  reach(start: number, end: number, priority: Priority): Promise<void> | undefined {
    if (!this.isOver) this.requests.want(start, end, priority)
    if (this.has(start, end)) return undefined
    return this.until({
      ready: () => this.has(start, end),
      missing: () => this.buffer.arrived.reach(start),
    })
  }

  ask(priority: Priority): void {
    this.requests.want(0, 0, priority)
  }

  async lengthKnown(priority: Priority): Promise<number> {
    const ready = () => this.length !== undefined
    if (!ready()) this.ask(priority)
    if (!ready()) await this.until({ ready })
    return this.length ?? 0
  }

  /** The bytes that have arrived, after `reach`; undefined where a short body was lost and has begun again meanwhile. */
  read(offset: number, end: number, into: Uint8Array): Promise<number> | number | undefined {
    if (this.failure !== undefined) throw this.failure.reason
    if (!this.has(offset, end)) return undefined
    const there = this.buffer.arrived.reach(offset) - offset
    return this.buffer.read(offset, into.subarray(0, Math.max(0, there)))
  }

  /** The same at once where they are in memory; undefined where something has to be waited for. */
  readNow(offset: number, into: Uint8Array): number | undefined {
    const { length } = this
    if (length === undefined || offset >= length || this.isOver) return undefined
    const end = Math.min(offset + into.length, length)
    if (!this.has(offset, end)) return undefined
    this.requests.want(offset, end, 'user')
    return this.buffer.readNow(offset, into.subarray(0, end - offset))
  }

  /** Asks for no more for now; waiting readers hear why. */
  pause(reason: Failure): void {
    if (this.canRest) this.requests.pause(reason)
    else this.stop(reason)
  }

  stop(reason: unknown): void {
    if (this.isOver) return
    this.failure = { reason }
    this.requests.stop()
    for (const waiter of this.waiting) waiter.reject(reason)
    this.waiting.clear()
    this.buffer.discard()
    this.settle(Promise.reject(reason))
  }

  arriving(body: Pick<Body, 'version' | 'length'>): void {
    const arrived = fingerprintOf(body.version)
    if (isOther(this.print ?? this.ports.versions.version(this.source.name), arrived))
      throw new OtherVersion(body.length === undefined || body.length === this.known)
    this.version ??= body.version
    this.print ??= arrived
  }

  begun({ length, ends }: Body, how: 'whole' | 'part'): void {
    if (this.failure !== undefined) throw this.failure.reason
    const { versions } = this.ports
    this.isPage ||= how === 'whole' && ends === 'twice'
    if (this.known === undefined && (length === undefined || versions.isDoubted(this.source.name)))
      this.askLength()
    this.isDeclared ||= length !== undefined
    if (length !== undefined) this.counted(length)
    else if (how === 'whole') this.heldBack = heldBackBytes
    versions.met(this.source.name, this.print)
  }

  counted(bytes: number): void {
    if (this.total !== undefined && this.total !== bytes) throw new OtherLength(this.total, bytes)
    this.refuseOther(bytes)
    if (this.total !== undefined) return
    this.total = bytes
    this.wake()
    this.refuseUnwanted(bytes)
  }

  received(): void {
    const { bytes } = this.buffer.arrived
    if (this.total === undefined) this.refuseUnwanted(bytes)
    if (bytes - this.grown >= countedEvery) {
      this.grown = bytes
      this.ports.lru.countParts(this.source.name, bytes, this.known)
    }
    if (this.waiting.size > 0 && this.isBelieved) this.wake()
  }

  complete(bytes: number): void {
    this.isComplete = true
    this.proven(bytes).then(
      content => {
        if (this.isOver) return
        this.isWhole = true
        this.wake()
        this.settle(content)
      },
      reason => this.stop(reason),
    )
  }

  /** A failure of the disk or the content itself ends all; a lost connection only what waits for it. */
  failed(reason: unknown): void {
    const passes = reason instanceof Failure && /^(timeout|unreachable|busy)$/.test(reason.kind)
    if (!passes || !this.canRest) this.stop(reason)
    for (const waiter of this.waiting) {
      const missing = waiter.missing?.()
      if (missing !== undefined && this.requests.bringing(missing) !== undefined) continue
      this.waiting.delete(waiter)
      waiter.reject(reason)
    }
  }

  private get isOver(): boolean {
    return this.isWhole || this.failure !== undefined
  }

  /** Asked for until it is known: lengths never change. */
  private get told(): number | undefined {
    this.toldBefore ??= this.ports.versions.length(this.source.name)
    return this.toldBefore
  }

  private get isBelieved(): boolean {
    if (this.isPage || this.isAsking || this.buffer.arrived.bytes < this.heldBack) return false
    return this.isDeclared || this.told !== undefined
  }

  private has(start: number, end: number): boolean {
    if (this.isWhole) return true
    return this.isBelieved && this.buffer.arrived.reach(start) >= Math.min(end, this.total ?? end)
  }

  private until(wanted: Pick<Waiter, 'missing' | 'ready'>): Promise<void> {
    if (this.failure !== undefined) return Promise.reject(this.failure.reason)
    return new Promise((resolve, reject) => this.waiting.add({ ...wanted, resolve, reject }))
  }

  private wake(): void {
    for (const waiter of this.waiting) {
      if (!waiter.ready()) continue
      this.waiting.delete(waiter)
      waiter.resolve()
    }
  }

  /** @throws OtherLength where another source has told another length: nothing here tells which of them is right */
  private refuseOther(bytes: number): void {
    const { told } = this
    if (told !== undefined && told !== bytes) throw new OtherLength(told, bytes)
  }

  private refuseUnwanted(bytes: number): void {
    if (bytes > this.most) throw new PrefetchAbandoned(bytes)
  }

  private askLength(): void {
    if (this.asking !== undefined) return
    this.isAsking = true
    this.asking = this.source
      .askLength()
      .then(() => {
        this.isAsking = false
        if (this.total !== undefined) this.refuseOther(this.total)
        this.wake()
      })
      .catch((reason: unknown) => this.stop(reason))
  }

  private async proven(bytes: number): Promise<CompleteContent> {
    if (this.asking !== undefined) await this.asking
    this.counted(bytes)
    const content = await this.buffer.finish(bytes)
    if (this.isPage || (!this.isDeclared && this.told === undefined))
      await this.compareWithSecond(content.checksum)
    return content
  }

  /** A body of whose length nothing tells is believed if a second one is the same. */
  private async compareWithSecond(first: Checksum): Promise<void> {
    const second = new ChecksumBuilder()
    await this.requests.again(piece => second.add(piece))
    if (sameChecksum(first, second.finish())) return
    throw new Failure('broken', 'nothing tells the length of this file, and two downloads of it differ')
  }
}
