// Server of many files over one connection: answers each question when it can, in any order, until the caller has asked all.
import { once } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import pLimit from 'p-limit'
import type { SharedReader } from '../../drive/interface/reader.js'
import { asFailure } from '../../failure.js'
import { noop } from '../../noop.js'
import { printFileFailure, printFound, readFileQuestion } from './files-protocol.js'
import { replyInFrames } from './frame-reply.js'

/** So many files of one caller are looked at or on their way to it at a time, each with a short content in memory at most. */
const filesAtOnce = 64

export interface FilesCaller {
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
      const parts = await reader.wholeFile(path, left).then(
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

  function ask(line: string): void {
    const one = limit(() => answer(line))
      .catch((cause: unknown) => {
        thrown ??= cause
        over.abort()
      })
      .finally(() => underWay.delete(one))
    underWay.add(one)
  }

  function taken(text: string): void {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) ask(line)
  }

  question.setEncoding('utf8').on('data', taken)
  const ended = AbortSignal.any([signal, over.signal])
  // Whatever ends the questions: those that came are answered.
  if (!ended.aborted) await once(question, 'end', { signal: ended }).catch(noop)
  question.off('data', taken).pause()
  await Promise.all(underWay)
  if (thrown !== undefined) throw thrown
}
