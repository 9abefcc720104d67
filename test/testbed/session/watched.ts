// What a drive answers to those who watch it, over its control socket.
import { once } from 'node:events'
import { type IncomingMessage, request } from 'node:http'
import { text } from 'node:stream/consumers'
import { type Testbed, textOf } from '../testbed.js'

export async function watched(testbed: Testbed, what: 'metrics' | 'healthz') {
  const { control } = JSON.parse(await textOf(testbed, '.calcfs/status.json'))
  const question = request({ socketPath: control, path: `/${what}`, agent: false }).end()
  const [answer]: IncomingMessage[] = await once(question, 'response')
  if (answer === undefined) throw new Error('no answer')
  return { status: answer.statusCode, text: await text(answer) }
}
