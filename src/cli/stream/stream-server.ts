// Server of long answers: the items of a tree, or the bytes of a file, in frames.
import type * as z from 'zod'
import type { DriveReader } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import type { SendFrame } from './frames.js'
import { printFacts, printItems, type StreamName, streamQuestions } from './stream-protocol.js'

/** Sends the frames of one answer; resolves to the text of the last one. What was asked ends early with the signal. */
export async function sendAnswer(
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
