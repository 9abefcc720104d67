// Server of the long answers of a drive: trees and files, as frames, no faster than they are taken.
import type { ServerResponse } from 'node:http'
import type * as z from 'zod'
import type { DriveReader } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { replyInFrames, type SendFrame } from './frame-reply.js'
import { printFacts, printItems, type StreamName, streamQuestions } from './stream-protocol.js'

/** Answers one question to its end; never rejects. What was asked ends early where the caller has gone. */
export async function answerStream(
  name: StreamName,
  body: () => Promise<string>,
  reply: ServerResponse,
  reader: DriveReader,
): Promise<void> {
  await replyInFrames(reply, {}, async (send, left) => [
    Buffer.from(await answer(name, await body(), send, { reader, signal: left })),
  ])
}

/** The text of the last frame. */
async function answer(
  name: StreamName,
  body: string,
  send: SendFrame,
  { reader, signal }: { readonly reader: DriveReader; readonly signal: AbortSignal },
): Promise<string> {
  if (name === 'tree') {
    for await (const items of reader.tree(asked('tree', body), signal))
      await send('text', Buffer.from(printItems(items)))
    return ''
  }
  const { path } = asked('file', body)
  return printFacts(await reader.file(path, bytes => send('bytes', bytes), signal))
}

/** @throws Failure 'invalid' */
function asked<Name extends StreamName>(name: Name, body: string): z.infer<(typeof streamQuestions)[Name]> {
  const found = streamQuestions[name].safeParse(JSON.parse(body))
  if (found.success) return found.data as z.infer<(typeof streamQuestions)[Name]>
  throw new Failure('invalid', `this drive does not understand the question ${name}`)
}
