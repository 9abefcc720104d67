// Server of the long answers of a drive: trees and files, as frames, no faster than they are taken.
import type { ServerResponse } from 'node:http'
import type * as z from 'zod'
import type { DriveReader } from '../../drive/interface/reader.js'
import { asFailure, Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import { failureParts, signOfLifeEvery } from './conversation.js'
import { type FrameKind, frameHead } from './frames.js'
import { printFacts, printItems, type StreamName, streamQuestions } from './stream-protocol.js'

/** Answers one question to its end; never rejects. What was asked ends early where the caller has gone. */
export async function answerStream(
  name: StreamName,
  body: () => Promise<string>,
  reply: ServerResponse,
  reader: DriveReader,
): Promise<void> {
  const left = new AbortController()
  reply.once('close', () => left.abort())
  reply.writeHead(200, { 'content-type': 'application/octet-stream' })
  reply.flushHeaders()
  const alive = setInterval(() => {
    // A caller that is busy with what it has needs no sign.
    if (!reply.writableNeedDrain) reply.write(frameHead('life', 0))
  }, signOfLifeEvery)
  try {
    const last = await answer(name, await body(), reply, { reader, signal: left.signal })
    await send(reply, 'end', Buffer.from(last))
  } catch (thrown) {
    const text = JSON.stringify(failureParts(asFailure(thrown)))
    await send(reply, 'failure', Buffer.from(text)).catch(noop)
  } finally {
    clearInterval(alive)
    reply.end()
  }
}

/** The text of the last frame. */
async function answer(
  name: StreamName,
  body: string,
  reply: ServerResponse,
  { reader, signal }: { readonly reader: DriveReader; readonly signal: AbortSignal },
): Promise<string> {
  if (name === 'tree') {
    for await (const items of reader.tree(asked('tree', body), signal))
      await send(reply, 'text', Buffer.from(printItems(items)))
    return ''
  }
  const { path } = asked('file', body)
  return printFacts(await reader.file(path, bytes => send(reply, 'bytes', bytes), signal))
}

/** @throws Failure 'invalid' */
function asked<Name extends StreamName>(name: Name, body: string): z.infer<(typeof streamQuestions)[Name]> {
  const found = streamQuestions[name].safeParse(JSON.parse(body))
  if (found.success) return found.data as z.infer<(typeof streamQuestions)[Name]>
  throw new Failure('invalid', `this drive does not understand the question ${name}`)
}

/** Resolves once the payload may be used for other things. */
function send(reply: ServerResponse, kind: FrameKind, payload: Uint8Array): Promise<void> {
  return new Promise((sent, failed) => {
    if (reply.destroyed) return failed(new Failure('unreachable', 'the command has ended'))
    reply.cork()
    reply.write(frameHead(kind, payload.length))
    reply.write(payload, error => (error ? failed(error) : sent()))
    reply.uncork()
  })
}
