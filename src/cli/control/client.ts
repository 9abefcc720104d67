// Client of the control socket: a drive's control as if it were in this process.
import { request } from 'node:http'
import * as z from 'zod'
import {
  type CallArgument,
  type CallName,
  type CallResult,
  type Control,
  controlCalls,
} from '../../drive/interface/control.js'
import { Failure } from '../../failure.js'
import { failureForm, failureIn, longestSilence, mountHeader } from '../stream/conversation.js'

/**
 * The control of the drive that listens on this socket. Every call rejects with the drive's own Failure: 'replaced' where
 * it is not the drive meant. Sockets go by mount points, and a directory above one may have been renamed.
 * @param device the kernel's device number of the drive that is meant
 * @param onSilence makes what is thrown where the daemon does not answer, or stops answering
 */
export function controlAt(socketPath: string, device: string, onSilence: () => Promise<Error>): Control {
  const call =
    <Name extends CallName>(name: Name) =>
    async (asked: CallArgument<Name>): Promise<CallResult<Name>> =>
      readReply(name, await post({ socketPath, device }, name, JSON.stringify(asked)).catch(silent))
  const silent = async (cause: unknown): Promise<never> => {
    const thrown = await onSilence()
    thrown.cause = cause
    throw thrown
  }
  const names = Object.keys(controlCalls) as readonly CallName[]
  return Object.fromEntries(names.map(name => [name, call(name)])) as unknown as Control
}

const replyForm = z.union([z.object({ answer: z.unknown() }), z.object({ failure: failureForm })])

/** The answer in a reply. @throws Failure as it was thrown at the other end, 'broken' for an invalid reply */
function readReply<Name extends CallName>(name: Name, text: string): CallResult<Name> {
  const reply = replyForm.safeParse(jsonIn(text))
  if (!reply.success) throw otherLanguage()
  if ('failure' in reply.data) throw failureIn(reply.data.failure)
  const answer = controlCalls[name].answer.safeParse(reply.data.answer)
  if (!answer.success) throw otherLanguage()
  return answer.data as CallResult<Name>
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch (cause) {
    throw otherLanguage(cause)
  }
}

const otherLanguage = (cause?: unknown): Failure =>
  new Failure(
    'broken',
    'the drive answered in another way than this version of calcfs expects; unmount and mount it again',
    { cause },
  )

/** A save may take long, but a living daemon keeps sending signs of life. */
function post(
  { socketPath, device }: { readonly socketPath: string; readonly device: string },
  name: string,
  body: string,
): Promise<string> {
  return new Promise((answered, failed) => {
    const question = request(
      { socketPath, path: `/${name}`, method: 'POST', headers: { [mountHeader]: device } },
      reply => {
        const pieces: Buffer[] = []
        reply.on('data', piece => {
          pieces.push(piece)
          silence.refresh()
        })
        reply.on('error', failed)
        reply.on('end', () => answered(Buffer.concat(pieces).toString()))
      },
    )
    const silence = setTimeout(
      () => question.destroy(new Error(`no sign of life for ${longestSilence} ms`)),
      longestSilence,
    )
    question.on('response', () => silence.refresh())
    question.on('close', () => clearTimeout(silence))
    question.on('error', failed)
    question.end(body)
  })
}
