// Uncached stream, for a full disk: one running body, of which a short window stays in memory.
import { Failure } from '../../../failure.js'
import { type Body, type ByteOffset, byteOffset, type ContentVersion } from '../../../remote/remote.js'
import { OtherLength, OtherVersion } from '../versions/contradiction.js'
import { fingerprintOf, isOther, type VersionFingerprint } from '../versions/versions.js'

export interface UncachedStreamPorts {
  /** `of` is the version a part must belong to. */
  readonly fetch: (start: ByteOffset, of: ContentVersion | undefined) => Promise<Body>
  /** The version whose bytes readers had before. */
  readonly versionBefore: () => VersionFingerprint | undefined
  /** What the service said the length is, outside of these bodies. */
  readonly told: () => number | undefined
  /** Bytes of this version are given to readers from now on; undefined where no validator comes with them. */
  readonly met: (version: VersionFingerprint | undefined) => void
}

/** Rejects with a Failure, or with a `Contradiction` where a body is of another version or length than what came before. */
export interface UncachedStream {
  /** Fills `into` from `offset` up to the end of the content; one read at a time, in the order of the calls. */
  read(offset: number, into: Uint8Array): Promise<number>
  close(): void
}

/** What stays behind the newest byte: enough for the kernel's read-ahead to arrive out of order. */
const behindBytes = 4 << 20
/** A gap up to this is passed over; a longer one is worth a request of its own. */
const skipBytes = 4 << 20

interface StreamWindow {
  readonly body: Body
  readonly pieces: AsyncIterator<Uint8Array>
  /** The pieces in memory, from `start` on without gaps to `end`. */
  readonly held: Uint8Array[]
  start: number
  end: number
  done: boolean
}

/** Begins with the first read. Bodies whose end proves nothing are refused: nothing here could compare them. */
export function openUncachedStream(ports: UncachedStreamPorts): UncachedStream {
  let stream: StreamWindow | undefined
  let version: ContentVersion | undefined
  let length: number | undefined
  let before: Promise<unknown> = Promise.resolve()
  let ranges: 'unknown' | 'refused' = 'unknown'

  async function streamFor(offset: number): Promise<StreamWindow> {
    const far = ranges === 'unknown' && stream !== undefined && offset > stream.end + skipBytes
    if (stream !== undefined && offset >= stream.start && !far) return stream
    close()
    const start = byteOffset(ranges === 'refused' ? 0 : offset)
    const body = await ports.fetch(start, version)
    try {
      compare(body, offset)
    } catch (error) {
      body.cancel()
      throw error
    }
    if (body.start < offset) ranges = 'refused'
    stream = {
      body,
      pieces: body.bytes[Symbol.asyncIterator](),
      held: [],
      start: body.start,
      end: body.start,
      done: false,
    }
    return stream
  }

  /** One body after another: all that is given must be of one version, of the length that was told. */
  function compare(body: Body, offset: number): void {
    if (body.ends !== 'proven' || body.start > offset) throw unproven()
    const arrived = fingerprintOf(body.version)
    const before = fingerprintOf(version) ?? ports.versionBefore()
    const told = ports.told() ?? length
    if (isOther(before, arrived)) throw new OtherVersion(body.length === undefined || body.length === told)
    if (told !== undefined && body.length !== undefined && told !== body.length)
      throw new OtherLength(told, body.length)
    version ??= body.version
    length ??= body.length
    ports.met(arrived)
  }

  async function readNext(offset: number, into: Uint8Array): Promise<number> {
    try {
      const from = await streamFor(offset)
      while (!from.done && from.end < offset + into.length) await pull(from, offset)
      const told = ports.told()
      if (told !== undefined && from.end > told) throw new OtherLength(told, undefined)
      return copyFromWindow(from, offset, into)
    } catch (error) {
      close()
      throw error
    }
  }

  function close(): void {
    stream?.body.cancel()
    stream = undefined
  }

  return {
    read(offset, into) {
      const next = before.then(() => readNext(offset, into))
      before = next.catch(() => undefined)
      return next
    },
    close,
  }
}

async function pull(from: StreamWindow, needed: number): Promise<void> {
  const next = await from.pieces.next()
  if (next.done === true) {
    from.done = true
    return
  }
  from.held.push(next.value)
  from.end += next.value.length
  const keepFrom = Math.min(needed, from.end - behindBytes)
  for (let first = from.held[0]; first !== undefined; first = from.held[0]) {
    if (from.start + first.length > keepFrom) return
    from.start += first.length
    from.held.shift()
  }
}

function copyFromWindow(from: StreamWindow, offset: number, into: Uint8Array): number {
  let filled = 0
  let position = from.start
  for (const piece of from.held) {
    const skip = offset + filled - position
    position += piece.length
    if (skip >= piece.length) continue
    const part = piece.subarray(skip, skip + into.length - filled)
    into.set(part, filled)
    filled += part.length
    if (filled === into.length) break
  }
  return filled
}

/** Counts a body to its end without keeping it. */
export async function countBytes(body: Body): Promise<number> {
  let bytes = 0
  if (body.ends !== 'proven') {
    body.cancel()
    throw unproven()
  }
  for await (const piece of body.bytes) bytes += piece.length
  return bytes
}

const unproven = (): Failure =>
  new Failure(
    'broken',
    'the service sends a body whose end proves nothing, and the cache has no room to compare',
  )
