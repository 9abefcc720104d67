// Server of the control socket: HTTP on a private socket, one POST per question of the table.
import { once } from 'node:events'
import { lstat, rename, rm, rmdir } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { dirname } from 'node:path'
import { text } from 'node:stream/consumers'
import type * as z from 'zod'
import { type CallName, type Control, controlCalls } from '../../drive/interface/control.js'
import { type DriveReader, readerQuestions } from '../../drive/interface/reader.js'
import { asFailure, Failure } from '../../failure.js'
import { answerWatch } from '../../metrics/metrics-port.js'
import { factsTrailer, failureParts, failureTrailer, inTrailer, mountHeader, printItems } from './protocol.js'
import { boundName, sweep } from './socket.js'

/** Descriptors are for the drive's files: a program that opens the socket on and on gets no more than these. */
const connectionsAtMost = 512

/** Milliseconds between two looks whether the socket is still there: the system may remove its directory at a log-out. */
const lookEvery = 5_000

interface ControlledDrive {
  readonly control: Control
  readonly reader: DriveReader
  /** Resolves to the kernel's device number of the drive once it is mounted. */
  readonly device: Promise<string | undefined>
  /** Milliseconds for which the end of the drive waits for answers: a command may be stopped, or read nothing. */
  readonly patience: number
}

type Listening = Awaited<ReturnType<typeof listen>>

/**
 * Listens where `place` says; sockets that killed daemons left there are removed. Where the socket goes away, there is
 * another one a few seconds later, at the place that is safe then; `lost` is told of it, and of why there is none yet.
 */
export async function serveControl(
  place: () => Promise<string>,
  drive: ControlledDrive,
  lost: (sentence: string) => void,
) {
  const begin = async (): Promise<Listening> => listen(await place(), drive)
  // Once more: the directory may have gone with the last socket of another drive in this moment.
  let listening = await begin().catch(begin)
  let looking: Promise<void> | undefined

  async function look(): Promise<void> {
    const before = listening
    const { path } = before
    // One of another daemon, which has mounted there since, counts.
    if ((await lstat(path).catch(gone)) !== undefined) return
    try {
      listening = await listen(await place(), drive)
      lost(`the control socket ${path} was removed; it is ${listening.path} now`)
      await closed(before, drive.patience)
    } catch (thrown) {
      lost(`the control socket ${path} was removed, and cannot be made again: ${asFailure(thrown).message}`)
    }
  }

  const watch = setInterval(() => {
    looking ??= look().finally(() => {
      looking = undefined
    })
  }, lookEvery)
  watch.unref()
  return {
    async close(): Promise<void> {
      clearInterval(watch)
      await looking
      const { path, inode } = listening
      await closed(listening, drive.patience)
      // Another daemon may have mounted there meanwhile: its socket stays.
      const found = await lstat(path).catch(gone)
      if (found?.ino === inode) await rm(path, { force: true })
      // The directory goes with the last socket in it.
      await rmdir(dirname(path)).catch(gone)
    },
  }
}

export type ControlServer = Awaited<ReturnType<typeof serveControl>>

async function listen(path: string, drive: ControlledDrive) {
  await sweep(path)
  /** Ends the connections that commands keep open. */
  const ending = new AbortController()
  const server = createServer((question, reply) => {
    // Of `curl --unix-socket`, Prometheus' agents and supervisors; commands POST.
    if (question.method === 'GET' || question.method === 'HEAD')
      return void answerWatch(question, reply, drive.control)
    // A command may keep its connection for the next question, which a daemon that ends does not wait for.
    reply.once('finish', () => ending.signal.aborted && question.socket.end())
    void answer(question, reply, drive)
  })
  server.maxConnections = connectionsAtMost
  const bound = boundName(path)
  await once(server.listen(bound), 'listening')
  const inode = await moved(bound, path).catch(thrown => {
    server.close()
    throw thrown
  })
  // The mount keeps the daemon alive, not its socket.
  server.unref()
  return { server, path, inode, ending }
}

async function moved(bound: string, path: string): Promise<number> {
  const { ino } = await lstat(bound)
  await rename(bound, path)
  return ino
}

function closed({ server, ending }: Listening, milliseconds: number): Promise<void> {
  return new Promise(done => {
    ending.abort()
    const cutting = setTimeout(() => server.closeAllConnections(), milliseconds)
    server.close(() => {
      clearTimeout(cutting)
      done()
    })
  })
}

function gone(): undefined {}

const isCall = (name: string): name is CallName => Object.hasOwn(controlCalls, name)

/** @throws Failure 'replaced' where another drive is meant */
async function refuseOtherDrive(
  question: IncomingMessage,
  device: Promise<string | undefined>,
): Promise<void> {
  const meant = question.headers[mountHeader]
  if (meant !== undefined && meant !== (await device))
    throw new Failure(
      'replaced',
      'the daemon that listens for this mount point serves another drive, because directories were renamed; nothing was done. Unmount with --force, and mount again',
    )
}

/** Never rejects: a failure is a trailer. */
async function answer(
  question: IncomingMessage,
  reply: ServerResponse,
  { control, reader, device }: ControlledDrive,
): Promise<void> {
  const left = new AbortController()
  reply.once('close', () => reply.writableFinished || left.abort())
  // At once: a daemon that hangs is known by that it does not even begin to answer.
  reply.writeHead(200, { trailer: `${failureTrailer}, ${factsTrailer}` }).flushHeaders()
  try {
    await refuseOtherDrive(question, device)
    const name = (question.url ?? '').slice(1)
    const body = await text(question)
    if (name === 'tree') {
      for await (const items of reader.tree(asked(name, body, readerQuestions.tree), left.signal))
        await sent(reply, printItems(items))
    } else if (name === 'file') {
      const { path } = asked(name, body, readerQuestions.file)
      const facts = await reader.file(path, bytes => sent(reply, bytes), left.signal)
      reply.addTrailers({ [factsTrailer]: inTrailer(facts) })
    } else if (isCall(name)) {
      const call: (asked: never) => Promise<unknown> = control[name]
      await sent(
        reply,
        JSON.stringify(await call(asked<unknown>(name, body, controlCalls[name].ask) as never)),
      )
    } else throw new Failure('unsupported', `this drive cannot be asked for ${JSON.stringify(name)}`)
  } catch (thrown) {
    reply.addTrailers({ [failureTrailer]: inTrailer(failureParts(asFailure(thrown))) })
  }
  reply.end()
}

/** Resolves once the bytes may be used for other things. @throws Failure 'unreachable' where the caller has gone */
function sent(reply: ServerResponse, piece: string | Uint8Array): Promise<void> {
  return new Promise((done, failed) => {
    if (reply.destroyed) failed(new Failure('unreachable', 'the command has ended'))
    else reply.write(piece, error => (error ? failed(error) : done()))
  })
}

function asked<Question>(name: string, body: string, form: z.ZodType<Question>): Question {
  const found = form.safeParse(JSON.parse(body))
  if (found.success) return found.data
  throw new Failure('invalid', `this drive does not understand the question ${name}`)
}
