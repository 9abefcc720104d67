// Servers of long answers: a tree or a file in frames, and many files over one connection, each answered when it can be.

import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import pLimit from 'p-limit'
import type * as z from 'zod'
import type { DriveReader, SharedReader } from '../../drive/interface/reader.js'
import { asFailure, Failure } from '../../failure.js'
import { replyInFrames, type SendFrame } from './frames.js'
import {
  printFacts,
  printFileFailure,
  printFound,
  printItems,
  readFileQuestion,
  type StreamName,
  streamQuestions,
} from './stream-protocol.js'

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

/** So many files of one caller are looked at or on their way to it at a time, each with a short content in memory at most. */
const filesAtOnce = 64
/** Questions that wait for their turn; the rest stays with the caller until they are fewer. */
const waitingAtMost = 1_024
/** In characters: a path is 4096 bytes at most, each of which JSON may write as six. */
const longestQuestion = 64 << 10

interface FilesCaller {
  readonly question: IncomingMessage
  readonly reply: ServerResponse
  /** Rejects where the caller means another drive. */
  readonly admitted: () => Promise<void>
  /** Aborted where the daemon ends: what was asked by then is answered, and no more. */
  readonly ending: AbortSignal
}

/** Answers until the last question; never rejects. What is under way ends early where the caller has gone. */
export async function answerFiles(caller: FilesCaller, reader: SharedReader): Promise<void> {
  const { question, reply, ending } = caller
  await replyInFrames(reply, { connection: 'close' }, async (send, left) => {
    await caller.admitted()
    await answered(question, AbortSignal.any([left, ending]), async (line: string) => {
      const { id, path } = readFileQuestion(line)
      const parts = await reader.shortFile(path, left).then(
        found => printFound(id, found),
        (thrown: unknown) => printFileFailure(id, asFailure(thrown)),
      )
      await send('answer', ...parts)
    })
    return []
  })
}

/** Resolves when all questions that came are answered: to the last one, or until the signal. */
async function answered(
  question: IncomingMessage,
  signal: AbortSignal,
  answer: (line: string) => Promise<void>,
): Promise<void> {
  const limit = pLimit(filesAtOnce)
  const underWay = new Set<Promise<void>>()
  let rest = ''
  let thrown: unknown
  const over = new AbortController()

  function failed(cause: unknown): void {
    thrown ??= cause
    over.abort()
  }

  function ask(line: string): void {
    const one = limit(() => answer(line))
      .catch(failed)
      .finally(() => {
        underWay.delete(one)
        if (underWay.size < waitingAtMost && !ended.aborted) question.resume()
      })
    underWay.add(one)
  }

  function taken(text: string): void {
    if (over.signal.aborted) return
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) ask(line)
    if (rest.length > longestQuestion) failed(new Failure('too-large', 'a question for a file is too long'))
    if (underWay.size >= waitingAtMost) question.pause()
  }

  const ended = AbortSignal.any([signal, over.signal])
  question.setEncoding('utf8').on('data', taken)
  // Whatever ends the questions: those that came are answered.
  if (!ended.aborted) await once(question, 'end', { signal: ended }).catch(() => {})
  question.off('data', taken).pause()
  await Promise.all(underWay)
  if (thrown !== undefined) throw thrown
}
