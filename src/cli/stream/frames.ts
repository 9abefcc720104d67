// Frames of an answer on the control socket: bytes and JSON texts one after the other, signs of life between them, and an end.

import type { ServerResponse } from 'node:http'
import { asFailure, Failure } from '../../failure.js'
import { failureParts, signOfLifeEvery } from './conversation.js'

/** `life` says that the daemon is at work; `end` and `failure` are the last frame. Lengths are in bytes. */
const codes = { life: 0, text: 1, bytes: 2, end: 3, failure: 4 } as const
export type FrameKind = keyof typeof codes

export interface Frame {
  readonly kind: FrameKind
  /** Of `bytes` perhaps a part: the next frame goes on. */
  readonly payload: Buffer
}

const kinds = new Map<number, FrameKind>(
  Object.entries(codes).map(([kind, code]) => [code, kind as FrameKind]),
)

/** A code, and the length of what follows. */
const headBytes = 5
/** A longer text is none of ours. */
const longestText = 64 << 20

/** What stands before the payload. */
function frameHead(kind: FrameKind, length: number): Buffer {
  const head = Buffer.alloc(headBytes)
  head.writeUInt8(codes[kind], 0)
  head.writeUInt32BE(length, 1)
  return head
}

/** Takes a stream apart. `take` is to be called with each piece as it arrives; bytes of a file are passed on at once. */
export function openFrameReader(): { take(piece: Buffer): readonly Frame[] } {
  /** What has arrived of a head, or of a text. */
  let gathered: Buffer[] = []
  let gatheredBytes = 0
  let open: { readonly kind: FrameKind; missing: number } | undefined

  function gather(piece: Buffer): void {
    gathered.push(piece)
    gatheredBytes += piece.length
  }

  function all(): Buffer {
    const whole = gathered.length === 1 ? (gathered[0] ?? Buffer.alloc(0)) : Buffer.concat(gathered)
    gathered = []
    gatheredBytes = 0
    return whole
  }

  function begin(head: Buffer): void {
    const kind = kinds.get(head.readUInt8(0))
    const missing = head.readUInt32BE(1)
    if (kind === undefined || (kind !== 'bytes' && missing > longestText))
      throw new Failure('broken', 'the drive answered in another way than this version of calcfs expects')
    open = { kind, missing }
  }

  return {
    take(piece) {
      const frames: Frame[] = []
      let rest = piece
      while (rest.length > 0 || open?.missing === 0) {
        if (open === undefined) {
          const part = rest.subarray(0, headBytes - gatheredBytes)
          rest = rest.subarray(part.length)
          gather(part)
          if (gatheredBytes === headBytes) begin(all())
          continue
        }
        const part = rest.subarray(0, open.missing)
        rest = rest.subarray(part.length)
        open.missing -= part.length
        if (open.kind === 'bytes') {
          if (part.length > 0) frames.push({ kind: 'bytes', payload: part })
        } else {
          gather(part)
          if (open.missing === 0) frames.push({ kind: open.kind, payload: all() })
        }
        if (open.missing === 0) open = undefined
      }
      return frames
    },
  }
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
  reply.once('close', () => left.abort())
  reply.writeHead(200, { 'content-type': 'application/octet-stream' })
  reply.flushHeaders()
  const alive = setInterval(() => {
    // A caller that is busy with what it has needs no sign.
    if (!reply.writableNeedDrain) reply.write(frameHead('life', 0))
  }, signOfLifeEvery)
  const send: SendFrame = (kind, payload) => sent(reply, kind, payload)
  try {
    await send('end', Buffer.from(await work(send, left.signal)))
  } catch (thrown) {
    const text = JSON.stringify(failureParts(asFailure(thrown)))
    await send('failure', Buffer.from(text)).catch(() => {})
  } finally {
    clearInterval(alive)
    reply.end()
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
