// Client of many files over one connection, made when the first is asked for: no file waits for a connection, or for another file.
import { type IncomingMessage, request } from 'node:http'
import type { ShortFile } from '../../drive/interface/reader.js'
import { type DrivePlace, failureIn, mountHeader } from './conversation.js'
import { type Frame, openFrameReader } from './frames.js'
import {
  type FileAnswer,
  filesName,
  printFileQuestion,
  readFileAnswer,
  throwFailure,
} from './stream-protocol.js'

/** The connection ended before the answer, which says nothing about the file: the daemon may have another one. */
export class FilesCut extends Error {
  override readonly message = 'the connection for files has ended'
}

export interface FilesClient {
  /**
   * Undefined for a file that is to be read by itself.
   * @throws FilesCut; Failure as it was thrown at the other end; the signal's reason; Error where the daemon is silent
   */
  ask(path: string, signal: AbortSignal): Promise<ShortFile | undefined>
}

/** How long the daemon may be silent, in milliseconds, and what is told where it is not. */
export interface Patience {
  readonly longest: () => number
  readonly heard: () => void
}

interface Waiting {
  answered(found: FileAnswer['found']): void
  failed(thrown: unknown): void
}

export function openFilesClient(place: DrivePlace, patience: Patience): FilesClient {
  let connection: Connection | undefined
  let asked = 0

  return {
    async ask(path, signal) {
      signal.throwIfAborted()
      connection ??= connect(place, patience, () => {
        connection = undefined
      })
      const { waiting, send, leave, rest } = connection
      asked += 1
      const id = asked
      let stop = () => {}
      try {
        const found = await new Promise<FileAnswer['found']>((answered, failed) => {
          stop = () => failed(signal.reason)
          signal.addEventListener('abort', stop)
          waiting.set(id, { answered, failed })
          send(printFileQuestion({ id, path }))
        })
        if (found !== undefined && 'failed' in found) throw failureIn(found.failed)
        return found
      } finally {
        signal.removeEventListener('abort', stop)
        waiting.delete(id)
        if (signal.aborted) leave()
        else rest()
      }
    },
  }
}

interface Connection {
  /** By the numbers of the questions. */
  readonly waiting: Map<number, Waiting>
  send(line: string): void
  /** Where nothing is waited for, it keeps no process alive. */
  rest(): void
  /** The same, and what was given up ends at the daemon, too. */
  leave(): void
}

function connect({ socketPath, device }: DrivePlace, patience: Patience, ended: () => void): Connection {
  const waiting = new Map<number, Waiting>()
  const question = request({
    socketPath,
    path: `/${filesName}`,
    method: 'POST',
    headers: { [mountHeader]: device },
    agent: false,
  })
  const watch = watchSilence(patience, () => end(new Error('no sign of life')))

  let isOver = false

  function end(thrown: unknown): void {
    if (isOver) return
    isOver = true
    ended()
    watch.rest()
    for (const { failed } of waiting.values()) failed(thrown)
    question.destroy()
  }

  function taken({ kind, payload }: Frame): void {
    if (kind === 'failure') throwFailure(payload.toString())
    if (kind !== 'answer') return
    const { id, found } = readFileAnswer(payload)
    waiting.get(id)?.answered(found)
  }

  function answering(reply: IncomingMessage): void {
    const reader = openFrameReader()
    watch.heard()
    reply.on('data', (piece: Buffer) => {
      watch.heard()
      try {
        for (const frame of reader.take(piece)) taken(frame)
      } catch (thrown) {
        end(thrown)
      }
    })
    reply.once('close', () => end(new FilesCut()))
    reply.on('error', () => {})
  }

  question.once('response', answering)
  question.on('error', cause => end(new FilesCut(undefined, { cause })))
  question.flushHeaders()
  return {
    waiting,
    send(line) {
      question.socket?.ref()
      watch.begin()
      question.write(line)
    },
    rest() {
      if (waiting.size > 0) return
      watch.rest()
      question.socket?.unref()
    },
    leave() {
      if (waiting.size === 0) end(new FilesCut())
    },
  }
}

/** Tells of a daemon that is waited for and gives no sign of life. */
function watchSilence({ longest, heard }: Patience, isSilent: () => void) {
  let timer: NodeJS.Timeout | undefined
  let last = 0

  function look(): void {
    const left = last + longest() - Date.now()
    if (left > 0) timer = setTimeout(wake, left)
    else isSilent()
  }

  // After a long step of this process what has arrived meanwhile counts first.
  const wake = (): void => void setImmediate(() => timer !== undefined && look())

  return {
    begin() {
      if (timer !== undefined) return
      last = Date.now()
      timer = setTimeout(wake, longest())
    },
    heard() {
      last = Date.now()
      heard()
    },
    rest() {
      clearTimeout(timer)
      timer = undefined
    },
  }
}
