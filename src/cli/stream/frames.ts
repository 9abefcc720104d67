// Frames of a long answer on the control socket: bytes and JSON texts one after the other, signs of life between them, and an end.

import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { asFailure, Failure } from '../../failure.js'
import { failureParts, signOfLifeEvery } from './conversation.js'

/** `life` says that the daemon is at work; `answer` is that to one question of many; `end` and `failure` are the last frame. Lengths are in bytes. */
const codes = { life: 0, text: 1, bytes: 2, end: 3, failure: 4, answer: 5 } as const
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

/** Resolves once the parts may be used for other things. @throws Failure 'unreachable' where the caller has gone */
export type SendFrame = (kind: FrameKind, ...parts: readonly Uint8Array[]) => Promise<void>

/**
 * Never rejects.
 * @param work sends frames, and answers the parts of the last one; its signal is aborted where the caller has gone
 */
export async function replyInFrames(
  reply: ServerResponse,
  headers: OutgoingHttpHeaders,
  work: (send: SendFrame, left: AbortSignal) => Promise<readonly Uint8Array[]>,
): Promise<void> {
  const left = new AbortController()
  reply.once('close', () => left.abort())
  reply.writeHead(200, { 'content-type': 'application/octet-stream', ...headers })
  reply.flushHeaders()
  const alive = setInterval(() => {
    // A caller that is busy with what it has needs no sign.
    if (!reply.writableNeedDrain) reply.write(frameHead('life', 0))
  }, signOfLifeEvery)
  const send: SendFrame = (kind, ...parts) => sent(reply, kind, parts)
  try {
    await send('end', ...(await work(send, left.signal)))
  } catch (thrown) {
    const text = JSON.stringify(failureParts(asFailure(thrown)))
    await send('failure', Buffer.from(text)).catch(() => {})
  } finally {
    clearInterval(alive)
    reply.end()
  }
}

function sent(reply: ServerResponse, kind: FrameKind, parts: readonly Uint8Array[]): Promise<void> {
  const length = parts.reduce((bytes, part) => bytes + part.length, 0)
  const written = [frameHead(kind, length), ...parts]
  return new Promise((done, failed) => {
    if (reply.destroyed) return failed(new Failure('unreachable', 'the command has ended'))
    reply.cork()
    for (const part of written.slice(0, -1)) reply.write(part)
    reply.write(written.at(-1), error => (error ? failed(error) : done()))
    reply.uncork()
  })
}
