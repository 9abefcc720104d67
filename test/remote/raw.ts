// A service that answers byte for byte as a test says: malformed answers that a proper server cannot send.
import { createServer, type Socket } from 'node:net'
import type { Test } from 'tap'
import type { ClientOptions } from '../../src/remote/client/client.js'
import { openHttp } from '../../src/remote/http/http.js'
import { instant, type RequestContext } from '../../src/remote/remote.js'

export interface Heard {
  readonly method: string
  readonly path: string
  /** The whole head as it came. */
  readonly head: string
  readonly body: string
}
/** A text is written as it is; a function does what it likes with the connection. */
export type Reply = string | Buffer | ((socket: Socket) => void)

export interface RawService {
  readonly url: string
  readonly heard: readonly Heard[]
  readonly connections: () => number
  /** An HTTP port of this service, closed at the end of the test. */
  readonly asked: ReturnType<typeof openHttp>
}

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
): Promise<RawService> {
  const heard: Heard[] = []
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer(socket => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let waiting = ''
    socket.on('data', piece => {
      waiting += piece.toString('latin1')
      for (let next = requestIn(waiting); next !== undefined; next = requestIn(waiting)) {
        waiting = waiting.slice(next.length)
        const answer = reply(next.request, heard.push(next.request) - 1)
        if (typeof answer === 'function') answer(socket)
        else socket.write(answer)
      }
    })
  })
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('the raw service has no port')
  const url = `http://127.0.0.1:${address.port}/create/rest`
  const asked = openHttp({ base: new URL(url), connections: 4, ...options })
  t.teardown(async () => {
    await asked.client.close()
    for (const socket of sockets) socket.destroy()
    await new Promise(resolve => server.close(resolve))
  })
  return { url, heard, connections: () => connections, asked }
}

function requestIn(text: string): { request: Heard; length: number } | undefined {
  const end = text.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = text.slice(0, end)
  const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? '0')
  if (text.length < end + 4 + length) return undefined
  const [method = '', path = ''] = head.split(' ')
  return {
    request: { method, path, head, body: text.slice(end + 4, end + 4 + length) },
    length: end + 4 + length,
  }
}
