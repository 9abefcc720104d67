// The command line's end: a drive's control through its socket, as if it were in this process.
import { request } from 'node:http'
import type { Answered, Asked, CallName, Control } from '../drive/control.js'
import { Failure } from '../failure.js'
import { printQuestion, readReply } from './control-protocol.js'

/** Milliseconds; a save has a deadline of its own in the daemon, and this is later than any of them. */
const answerLimit = 600_000

/** The drive that listens on this socket. Every call rejects with the drive's own Failure. */
export function controlAt(socketPath: string): Control {
  const call =
    <Name extends CallName>(name: Name) =>
    async (asked: Asked<Name>): Promise<Answered<Name>> =>
      readReply(name, await post(socketPath, name, printQuestion(asked)))
  return {
    why: call('why'),
    refresh: call('refresh'),
    drafts: call('drafts'),
    show: call('show'),
    diff: call('diff'),
    send: call('send'),
    drop: call('drop'),
    addReport: call('addReport'),
    setReport: call('setReport'),
    renumber: call('renumber'),
  }
}

function post(socketPath: string, name: string, body: string): Promise<string> {
  return new Promise((answered, failed) => {
    const fail = (cause: unknown) =>
      failed(
        new Failure('unreachable', `the daemon of this drive does not answer (${socketPath})`, { cause }),
      )
    const question = request(
      { socketPath, path: `/${name}`, method: 'POST', signal: AbortSignal.timeout(answerLimit) },
      reply => {
        const pieces: Buffer[] = []
        reply.on('data', piece => pieces.push(piece))
        reply.on('error', fail)
        reply.on('end', () => answered(Buffer.concat(pieces).toString()))
      },
    )
    question.on('error', fail)
    question.end(body)
  })
}
