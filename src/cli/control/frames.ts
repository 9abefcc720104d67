// Frames of an answer on the control socket: bytes and JSON texts one after the other, signs of life between them, and an end.

import type { ServerResponse } from 'node:http'
import { asFailure, Failure } from '../../failure.js'
import { failureParts } from './protocol.js'

/** `life` says that the daemon is at work; `end` and `failure` are the last frame. Lengths are in bytes. */
const codes = { life: 0, text: 1, bytes: 2, end: 3, failure: 4 } as const
export type FrameKind = keyof typeof codes

export interface Frame {
  readonly kind: FrameKind
  readonly payload: Buffer
}

/** Milliseconds between two signs of life. */
const signOfLifeEvery = 1000

const kinds = new Map<number, FrameKind>(
  Object.entries(codes).map(([kind, code]) => [code, kind as FrameKind]),
)

/** A code, and the length of what follows. */
const headBytes = 5
/** A longer frame is none of ours. */
const longest = 64 << 20

/** What stands before the payload. */
function frameHead(kind: FrameKind, length: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(codes[kind], 0)
  head.writeUInt32BE(length, 1)
  return head
}

/** Takes a stream apart. `take` is to be called with each piece as it arrives. */
export class FrameReader {
  /** What has arrived of a frame, its bytes, and how many of them are worth a look. */
  #held: Buffer[] = []
  #heldBytes = 0
  #wanted = headBytes

  /** @throws Failure 'broken' */
  take(piece: Buffer): readonly Frame[] {
    this.#held.push(piece)
    this.#heldBytes += piece.length
    if (this.#heldBytes < this.#wanted) return []
    const frames: Frame[] = []
    let rest = Buffer.concat(this.#held)
    for (;;) {
      const head = headIn(rest)
      const end = headBytes + (head?.length ?? 0)
      this.#wanted = end
      if (head === undefined || rest.length < end) break
      frames.push({ kind: head.kind, payload: rest.subarray(headBytes, end) })
      rest = rest.subarray(end)
    }
    this.#held = [rest]
    this.#heldBytes = rest.length
    return frames
  }
}

/** Undefined where it has not arrived. @throws Failure 'broken' */
function headIn(bytes: Buffer): { readonly kind: FrameKind; readonly length: number } | undefined {
  if (bytes.length < headBytes) return undefined
  const kind = kinds.get(bytes.readUInt8(0))
  const length = bytes.readUInt32BE(1)
  if (kind !== undefined && length <= longest) return { kind, length }
  throw new Failure('broken', 'the drive answered in another way than this version of calcfs expects')
}

/** Resolves once the bytes may be used for other things. @throws Failure 'unreachable' where the caller has gone */
export type SendFrame = (kind: FrameKind, payload: Uint8Array) => Promise<void>

/**
 * Never rejects.
 * @param work sends frames, and answers the text of the last one; its signal is aborted where the caller has gone
 */
export async function replyInFrames(
  reply: ServerResponse,
  work: (send: SendFrame, left: AbortSignal) => Promise<string>,
): Promise<void> {
  const left = new AbortController()
  reply.once('close', () => reply.writableFinished || left.abort())
  reply.writeHead(200, { 'content-type': 'application/octet-stream' })
  const alive = setInterval(() => {
    // A caller that is busy with what it has needs no sign.
    if (!reply.writableNeedDrain) reply.write(frameHead('life', 0))
  }, signOfLifeEvery)
  const last = (kind: FrameKind, text: string): unknown =>
    reply.end(Buffer.concat([frameHead(kind, Buffer.byteLength(text)), Buffer.from(text)]))
  try {
    last('end', await work((kind, payload) => sent(reply, kind, payload), left.signal))
  } catch (thrown) {
    last('failure', JSON.stringify(failureParts(asFailure(thrown))))
  } finally {
    clearInterval(alive)
  }
}

function sent(reply: ServerResponse, kind: FrameKind, payload: Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    if (reply.destroyed) return failed(new Failure('unreachable', 'the command has ended'))
    reply.cork()
    reply.write(frameHead(kind, payload.length))
    reply.write(payload, error => (error ? failed(error) : done()))
    reply.uncork()
  })
}
