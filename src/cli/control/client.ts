// Client of a daemon: the control and the reader of its drive as if they were in this process.
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import * as z from 'zod'
import {
  type CallArgument,
  type CallName,
  type CallResult,
  type Control,
  controlCalls,
} from '../../drive/interface/control.js'
import { type DriveReader, fileFacts, type TreeItem } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import {
  factsTrailer,
  failureOf,
  failureTrailer,
  inForm,
  mountHeader,
  outOfTrailer,
  readItems,
} from './protocol.js'

/** Milliseconds of silence after which a daemon counts as hanging: with the start of the command about three seconds. */
const longestSilence = 2500
/** So often that time begins again while its process is busy, or waits for a processor. */
const busyTimes = 4

/** Where a daemon listens, which drive is meant, and what is thrown where it does not answer, or stops answering. */
export interface Listener {
  readonly socketPath: string
  readonly device: string
  readonly isBusy: () => Promise<boolean>
  readonly onSilence: () => Promise<Error>
}

/**
 * The control of the drive that listens there. Every call rejects with the drive's own Failure: 'replaced' where it is not
 * the drive meant. Sockets go by mount points, and a directory above one may have been renamed.
 */
export function controlAt(listener: Listener): Control {
  const call =
    <Name extends CallName>(name: Name) =>
    async (asked: CallArgument<Name>): Promise<CallResult<Name>> => {
      const { signal } = new AbortController()
      const pieces: Buffer[] = []
      for await (const piece of answerOf(listener, { name, asked, signal })) pieces.push(piece)
      const form = z.unknown().pipe(controlCalls[name].answer)
      return inForm<unknown>(form, Buffer.concat(pieces).toString()) as CallResult<Name>
    }
  const names = Object.keys(controlCalls) as readonly CallName[]
  return Object.fromEntries(names.map(name => [name, call(name)])) as unknown as Control
}

/** The reader of the drive that listens there. What fails at the drive rejects with its own Failure. */
export function readerAt(listener: Listener): DriveReader {
  return {
    async *tree(asked, signal): AsyncGenerator<readonly TreeItem[]> {
      let rest = ''
      const decoder = new TextDecoder()
      for await (const piece of answerOf(listener, { name: 'tree', asked, signal })) {
        const lines = (rest + decoder.decode(piece, { stream: true })).split('\n')
        rest = lines.pop() ?? ''
        for (const line of lines) yield readItems(line)
      }
    },
    async file(path, sink, signal) {
      let trailers: IncomingMessage['trailers'] = {}
      async function* bytes(): AsyncGenerator<Buffer> {
        trailers = yield* answerOf(listener, { name: 'file', asked: { path }, signal })
      }
      for await (const piece of bytes()) await sink(piece)
      return inForm(fileFacts, outOfTrailer(trailers[factsTrailer] ?? ''))
    },
  }
}

/**
 * Ends a question that a daemon does not begin to answer; the returned function ends the watch. An answer that has begun
 * is waited for, as a program waits for a mount.
 */
function watched(question: ClientRequest, { isBusy }: Listener): () => void {
  let isHeard = false
  let left = busyTimes
  const look = async (): Promise<void> => {
    left -= 1
    // After a long step of this process what has arrived meanwhile counts first.
    const isWaitedFor = (await isBusy().catch(() => false)) && left > 0
    if (isHeard) return
    if (isWaitedFor) ending = setTimeout(look, longestSilence)
    else question.destroy(new Error('no sign of life'))
  }
  let ending = setTimeout(look, longestSilence)
  const heard = (): void => {
    isHeard = true
    clearTimeout(ending)
  }
  question.once('response', heard)
  return heard
}

/** The bytes of an answer, and at its end its trailers. @throws Failure as it was thrown at the other end, the signal's reason, or what `onSilence` makes */
async function* answerOf(
  listener: Listener,
  { name, asked, signal }: { name: string; asked: unknown; signal: AbortSignal },
): AsyncGenerator<Buffer, IncomingMessage['trailers']> {
  const { socketPath, device } = listener
  signal.throwIfAborted()
  const headers = { [mountHeader]: device }
  const question = request({ socketPath, path: `/${name}`, method: 'POST', headers, maxHeaderSize: 1 << 20 })
  // Not as an option of the request: Node ends the socket with that error, which is not heard where the answer has just ended.
  const stop = (): void => void question.destroy()
  signal.addEventListener('abort', stop)
  const unwatch = watched(question, listener)
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      question.once('response', resolve)
      question.on('error', reject)
    })
    question.end(JSON.stringify(asked))
    const answer = await answered
    for await (const piece of answer) {
      signal.throwIfAborted()
      yield piece
    }
    const failure = answer.trailers[failureTrailer]
    if (failure !== undefined) throw failureOf(failure)
    return answer.trailers
  } catch (cause) {
    signal.throwIfAborted()
    if (cause instanceof Failure) throw cause
    const thrown = await listener.onSilence()
    thrown.cause = cause
    throw thrown
  } finally {
    unwatch()
    signal.removeEventListener('abort', stop)
  }
}
