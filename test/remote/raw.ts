// A service that answers byte for byte as a test says: malformed answers that a proper server cannot send.
import type { Socket } from 'node:net'
import type { Test } from 'tap'
import type { ClientOptions } from '../../src/remote/client/client.js'
import { openHttp } from '../../src/remote/http/http.js'
import { instant, type RequestContext } from '../../src/remote/remote.js'
import { bareServer } from '../testbed/machine/bare-http.js'

export interface Heard {
  readonly method: string
  readonly path: string
  /** The whole head as it came. */
  readonly head: string
  readonly body: string
}
/** A text is written as it is; a function does what it likes with the connection. */
export type Reply = string | Buffer | ((socket: Socket) => void)

export const ask = (milliseconds = 5000, priority: RequestContext['priority'] = 'user'): RequestContext => ({
  deadline: instant(Date.now() + milliseconds),
  priority,
})

/** A proper answer with its length. */
export const whole = (body: string, more = ''): string =>
  `HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n${more}Content-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`

/** Starts it on a free port of 127.0.0.1; `reply` gets each request and its number, from 0. */
export async function rawService(
  t: Test,
  reply: (request: Heard, number: number) => Reply,
  options: Partial<ClientOptions> = {},
) {
  const heard: Heard[] = []
  const { port, connections } = await bareServer(t, ({ method, target, head, body }, socket) => {
    const request = { method, path: target, head, body: body.toString('latin1') }
    const answer = reply(request, heard.push(request) - 1)
    if (typeof answer === 'function') answer(socket)
    else socket.write(answer)
  })
  const url = `http://127.0.0.1:${port}/create/rest`
  /** An HTTP port of this service, closed at the end of the test. */
  const asked = openHttp({ base: new URL(url), connections: 4, ...options })
  t.teardown(() => asked.client.close())
  return { url, heard, connections, asked }
}
