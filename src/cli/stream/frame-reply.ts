// Reply in frames: signs of life while it is prepared, no faster than it is taken, and an end or a failure as its last frame.
import type { OutgoingHttpHeaders, ServerResponse } from 'node:http'
import { asFailure, Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import { failureParts, signOfLifeEvery } from './conversation.js'
import { type FrameKind, frameHead } from './frames.js'

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
    await send('failure', Buffer.from(text)).catch(noop)
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
