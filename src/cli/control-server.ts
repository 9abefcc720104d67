// The daemon's end of the command line: HTTP on a private socket, one POST a question.
import { rm } from 'node:fs/promises'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { Answered, Asked, CallName, Control } from '../drive/control.js'
import { asFailure, Failure } from '../failure.js'
import { forms, isCall, printAnswer, printFailure } from './control-protocol.js'

export interface ControlServer {
  /** Answers what was asked before, and takes the socket away. */
  close(): Promise<void>
}

/** No question is longer, in bytes: names, paths and lists of ids. */
const longestQuestion = 4 * 1024 * 1024

/** Listens on this path; a socket that a killed daemon left there goes. */
export async function serveControl(path: string, control: Control): Promise<ControlServer> {
  await rm(path, { force: true })
  const server = createServer((question, reply) => {
    answered(question, control).then(
      text => end(reply, text),
      (thrown: unknown) => end(reply, printFailure(asFailure(thrown))),
    )
  })
  await new Promise<void>((listening, failed) => {
    server.once('error', failed)
    server.listen(path, listening)
  })
  // The mount keeps the daemon alive, not its socket.
  server.unref()
  return {
    async close() {
      await new Promise<void>(closed => {
        server.close(() => closed())
        server.closeIdleConnections()
      })
      await rm(path, { force: true })
    },
  }
}

function end(reply: ServerResponse, text: string): void {
  reply.writeHead(200, { 'content-type': 'application/json', connection: 'close' })
  reply.end(text)
}

async function answered(question: IncomingMessage, control: Control): Promise<string> {
  const name = (question.url ?? '').slice(1)
  if (question.method !== 'POST' || !isCall(name))
    throw new Failure('unsupported', `this drive cannot be asked for ${JSON.stringify(name)}`)
  return printAnswer(await call(name, await bodyOf(question), control))
}

async function call<Name extends CallName>(
  name: Name,
  body: string,
  control: Control,
): Promise<Answered<Name>> {
  const asked = forms[name].ask.safeParse(JSON.parse(body))
  if (!asked.success) throw new Failure('invalid', `this drive does not understand the question ${name}`)
  const answer: (asked: Asked<Name>) => Promise<Answered<Name>> = control[name]
  return answer(asked.data)
}

async function bodyOf(question: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  let size = 0
  for await (const piece of question) {
    size += piece.length
    if (size > longestQuestion) throw new Failure('too-large', 'this question is too long')
    pieces.push(piece)
  }
  return Buffer.concat(pieces).toString()
}
