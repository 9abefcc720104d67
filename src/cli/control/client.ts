// Client of the control calls: a drive's control as if it were in this process.
import * as z from 'zod'
import {
  type CallArgument,
  type CallName,
  type CallResult,
  type Control,
  controlCalls,
} from '../../drive/interface/control.js'
import { Failure } from '../../failure.js'
import { framesOf, type Listener, Patience } from '../stream/stream-client.js'
import { inForm } from '../stream/stream-protocol.js'

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
