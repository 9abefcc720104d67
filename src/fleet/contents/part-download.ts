// Part download: a body of the service on its way to a reader; each whole part of it is put into the fleet.
import { noop } from '../../noop.js'
import type { Clock } from '../../remote/clock.js'
import type { Body } from '../../remote/remote.js'
import { dueFrom } from './content-part.js'
import type { PartLease } from './part-lease.js'

export interface PartDownload {
  /** Where the next piece belongs. */
  readonly position: number
  /** Undefined at the end of the body, and where another daemon has the next part. */
  next(): Promise<Uint8Array | undefined>
  /** The reader wants no more: a part that was begun is finished for the others. Safe at any time. */
  leave(): void
  /** At once. */
  stop(): void
}

export interface PartDownloadPorts {
  readonly body: Body
  readonly clock: Clock
  /** Of the part that the body begins with; undefined where it is not to be shared. */
  readonly lease: PartLease | undefined
  readonly seal: (base: number, bytes: Buffer) => Buffer
  /** The lease of the part that begins there; 'elsewhere' where another daemon has it, undefined where the fleet is passed by. */
  readonly follow: (base: number) => Promise<PartLease | 'elsewhere' | undefined>
}

/** Milliseconds for which a part is finished that no reader here waits for. */
const finishMs = 2_000

export function openPartDownload(ports: PartDownloadPorts): PartDownload {
  const { body, clock, seal, follow } = ports
  const length = body.length ?? 0
  const bodyEnd = body.end ?? length
  const pieces = body.bytes[Symbol.asyncIterator]()
  let lease = ports.lease
  let position: number = body.start
  let base = position
  /** Bytes of the part, and how many of them have come. */
  let due = lease === undefined ? 0 : dueFrom(base, length)
  let filled = 0
  /** What has come of a part that comes in several pieces. */
  let part: Buffer | undefined
  /** The whole part, ready for the others once the body goes on or ends well. A piece is its reader's as soon as it is given. */
  let sealed: Buffer | undefined
  let isPulling = false
  let isLeft = false
  let isElsewhere = false

  function giveUp(): void {
    lease?.release()
    lease = undefined
  }

  function put(): void {
    // A content of no bytes has come without a piece.
    lease?.put(sealed ?? seal(base, Buffer.alloc(0)))
    lease = undefined
    sealed = undefined
  }

  /** The part is whole, and another one follows. */
  async function turn(): Promise<void> {
    const goesOn = position < bodyEnd && !isLeft
    // Asked for before the others hear that this one is there.
    const following = goesOn ? follow(position) : undefined
    put()
    const next = await following
    if (next === 'elsewhere') {
      isElsewhere = true
      body.cancel()
      return
    }
    if (isLeft) return next?.release()
    lease = next
    base = position
    filled = 0
    due = dueFrom(base, length)
  }

  /** A piece that is a whole part is not copied. */
  function gather(piece: Uint8Array): void {
    if (piece.length === due) sealed = seal(base, Buffer.from(piece.buffer, piece.byteOffset, piece.length))
    else {
      if (part?.length !== due) part = Buffer.allocUnsafe(due)
      part.set(piece, filled)
      if (filled + piece.length === due) sealed = seal(base, part)
    }
    filled += piece.length
    position += piece.length
  }

  async function collected(piece: Uint8Array): Promise<Uint8Array> {
    let from = 0
    while (lease !== undefined && from < piece.length) {
      lease.moved()
      const room = Math.min(piece.length - from, due - filled)
      // The body is longer than it said.
      if (room === 0) giveUp()
      else gather(piece.subarray(from, from + room))
      from += room
      if (filled === due && position < length) await turn()
      if (isElsewhere) return piece.subarray(0, from)
    }
    position += piece.length - from
    return piece
  }

  async function pulled(): Promise<Uint8Array | undefined> {
    const { done, value } = await pieces.next()
    if (done !== true) return collected(value)
    // That nothing follows is known only now.
    if (filled === due && position === length) put()
    giveUp()
    return undefined
  }

  async function next(): Promise<Uint8Array | undefined> {
    if (isElsewhere) return undefined
    isPulling = true
    try {
      return await pulled()
    } catch (thrown) {
      giveUp()
      throw thrown
    } finally {
      isPulling = false
    }
  }

  function stop(): void {
    isLeft = true
    giveUp()
    body.cancel()
  }

  async function finish(): Promise<void> {
    const callOff = clock.after(finishMs, stop, 'in-background')
    try {
      while (lease !== undefined) await next()
    } finally {
      callOff()
      stop()
    }
  }

  return {
    get position() {
      return position
    },
    next,
    leave() {
      if (isLeft) return
      if (isPulling || lease === undefined || filled === 0) return stop()
      isLeft = true
      finish().catch(noop)
    },
    stop,
  }
}

/** A body that is shared with no other daemon. */
export const unsharedDownload = (body: Body, clock: Clock): PartDownload =>
  openPartDownload({
    body,
    clock,
    lease: undefined,
    seal: (_, bytes) => bytes,
    follow: async () => undefined,
  })
