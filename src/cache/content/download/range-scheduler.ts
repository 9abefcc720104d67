// Range scheduler: the requests that bring the bytes of one content; one for all where it is small, else ranges ahead of its readers.
import { Failure } from '../../../failure.js'
import {
  type Body,
  type ByteOffset,
  byteOffset,
  type ContentVersion,
  type Instant,
  type RequestContext,
} from '../../../remote/remote.js'
import { OtherLength } from '../versions/contradiction.js'
import type { ChunkBuffer } from './chunk-buffer.js'
import { headBytes, openHeadLook, wholeAtMost } from './head-look.js'
import { type InFlightRange, inFlightRange, inFlightRanges } from './in-flight-ranges.js'
import { openReadaheadWindow } from './readahead-window.js'
import { readResumably } from './resumable-body.js'

/** How urgent what a reader or prefetch wants is. */
export type Priority = RequestContext['priority']

/** Whether the service honours Range: it is tried, and what it answered several times in a row holds for this process. */
export interface RangeSupport {
  readonly possible: boolean
  /** An answer that was no part where one was asked for. */
  refuse(): void
  honour(): void
}

/** What is known of a body before its bytes come. */
export interface BodyFacts {
  readonly length: number | undefined
  readonly ends: Body['ends']
  readonly isPart: boolean
}

export interface RangeSchedulerPorts {
  /** `of` is the version a part must belong to. */
  readonly fetch: (
    span: { start: ByteOffset; end: ByteOffset | undefined },
    priority: Priority,
    of: ContentVersion | undefined,
  ) => Promise<Body>
  readonly buffer: ChunkBuffer
  readonly ranges: RangeSupport
  /** Whether parts of this content may be asked for at all. */
  readonly mayJump: () => boolean
  readonly now: () => Instant
  /** The whole length in bytes, as far as it is known. */
  readonly length: () => number | undefined
  /** The version of what has come before. */
  readonly version: () => ContentVersion | undefined
  /** An answer comes; throws if it is of another version. */
  readonly arriving: (body: Pick<Body, 'version' | 'length'>) => void
  /** A body comes; throws if it contradicts what is known. */
  readonly bodyStarted: (body: BodyFacts) => void
  /** A body that did not say its length has ended; throws if that contradicts what is known. */
  readonly counted: (bytes: number) => void
  /** A piece has arrived; throws if no more is wanted. */
  readonly received: () => void
  /** Every byte has arrived. */
  readonly complete: (bytes: number) => void
  /** A request failed for good. */
  readonly failed: (reason: unknown) => void
}

export interface RangeScheduler {
  readonly busy: boolean
  /** When the last piece came. */
  readonly movedAt: Instant
  /** Asks for bytes that are read now, and for what is likely to follow. */
  want(span: { readonly start: number; readonly end: number }, priority: Priority): void
  fetchAll(priority: Priority): void
  /** A request brings this byte. */
  covers(offset: number): boolean
  /** One body from the beginning once more, for comparing. */
  again(take: (body: Body) => Promise<void>): Promise<void>
  /** A piece came that no segment takes. */
  moved(): void
  /** Ends all requests, each with this reason. */
  pause(reason: Failure): void
  /** Ends all requests without a word. */
  stop(): void
}

/** What is shorter, or lacks less, is worth finishing although no reader waits. */
export const bigBytes = 8 << 20
/** A gap up to this arrives soon; beyond it, a stretch is asked for by itself. */
const nearBytes = 4 << 20
const alignment = 128 << 10
/** Nothing a calculation holds is near this (the platform takes 1 GB); an endless body must end somewhere. */
const largestBytes = 64 * 2 ** 30
const atOnceAtMost = 3
/** A reader of an eighth of this in one go is taken to read on. */
const sequentialAhead = 1 << 20

export function openRangeScheduler(ports: RangeSchedulerPorts): RangeScheduler {
  const { buffer, ranges, now } = ports
  const { arrived } = buffer
  const readahead = openReadaheadWindow()
  const head = openHeadLook()
  const total = () => ports.length() ?? largestBytes
  const segments = new Set<InFlightRange>()
  const { bringing, claimed, barrier } = inFlightRanges(segments, arrived, total)
  let movedAt = now()
  let allWanted = false
  let stopped = false
  let refusedHere = false

  const jumps = () => ports.mayJump() && ranges.possible && !refusedHere

  function wantsAll(): boolean {
    const length = ports.length()
    if (allWanted || length === undefined || !jumps()) return true
    return head.isHeadOnly ? length <= wholeAtMost : length - arrived.bytes <= bigBytes
  }

  function start(from: number, to: number, priority: Priority): void {
    if (stopped || to <= from) return
    const range = inFlightRange(from, to, priority)
    segments.add(range)
    const aborted = new Promise<never>((_, reject) => {
      range.abort = reject
    })
    Promise.race([run(range), aborted]).then(
      () => goOn(range),
      (reason: unknown) => {
        segments.delete(range)
        // What was refused before its first piece was taken holds a connection until it is let go.
        range.body?.cancel()
        if (!stopped) ports.failed(reason)
      },
    )
  }

  function goOn(range: InFlightRange): void {
    segments.delete(range)
    if (stopped) return
    const length = ports.length()
    if (length !== undefined && arrived.bytes >= length) {
      if (segments.size === 0) ports.complete(length)
    } else if (wantsAll()) startNext(range.priority)
  }

  /** The first bytes that no request brings yet. */
  function startNext(priority: Priority): void {
    for (let from = 0; from < total(); ) {
      const end = claimed(from)
      if (end === from) start(from, barrier(from), priority)
      if (end === from) return
      from = end
    }
  }

  async function begin(range: InFlightRange, from: ByteOffset): Promise<Body> {
    const isOpen = range.end >= total()
    const body = await ports.fetch(
      { start: from, end: isOpen ? undefined : byteOffset(range.end) },
      range.priority,
      ports.version(),
    )
    movedAt = now()
    range.body = body
    if (stopped || range.stopped !== undefined) body.cancel()
    if (range.stopped !== undefined) throw range.stopped
    return body
  }

  /** Its bytes stand beside those that came before. */
  async function beginNext(range: InFlightRange, from: ByteOffset): Promise<Body> {
    const body = await begin(range, from)
    ports.arriving(body)
    return body
  }

  async function run(range: InFlightRange): Promise<void> {
    const from = byteOffset(range.position)
    const asked = range.end
    const body = await beginNext(range, from)
    if (stopped) return
    const isPart = asked < total() || from > 0
    const isUnasked = asked < total() && from === 0 && body.end === undefined
    if (body.start !== from || isUnasked) return adopt(range, body)
    if (from > 0) ranges.honour()
    ports.bodyStarted(bodyFacts(body, isPart))
    range.end = Math.min(range.end, total())
    await take(range, body)
  }

  /** The service honours no Range: what it sends is the whole, from the beginning. */
  async function adopt(range: InFlightRange, body: Body): Promise<void> {
    if (body.start !== 0) throw new Failure('broken', `the body begins at byte ${body.start}`)
    ranges.refuse()
    refusedHere = true
    for (const other of segments) {
      // What comes from the beginning goes on to the end.
      if (other === range || other.from !== 0 || other.body === undefined) continue
      other.end = total()
      body.cancel()
      return
    }
    range.from = 0
    range.position = 0
    ports.bodyStarted(bodyFacts(body, false))
    range.end = total()
    await take(range, body)
  }

  async function take(range: InFlightRange, body: Body): Promise<void> {
    const writer = buffer.writer(range.position, () => (range.end === largestBytes ? undefined : range.end))
    try {
      await readResumably(body, {
        begin: from => beginNext(range, from),
        position: () => range.position,
        take: piece => {
          if (range.stopped !== undefined) throw range.stopped
          if (stopped) return false
          movedAt = now()
          const waiting = writer.put(within(range, piece))
          ports.received()
          const more = range.position < range.end || range.end >= total()
          return waiting === undefined ? more : waiting.then(() => more)
        },
      })
      if (range.stopped !== undefined) throw range.stopped
      if (!stopped) ended(range)
    } finally {
      if (ports.length() === undefined || arrived.bytes < total()) writer.close()
    }
  }

  /** The part of a piece that is wanted; a content that is longer than it should be is no good. */
  function within(range: InFlightRange, piece: Uint8Array): Uint8Array {
    const end = range.position + piece.length
    if (end > total()) throw new OtherLength(total(), undefined)
    const part = end > range.end ? piece.subarray(0, range.end - range.position) : piece
    range.position += part.length
    return part
  }

  function ended(range: InFlightRange): void {
    if (ports.length() === undefined) {
      range.end = range.position
      ports.counted(range.position)
      return
    }
    // Its length may have been told after it began.
    range.end = Math.min(range.end, total())
    if (range.position < range.end) {
      if (range.end === total()) throw new OtherLength(total(), range.position)
      const due = `${range.position} of ${range.end}`
      throw new Failure('broken', `a part of a file ended after ${due} bytes`)
    }
  }

  /** Whether a byte that is read now comes too late by that segment. */
  const isFar = (offset: number, coming: InFlightRange): boolean =>
    offset - coming.position > nearBytes && jumps() && ports.length() !== undefined

  /** Asks for what stands here at once; where the stretch ends. */
  function fetchNow(offset: number, to: number, priority: Priority): number {
    const aligned = offset - (offset % alignment)
    const coming = bringing(offset)
    if (coming !== undefined) coming.end = Math.max(coming.position, aligned)
    let from = aligned
    for (let end = claimed(from); end > from && end <= offset; end = claimed(from)) from = end
    if (barrier(from) <= offset) from = offset
    const end = Math.min(barrier(from), to)
    start(from, end, priority)
    return end
  }

  /** What stands between the two and neither is there nor comes soon. */
  function fetchMissing(
    from: number,
    to: number,
    { ahead, lane: priority }: { ahead: number; lane: Priority },
  ): void {
    for (let at = from; at < to; ) {
      const there = arrived.reach(at)
      const coming = there > at ? undefined : bringing(at)
      if (there > at) at = there
      else if (coming !== undefined && !isFar(at, coming)) at = coming.end
      else at = fetchNow(at, Math.max(to, at - (at % alignment) + ahead), priority)
    }
  }

  return {
    get busy() {
      return segments.size > 0
    },
    get movedAt() {
      return movedAt
    },
    want({ start: from, end }, priority) {
      if (stopped) return
      const to = Math.min(end, total())
      head.note(from, to)
      const likely = readahead.ahead(from, to)
      const ahead = head.isHeadOnly ? Math.min(likely, headBytes) : likely
      if (wantsAll() && segments.size === 0 && arrived.bytes < total()) startNext(priority)
      fetchMissing(from, to, { ahead, lane: priority })
      if (wantsAll() || segments.size >= atOnceAtMost || ahead < sequentialAhead) return
      const next = claimed(to)
      if (next < total() && next - to < ahead / 2) start(next, Math.min(barrier(next), to + ahead), priority)
    },
    fetchAll(priority) {
      allWanted = true
      if (segments.size === 0 && arrived.bytes < total()) startNext(priority)
    },
    moved() {
      movedAt = now()
    },
    covers: offset => bringing(offset) !== undefined,
    async again(take) {
      const range = inFlightRange(total(), total(), 'user')
      segments.add(range)
      try {
        await take(await begin(range, byteOffset(0)))
      } finally {
        segments.delete(range)
      }
    },
    pause(reason) {
      for (const range of segments) {
        range.stopped = reason
        range.body?.cancel()
        range.abort(reason)
      }
    },
    stop() {
      stopped = true
      for (const range of segments) range.body?.cancel()
    },
  }
}

const bodyFacts = (body: Body, isPart: boolean): BodyFacts => ({
  length: body.length,
  ends: isPart ? 'proven' : body.ends,
  isPart,
})
