// Ranges: the requests that bring the bytes of one content; one for all where it is small, else parts ahead of its readers.
import { Failure } from '../../../failure.js'
import {
  type Body,
  type ByteOffset,
  byteOffset,
  type ContentVersion,
  type RequestContext,
} from '../../../remote/remote.js'
import { chunkBytes } from '../store/checksum.js'
import { Contradiction, OtherLength } from '../store/versions.js'
import { type ChunkBuffer, ChunkWriter } from './buffer.js'
import { ReadPattern } from './read-pattern.js'

/** How urgent what a reader or prefetch wants is. */
export type Priority = RequestContext['priority']

/** Asks for a stretch; `of` is the version a part must belong to. */
export type FetchRange = (
  span: { start: ByteOffset; end: ByteOffset | undefined },
  priority: Priority,
  of: ContentVersion | undefined,
) => Promise<Body>

/** The download that the ranges are for. */
export interface RangeUser {
  /** The whole length in bytes, as far as it is known. */
  readonly known: number | undefined
  readonly version: ContentVersion | undefined
  readonly buffer: ChunkBuffer
  /** True if parts of several answers may be put together. */
  readonly mayJump: boolean
  readonly fetch: FetchRange
  /** An answer comes; throws if it is of another version. */
  arriving(body: Pick<Body, 'version' | 'length'>): void
  /** A body comes; throws if it contradicts what is known. */
  begun(body: Body, how: 'whole' | 'part'): void
  /** A piece has arrived; throws if no more is wanted. */
  received(): void
  /** A body that did not say its length has ended; throws if that contradicts what is known. */
  counted(bytes: number): void
  complete(bytes: number): void
  failed(reason: unknown): void
}

/** A stretch on its way, from `from` on: `position` is the next byte to come, `end` the one that is not wanted any more. */
interface InFlightRange {
  from: number
  position: number
  end: number
  readonly priority: Priority
  body: Body | undefined
}

/** A download that is shorter, or lacks less, is worth finishing although no reader waits. */
export const bigBytes = 8 << 20
/** Up to this length the whole is fetched at once, although only its beginning is looked at. */
const wholeAtMost = 1 << 20
/** A gap up to this arrives soon; beyond it, a stretch is asked for by itself. */
const nearBytes = 4 << 20
const alignment = 128 << 10
/** Nothing a calculation holds is near this (the platform takes 1 GB); an endless body must end somewhere. */
const largestBytes = 64 * 2 ** 30
const atOnceAtMost = 3
/** A reader of an eighth of this in one go is taken to read on. */
const sequentialAhead = 1 << 20
/** One answer of another kind is an accident: so many in a row are the service's way. */
const refusedOften = 3

/** True if the service honours Range: what it answered several times in a row holds for this process. */
export class RangeSupport {
  private refusals = 0

  get possible(): boolean {
    return this.refusals < refusedOften
  }

  /** An answer was no part where one was asked for. */
  refuse(): void {
    this.refusals += 1
  }

  honour(): void {
    this.refusals = 0
  }
}

/** No byte is asked for twice: what is there or on its way is known here. */
export class Ranges {
  private readonly inFlight = new Set<InFlightRange>()
  private readonly pattern = new ReadPattern()
  private allWanted = false
  private stopped = false
  private refusedHere = false

  constructor(
    private readonly user: RangeUser,
    private readonly support: RangeSupport,
  ) {}

  get busy(): boolean {
    return this.inFlight.size > 0
  }

  /** Asks for bytes that are read now, and for what is likely to follow. */
  want(start: number, end: number, priority: Priority): void {
    if (this.stopped) return
    const to = Math.min(end, this.total)
    const ahead = this.pattern.ahead(start, to)
    if (this.wantsAll()) this.startAll(priority)
    this.fetchMissing(start, to, ahead, priority)
    if (this.wantsAll() || this.inFlight.size >= atOnceAtMost || ahead < sequentialAhead) return
    const next = this.claimed(to)
    if (next < this.total && next - to < ahead / 2)
      this.start(next, Math.min(this.barrier(next), to + ahead), priority)
  }

  /** Asks for all of it, as far as it is not asked for. */
  fetchAll(priority: Priority): void {
    this.allWanted = true
    this.startAll(priority)
  }

  /** The request that brings this byte. */
  bringing(offset: number): InFlightRange | undefined {
    for (const one of this.inFlight) if (one.position <= offset && offset < one.end) return one
    return undefined
  }

  /** One body from the beginning once more, for comparing. */
  async again(take: (piece: Uint8Array) => void): Promise<void> {
    const range = this.add(this.total, this.total, 'user')
    try {
      const body = await this.begin(range, 0)
      for await (const piece of body?.bytes ?? []) {
        if (this.stopped) return
        take(piece)
      }
    } finally {
      this.end(range)
    }
  }

  /** Ends all requests, each with this reason. */
  pause(reason: Failure): void {
    for (const range of this.inFlight) this.end(range)
    this.user.failed(reason)
  }

  /** Ends all requests without a word. */
  stop(): void {
    this.stopped = true
    for (const range of this.inFlight) this.end(range)
  }

  private get total(): number {
    return this.user.known ?? largestBytes
  }

  private get jumps(): boolean {
    return !this.refusedHere && this.support.possible && this.user.mayJump
  }

  private wantsAll(): boolean {
    const length = this.user.known
    if (this.allWanted || length === undefined || !this.jumps) return true
    if (this.pattern.isHeadOnly) return length <= wholeAtMost
    return length - this.user.buffer.arrived.bytes <= bigBytes
  }

  private startAll(priority: Priority): void {
    if (this.inFlight.size === 0 && this.user.buffer.arrived.bytes < this.total) this.startNext(priority)
  }

  /** The first bytes that no request brings yet. */
  private startNext(priority: Priority): void {
    for (let from = 0; from < this.total; ) {
      const end = this.claimed(from)
      if (end === from) {
        this.start(from, this.barrier(from), priority)
        return
      }
      from = end
    }
  }

  private start(from: number, to: number, priority: Priority): void {
    if (this.stopped || to <= from) return
    const range = this.add(from, to, priority)
    this.run(range).then(
      () => this.inFlight.delete(range) && this.goOn(range.priority),
      (reason: unknown) => this.end(range) && this.user.failed(reason),
    )
  }

  private add(from: number, end: number, priority: Priority): InFlightRange {
    const range = { from, position: from, end, priority, body: undefined }
    this.inFlight.add(range)
    return range
  }

  /** An answer refused before its first piece was taken holds a connection until it is let go. False where it was ended before. */
  private end(range: InFlightRange): boolean {
    range.body?.cancel()
    return this.inFlight.delete(range)
  }

  private goOn(priority: Priority): void {
    const { known, buffer } = this.user
    if (known !== undefined && buffer.arrived.bytes >= known) {
      if (this.inFlight.size === 0) this.user.complete(known)
    } else if (this.wantsAll()) this.startNext(priority)
  }

  /** Undefined where it was ended meanwhile. */
  private async begin(range: InFlightRange, from: number): Promise<Body | undefined> {
    const end = range.end >= this.total ? undefined : byteOffset(range.end)
    const body = await this.user.fetch({ start: byteOffset(from), end }, range.priority, this.user.version)
    range.body = body
    if (this.inFlight.has(range)) return body
    body.cancel()
    return undefined
  }

  private async run(range: InFlightRange): Promise<void> {
    const { from, end } = range
    const body = await this.begin(range, from)
    if (body === undefined) return
    this.user.arriving(body)
    const isBounded = end < this.total
    const isUnasked = isBounded && from === 0 && body.end === undefined
    if (body.start !== from || isUnasked) return this.adopt(range, body)
    if (from > 0) this.support.honour()
    await this.take(range, body, isBounded || from > 0)
  }

  /** The service honours no Range: what it sends is the whole, from the beginning. */
  private async adopt(range: InFlightRange, body: Body): Promise<void> {
    if (body.start !== 0) throw new Failure('broken', `the body begins at byte ${body.start}`)
    this.support.refuse()
    this.refusedHere = true
    for (const other of this.inFlight) {
      // A request from the beginning goes on to the end.
      if (other === range || other.from !== 0 || other.body === undefined) continue
      other.end = this.total
      body.cancel()
      return
    }
    range.from = 0
    range.position = 0
    range.end = largestBytes
    await this.take(range, body, false)
  }

  private async take(range: InFlightRange, first: Body, isPart: boolean): Promise<void> {
    this.user.begun(first, isPart ? 'part' : 'whole')
    range.end = Math.min(range.end, this.total)
    const end = () => (range.end === largestBytes ? undefined : range.end)
    const writer = new ChunkWriter(this.user.buffer, range.position, end)
    try {
      await this.takeResumed(range, first, writer)
      if (this.inFlight.has(range)) this.ended(range)
    } finally {
      writer.close()
    }
  }

  /**
   * A body lost halfway is resumed where it broke, a short one begun again at first: it is of one answer. Of those that bring
   * nothing at all, one is taken for an accident.
   */
  private async takeResumed(range: InFlightRange, first: Body, writer: ChunkWriter): Promise<void> {
    let body = first
    let inVain = 0
    for (;;) {
      const { position } = range
      const lost = await this.takePieces(range, body, writer)
      if (lost === undefined || !this.inFlight.has(range)) return
      inVain = range.position === position ? inVain + 1 : 0
      if (inVain > 1 || body.ends !== 'proven') throw lost.reason
      // A whole chunk may be on its way to the disk.
      const isShort = this.total <= chunkBytes && range.position < chunkBytes
      if (body === first && range.from === 0 && isShort) {
        writer.restart()
        range.position = 0
      }
      body = await this.resume(range, lost.reason)
    }
  }

  /** Whatever goes wrong here, the first loss is what the reader should hear of, save that the rest is no rest of this. */
  private async resume(range: InFlightRange, reason: unknown): Promise<Body> {
    try {
      const body = await this.begin(range, range.position)
      if (body !== undefined) this.user.arriving(body)
      if (body?.start === range.position && body.ends === 'proven') return body
    } catch (thrown) {
      if (thrown instanceof Contradiction) throw thrown
    }
    throw reason
  }

  /** Undefined at the end, or where no more is wanted; else why the service's side was lost. */
  private async takePieces(
    range: InFlightRange,
    body: Body,
    writer: ChunkWriter,
  ): Promise<{ readonly reason: unknown } | undefined> {
    const pieces = body.bytes[Symbol.asyncIterator]()
    try {
      while (range.position < range.end || range.end >= this.total) {
        let next: IteratorResult<Uint8Array>
        try {
          next = await pieces.next()
        } catch (reason) {
          return { reason }
        }
        if (next.done === true || !this.inFlight.has(range)) return undefined
        const waiting = writer.put(this.within(range, next.value))
        this.user.received()
        if (waiting !== undefined) await waiting
      }
      return undefined
    } finally {
      body.cancel()
    }
  }

  /** The part of a piece that is wanted; a content that is longer than it should be is no good. */
  private within(range: InFlightRange, piece: Uint8Array): Uint8Array {
    const end = range.position + piece.length
    if (end > this.total) throw new OtherLength(this.total, undefined)
    const part = end > range.end ? piece.subarray(0, range.end - range.position) : piece
    range.position += part.length
    return part
  }

  private ended(range: InFlightRange): void {
    if (this.user.known === undefined) {
      range.end = range.position
      this.user.counted(range.position)
      return
    }
    // Its length may have been told after it began.
    range.end = Math.min(range.end, this.total)
    const { position, end } = range
    if (end === this.total && position !== end) throw new OtherLength(end, position)
    if (position < end)
      throw new Failure('broken', `a part of a file ended after ${position} of ${end} bytes`)
  }

  /** The bytes between the two that neither are there nor come soon. */
  private fetchMissing(from: number, to: number, ahead: number, priority: Priority): void {
    for (let at = from; at < to; ) {
      const there = this.user.buffer.arrived.reach(at)
      const coming = there > at ? undefined : this.bringing(at)
      if (there > at) at = there
      else if (coming !== undefined && !this.isFar(at, coming)) at = coming.end
      else at = this.fetchNow(at, Math.max(to, at - (at % alignment) + ahead), priority)
    }
  }

  /** True if a byte that is read now comes too late by that request. */
  private isFar(offset: number, coming: InFlightRange): boolean {
    return offset - coming.position > nearBytes && this.jumps && this.user.known !== undefined
  }

  /** Asks for what stands here at once; where the stretch ends. */
  private fetchNow(offset: number, to: number, priority: Priority): number {
    const aligned = offset - (offset % alignment)
    const coming = this.bringing(offset)
    if (coming !== undefined) coming.end = Math.max(coming.position, aligned)
    let from = aligned
    for (let end = this.claimed(from); end > from && end <= offset; end = this.claimed(from)) from = end
    if (this.barrier(from) <= offset) from = offset
    const end = Math.min(this.barrier(from), to)
    this.start(from, end, priority)
    return end
  }

  /** Where the bytes that are there or on their way from here on end. */
  private claimed(offset: number): number {
    for (let end = offset; ; ) {
      const next = Math.max(this.user.buffer.arrived.reach(end), this.bringing(end)?.end ?? 0)
      if (next <= end || next >= this.total) return Math.max(end, next)
      end = next
    }
  }

  /** The first byte behind this one that is there or on its way, or the end of the content. */
  private barrier(offset: number): number {
    const hole = this.user.buffer.arrived.firstGap(offset, this.total)
    let next = hole?.end ?? this.total
    for (const one of this.inFlight) if (one.position > offset) next = Math.min(next, one.position)
    return next
  }
}
