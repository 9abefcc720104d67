// Which requests bring the bytes of one content: one for all where it is small, else parts ahead of its readers.
import { Failure } from '../../../failure.js'
import {
  type Ask,
  type Body,
  type ByteOffset,
  byteOffset,
  type ContentVersion,
  type Instant,
} from '../../../remote/remote.js'
import { OtherLength } from '../versions/contradiction.js'
import type { Sparse } from './chunk-buffer.js'
import { claimsOf, type Segment, segmentOf } from './in-flight-ranges.js'
import { openRuns } from './readahead-window.js'
import { takeToEnd } from './resumable-body.js'

type Lane = Ask['lane']

/** Whether the service honours Range: it is tried, and what it answered several times in a row holds for this process. */
export interface Ranges {
  readonly possible: boolean
  /** An answer that was no part where one was asked for. */
  refuse(): void
  honour(): void
}

/** What is known of a body before its bytes come. */
export interface Begun {
  readonly length: number | undefined
  readonly proven: boolean
  readonly isPart: boolean
  readonly wasPacked: boolean
}

export interface SegmentsPorts {
  /** `of` is the version a part must belong to. */
  readonly fetch: (
    span: { start: ByteOffset; end: ByteOffset | undefined },
    lane: Lane,
    of: ContentVersion | undefined,
  ) => Promise<Body>
  readonly sparse: Sparse
  readonly ranges: Ranges
  /** Whether parts of this content may be asked for at all. */
  readonly mayJump: boolean
  readonly now: () => Instant
  /** The whole length in bytes, as far as it is known. */
  readonly length: () => number | undefined
  /** The version of what has come before. */
  readonly version: () => ContentVersion | undefined
  /** An answer comes; throws if it is of another version. */
  readonly arriving: (version: ContentVersion | undefined) => void
  /** A body comes; throws if it contradicts what is known. */
  readonly begun: (body: Begun) => void
  /** A piece has arrived; throws if no more is wanted. */
  readonly took: () => void
  /** Every byte has arrived. */
  readonly complete: (bytes: number) => void
  /** A request failed for good. */
  readonly failed: (reason: unknown) => void
}

export interface Segments {
  readonly busy: boolean
  /** When the last piece came. */
  readonly movedAt: Instant
  /** Asks for bytes that somebody reads now, and for what is likely to follow. */
  want(span: { readonly start: number; readonly end: number }, lane: Lane): void
  fetchAll(lane: Lane): void
  /** Somebody is bringing this byte. */
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

/** What is shorter, or lacks less, is worth finishing although nobody waits. */
export const bigBytes = 8 << 20
/** A gap up to this arrives soon; beyond it, a stretch is asked for by itself. */
const nearBytes = 4 << 20
const alignment = 128 << 10
/** Nothing a calculation holds is near this (the platform takes 1 GB); an endless body must end somewhere. */
const largestBytes = 64 * 2 ** 30
const atOnceAtMost = 3
/** Who has read an eighth of this in one go is taken to read on. */
const sequentialAhead = 1 << 20

export function openSegments(ports: SegmentsPorts): Segments {
  const { sparse, ranges, now } = ports
  const { arrived } = sparse
  const runs = openRuns()
  const total = () => ports.length() ?? largestBytes
  const segments = new Set<Segment>()
  const { bringing, claimed, barrier } = claimsOf(segments, arrived, total)
  let movedAt = now()
  let allWanted = false
  let stopped = false
  let refusedHere = false

  const jumps = () => ports.mayJump && ranges.possible && !refusedHere

  function wantsAll(): boolean {
    const length = ports.length()
    return allWanted || length === undefined || !jumps() || length - arrived.bytes <= bigBytes
  }

  function start(from: number, to: number, lane: Lane): void {
    if (stopped || to <= from) return
    const segment = segmentOf(from, to, lane)
    segments.add(segment)
    const aborted = new Promise<never>((_, reject) => {
      segment.abort = reject
    })
    Promise.race([run(segment), aborted]).then(
      () => goOn(segment),
      (reason: unknown) => {
        segments.delete(segment)
        // What was refused before its first piece was taken holds a connection until it is let go.
        segment.body?.cancel()
        if (!stopped) ports.failed(reason)
      },
    )
  }

  function goOn(segment: Segment): void {
    segments.delete(segment)
    if (stopped) return
    const length = ports.length()
    if (length !== undefined && arrived.bytes >= length) {
      if (segments.size === 0) ports.complete(length)
    } else if (wantsAll()) startNext(segment.lane)
  }

  /** The first bytes that nobody is bringing yet. */
  function startNext(lane: Lane): void {
    for (let from = 0; from < total(); ) {
      const end = claimed(from)
      if (end === from) start(from, barrier(from), lane)
      if (end === from) return
      from = end
    }
  }

  async function begin(segment: Segment, from: ByteOffset): Promise<Body> {
    const isOpen = segment.end >= total()
    const body = await ports.fetch(
      { start: from, end: isOpen ? undefined : byteOffset(segment.end) },
      segment.lane,
      ports.version(),
    )
    movedAt = now()
    segment.body = body
    if (stopped || segment.stopped !== undefined) body.cancel()
    if (segment.stopped !== undefined) throw segment.stopped
    ports.arriving(body.version)
    return body
  }

  async function run(segment: Segment): Promise<void> {
    const from = byteOffset(segment.position)
    const asked = segment.end
    const body = await begin(segment, from)
    if (stopped) return
    const isPart = asked < total() || from > 0
    const isUnasked = asked < total() && from === 0 && body.end === undefined
    if (body.start !== from || isUnasked) return adopt(segment, body)
    if (from > 0) ranges.honour()
    ports.begun(begunOf(body, isPart))
    segment.end = Math.min(segment.end, total())
    await take(segment, body)
  }

  /** The service honours no Range: what it sends is the whole, from the beginning. */
  async function adopt(segment: Segment, body: Body): Promise<void> {
    if (body.start !== 0) throw new Failure('broken', `the body begins at byte ${body.start}`)
    ranges.refuse()
    refusedHere = true
    for (const other of segments) {
      // What comes from the beginning goes on to the end.
      if (other === segment || other.from !== 0 || other.body === undefined) continue
      other.end = total()
      body.cancel()
      return
    }
    segment.from = 0
    segment.position = 0
    ports.begun(begunOf(body, false))
    segment.end = total()
    await take(segment, body)
  }

  async function take(segment: Segment, body: Body): Promise<void> {
    const pen = sparse.pen(segment.position, () => (segment.end === largestBytes ? undefined : segment.end))
    try {
      await takeToEnd(body, {
        begin: from => begin(segment, from),
        position: () => segment.position,
        take: piece => {
          if (segment.stopped !== undefined) throw segment.stopped
          if (stopped) return false
          movedAt = now()
          const waiting = pen.put(within(segment, piece))
          ports.took()
          const more = segment.position < segment.end || segment.end >= total()
          return waiting === undefined ? more : waiting.then(() => more)
        },
      })
      if (segment.stopped !== undefined) throw segment.stopped
      if (!stopped) ended(segment)
    } finally {
      if (ports.length() === undefined || arrived.bytes < total()) pen.lift()
    }
  }

  /** The part of a piece that is wanted; a content that is longer than it should be is no good. */
  function within(segment: Segment, piece: Uint8Array): Uint8Array {
    const end = segment.position + piece.length
    if (end > total()) throw new OtherLength(total(), undefined)
    const part = end > segment.end ? piece.subarray(0, segment.end - segment.position) : piece
    segment.position += part.length
    return part
  }

  function ended(segment: Segment): void {
    if (ports.length() === undefined) {
      segment.end = segment.position
      ports.begun({ length: segment.position, proven: true, isPart: true, wasPacked: false })
    } else if (segment.position < segment.end) {
      if (segment.end === total()) throw new OtherLength(total(), segment.position)
      const due = `${segment.position} of ${segment.end}`
      throw new Failure('broken', `a part of a file ended after ${due} bytes`)
    }
  }

  /** Whether a byte that somebody reads now comes too late by that segment. */
  const isFar = (offset: number, coming: Segment): boolean =>
    offset - coming.position > nearBytes && jumps() && ports.length() !== undefined

  /** Asks for what stands here at once; where the stretch ends. */
  function fetchNow(offset: number, to: number, lane: Lane): number {
    const aligned = offset - (offset % alignment)
    const coming = bringing(offset)
    if (coming !== undefined) coming.end = Math.max(coming.position, aligned)
    let from = aligned
    for (let end = claimed(from); end > from && end <= offset; end = claimed(from)) from = end
    if (barrier(from) <= offset) from = offset
    const end = Math.min(barrier(from), to)
    start(from, end, lane)
    return end
  }

  /** What stands between the two and neither is there nor comes soon. */
  function fetchMissing(from: number, to: number, { ahead, lane }: { ahead: number; lane: Lane }): void {
    for (let at = from; at < to; ) {
      const there = arrived.reach(at)
      const coming = there > at ? undefined : bringing(at)
      if (there > at) at = there
      else if (coming !== undefined && !isFar(at, coming)) at = coming.end
      else at = fetchNow(at, Math.max(to, at - (at % alignment) + ahead), lane)
    }
  }

  return {
    get busy() {
      return segments.size > 0
    },
    get movedAt() {
      return movedAt
    },
    want({ start: from, end }, lane) {
      if (stopped) return
      const to = Math.min(end, total())
      const ahead = runs.ahead(from, to)
      if (wantsAll() && segments.size === 0 && arrived.bytes < total()) startNext(lane)
      fetchMissing(from, to, { ahead, lane })
      if (wantsAll() || segments.size >= atOnceAtMost || ahead < sequentialAhead) return
      const next = claimed(to)
      if (next < total() && next - to < ahead / 2) start(next, Math.min(barrier(next), to + ahead), lane)
    },
    fetchAll(lane) {
      allWanted = true
      if (segments.size === 0 && arrived.bytes < total()) startNext(lane)
    },
    moved() {
      movedAt = now()
    },
    covers: offset => bringing(offset) !== undefined,
    async again(take) {
      const segment = segmentOf(total(), total(), 'user')
      segments.add(segment)
      try {
        await take(await begin(segment, byteOffset(0)))
      } finally {
        segments.delete(segment)
      }
    },
    pause(reason) {
      for (const segment of segments) {
        segment.stopped = reason
        segment.body?.cancel()
        segment.abort(reason)
      }
    },
    stop() {
      stopped = true
      for (const segment of segments) segment.body?.cancel()
    },
  }
}

const begunOf = (body: Body, isPart: boolean): Begun => ({
  length: body.length,
  proven: isPart || body.ends === 'proven',
  isPart,
  wasPacked: body.wasPacked === true,
})
