// Client of a daemon: the control and the reader of its drive as if they were in this process.
import { type IncomingMessage, request } from 'node:http'
import * as z from 'zod'
import {
  type CallArgument,
  type CallName,
  type CallResult,
  type Control,
  controlCalls,
} from '../../drive/interface/control.js'
import type { DriveReader, TreeItem } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { type Frame, FrameReader } from './frames.js'
import { inForm, mountHeader, readFacts, readItems, throwFailure } from './protocol.js'

/** Milliseconds of silence after which a daemon counts as hanging: with the start of the command about three seconds. */
export const longestSilence = 2500
/** The same for a daemon that has answered this command already, in the middle of a tree or of a copy. */
const longestSilenceLater = 20_000

/** Where a daemon listens, which drive is meant, and what is thrown where it does not answer, or stops answering. */
export interface Listener {
  readonly socketPath: string
  readonly device: string
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
      const asking = { asked, signal: new AbortController().signal, patience: new Patience() }
      for await (const { kind, payload } of framesOf(listener, name, asking))
        if (kind === 'end') return answerIn(name, payload.toString())
      throw new Failure('unreachable', 'the drive ended while it was asked')
    }
  const names = Object.keys(controlCalls) as readonly CallName[]
  return Object.fromEntries(names.map(name => [name, call(name)])) as unknown as Control
}

/** @throws Failure 'broken' for an invalid answer */
const answerIn = <Name extends CallName>(name: Name, text: string): CallResult<Name> =>
  inForm<unknown>(z.unknown().pipe(controlCalls[name].answer), text) as CallResult<Name>

/** The reader of the drive that listens there. What fails at the drive rejects with its own Failure. */
export function readerAt(listener: Listener): DriveReader {
  const patience = new Patience(longestSilenceLater)
  const frames = (name: 'tree' | 'file', asked: unknown, signal: AbortSignal): AsyncGenerator<Frame> =>
    framesOf(listener, name, { asked, signal, patience })

  return {
    async *tree(asked, signal): AsyncGenerator<readonly TreeItem[]> {
      for await (const { kind, payload } of frames('tree', asked, signal))
        if (kind === 'text') yield readItems(payload.toString())
    },
    async file(path, sink, signal) {
      for await (const { kind, payload } of frames('file', { path }, signal)) {
        if (kind === 'bytes') await sink(payload)
        if (kind === 'end') return readFacts(payload.toString())
      }
      throw new Failure('unreachable', `${path}: the drive ended while it was read`)
    },
  }
}

/** For how long a daemon may be silent: an answer to one of several questions is a sign of life for all. */
class Patience {
  readonly #later: number
  #longest = longestSilence
  #heardAt = 0

  /** @param later milliseconds for a daemon that has answered: on a loaded machine it, or this process, comes late */
  constructor(later: number = longestSilence) {
    this.#later = later
  }

  heard(): void {
    this.#longest = this.#later
    this.#heardAt = performance.now()
  }

  /** The answer. @throws Error where the daemon is silent for too long */
  async with<Value>(answer: Promise<Value>): Promise<Value> {
    const began = performance.now()
    let timer: NodeJS.Timeout | undefined
    let isOver = false
    const silence = new Promise<never>((_, reject) => {
      const look = (): void => {
        if (isOver) return
        const left = Math.max(began, this.#heardAt) + this.#longest - performance.now()
        // After a long step of this process what has arrived meanwhile counts first.
        if (left > 0) timer = setTimeout(() => setImmediate(look), left)
        else reject(new Error('no sign of life'))
      }
      look()
    })
    try {
      const value = await Promise.race([answer, silence])
      this.heard()
      return value
    } finally {
      isOver = true
      clearTimeout(timer)
    }
  }
}

interface Asking {
  readonly asked: unknown
  readonly signal: AbortSignal
  readonly patience: Patience
}

/** The frames of an answer, to its end. @throws Failure as it was thrown at the other end, the signal's reason, or what `onSilence` makes */
async function* framesOf(listener: Listener, name: string, asking: Asking): AsyncGenerator<Frame> {
  try {
    for await (const frame of received(listener, name, asking)) {
      if (frame.kind === 'failure') throwFailure(frame.payload.toString())
      yield frame
    }
  } catch (cause) {
    asking.signal.throwIfAborted()
    if (cause instanceof Failure) throw cause
    const thrown = await listener.onSilence()
    thrown.cause = cause
    throw thrown
  }
}

/** @throws Error, no Failure, where the daemon is silent, or its answer is cut */
async function* received(
  { socketPath, device }: Listener,
  name: string,
  { asked, signal, patience }: Asking,
): AsyncGenerator<Frame> {
  signal.throwIfAborted()
  const headers = { [mountHeader]: device }
  const question = request({ socketPath, path: `/${name}`, method: 'POST', headers })
  // Not as an option of the request: Node ends the socket with that error, which is not heard where the answer has just ended.
  const stop = (): void => void question.destroy()
  signal.addEventListener('abort', stop)
  let rest: (() => Promise<unknown>) | undefined
  try {
    const answered = new Promise<IncomingMessage>((resolve, reject) => {
      question.once('response', resolve)
      question.on('error', reject)
    })
    question.end(JSON.stringify(asked))
    const pieces = (await patience.with(answered))[Symbol.asyncIterator]()
    const reader = new FrameReader()
    for (;;) {
      const { value: piece, done } = await patience.with(pieces.next())
      if (done === true) throw new Error('the answer ended too early')
      for (const frame of reader.take(piece)) {
        signal.throwIfAborted()
        const isLast = frame.kind === 'end' || frame.kind === 'failure'
        if (isLast) rest = () => pieces.next()
        yield frame
        if (isLast) return
      }
    }
  } finally {
    signal.removeEventListener('abort', stop)
    // A connection whose answer was read to its end serves the next question.
    if (rest === undefined) question.destroy()
    else rest().catch(stop)
  }
}
