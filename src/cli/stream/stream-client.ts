// Client of the long answers of a drive: its reader as if it were in this process.
import { type IncomingMessage, request } from 'node:http'
import type { DriveReader, ShortFile, TreeItem } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { type DrivePlace, longestSilence, longestSilenceLater, mountHeader } from './conversation.js'
import { FilesCut, openFilesClient } from './files-client.js'
import { type Frame, openFrameReader } from './frames.js'
import { readFacts, readItems, type StreamName, throwFailure } from './stream-protocol.js'

/**
 * The reader of the drive that listens there. What fails at the drive rejects with its own Failure.
 * @param onSilence makes what is thrown where the daemon does not answer, or stops answering
 */
export function readerAt(place: DrivePlace, onSilence: () => Promise<Error>): DriveReader {
  // A daemon that has answered this command is not one that hangs: on a loaded machine it, or this process, comes late.
  let patience = longestSilence
  const heard = (): void => {
    patience = longestSilenceLater
  }

  async function* frames(name: StreamName, asked: unknown, signal: AbortSignal): AsyncGenerator<Frame> {
    try {
      const inTime = <Value>(answer: Promise<Value>): Promise<Value> => within(answer, patience)
      yield* framesOf(place, name, { asked, signal, inTime, heard })
    } catch (cause) {
      await thrownFor(cause, signal)
    }
  }

  const files = openFilesClient(place, { longest: () => patience, heard })

  /** Undefined for a file that is to be read as it comes. */
  async function shortFile(path: string, signal: AbortSignal): Promise<ShortFile | undefined> {
    try {
      return await files.ask(path, signal)
    } catch (cause) {
      if (cause instanceof FilesCut) return undefined
      return thrownFor(cause, signal)
    }
  }

  async function thrownFor(cause: unknown, signal: AbortSignal): Promise<never> {
    signal.throwIfAborted()
    if (cause instanceof Failure) throw cause
    const thrown = await onSilence()
    thrown.cause = cause
    throw thrown
  }

  return {
    async *tree(asked, signal): AsyncGenerator<readonly TreeItem[]> {
      for await (const { kind, payload } of frames('tree', asked, signal)) {
        if (kind === 'failure') throwFailure(payload.toString())
        if (kind === 'text') yield readItems(payload.toString())
        if (kind === 'end') return
      }
    },
    async file(path, sink, signal) {
      const short = await shortFile(path, signal)
      if (short !== undefined) {
        if (short.bytes.length > 0) await sink(short.bytes)
        return short.facts
      }
      for await (const { kind, payload } of frames('file', { path }, signal)) {
        if (kind === 'failure') throwFailure(payload.toString())
        if (kind === 'bytes') await sink(payload)
        if (kind === 'end') return readFacts(payload.toString())
      }
      throw new Failure('unreachable', `${path}: the drive ended while it was read`)
    },
  }
}

interface Asking {
  readonly asked: unknown
  readonly signal: AbortSignal
  /** Rejects where the daemon is silent for too long. */
  readonly inTime: <Value>(answer: Promise<Value>) => Promise<Value>
  /** Called when the daemon shows that it lives. */
  readonly heard: () => void
}

/** @throws Error, no Failure, where the daemon is silent, or its answer is cut */
async function* framesOf(
  { socketPath, device }: DrivePlace,
  name: StreamName,
  { asked, signal, inTime, heard }: Asking,
): AsyncGenerator<Frame> {
  signal.throwIfAborted()
  const question = request({
    socketPath,
    path: `/${name}`,
    method: 'POST',
    headers: { [mountHeader]: device },
  })
  // Not as an option of the request: Node ends the socket with that error, which is not heard where the answer has just ended.
  const stop = (): void => void question.destroy()
  signal.addEventListener('abort', stop)
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      question.once('response', resolve)
      question.on('error', reject)
    })
    question.end(JSON.stringify(asked))
    const reply = await inTime(answered)
    heard()
    const reader = openFrameReader()
    const pieces = reply[Symbol.asyncIterator]()
    for (;;) {
      const { value: piece, done } = await inTime(pieces.next())
      if (done === true) throw new Error('the answer ended too early')
      for (const frame of reader.take(piece)) {
        signal.throwIfAborted()
        yield frame
        if (frame.kind === 'end' || frame.kind === 'failure') return
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    question.destroy()
  }
}

/** @param patience in milliseconds */
async function within<Value>(answer: Promise<Value>, patience: number): Promise<Value> {
  let timer: NodeJS.Timeout | undefined
  const silence = new Promise<never>((_, reject) => {
    const late = () => reject(new Error(`no sign of life for ${patience} ms`))
    // After a long step of this process what has arrived meanwhile counts first.
    timer = setTimeout(() => setImmediate(late), patience)
  })
  try {
    return await Promise.race([answer, silence])
  } finally {
    clearTimeout(timer)
  }
}
