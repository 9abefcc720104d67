// Client of the control socket: a drive's control as if it were in this process.
import { request } from 'node:http'
import type { CallArgument, CallName, CallResult, Control } from '../../drive/interface/control.js'
import { longestSilence, mountHeader, printQuestion } from '../stream/conversation.js'
import { readReply } from './protocol.js'

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
      readReply(name, await post({ socketPath, device }, name, printQuestion(asked)).catch(silent))
  const silent = async (cause: unknown): Promise<never> => {
    const thrown = await onSilence()
    thrown.cause = cause
    throw thrown
  }
  return {
    status: call('status'),
    why: call('why'),
    refresh: call('refresh'),
    drafts: call('drafts'),
    places: call('places'),
    show: call('show'),
    diff: call('diff'),
    send: call('send'),
    drop: call('drop'),
    history: call('history'),
    historyText: call('historyText'),
    restore: call('restore'),
    cacheInfo: call('cacheInfo'),
    cacheClear: call('cacheClear'),
    cacheVerify: call('cacheVerify'),
    activity: call('activity'),
    metrics: call('metrics'),
    health: call('health'),
    log: call('log'),
    info: call('info'),
    resolve: call('resolve'),
    pin: call('pin'),
    unpin: call('unpin'),
    pins: call('pins'),
    fleet: call('fleet'),
    fleetClear: call('fleetClear'),
    addReport: call('addReport'),
    setReport: call('setReport'),
    renumber: call('renumber'),
    deletion: call('deletion'),
    delete: call('delete'),
  }
}

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
