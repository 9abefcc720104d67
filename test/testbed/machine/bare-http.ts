// A server over bare sockets: each request is read as HTTP, and may be answered with any bytes.
import { createServer, type Socket } from 'node:net'
import type { TestLifetime } from '../testbed.js'

export interface BareRequest {
  readonly method: string
  /** Path and query. */
  readonly target: string
  /** The whole head as it came. */
  readonly head: string
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

/** Listens on a free port of 127.0.0.1 until the scope ends. */
export async function bareServer(
  scope: TestLifetime,
  heard: (request: BareRequest, socket: Socket) => void,
): Promise<{ readonly port: number; readonly connections: () => number }> {
  const sockets = new Set<Socket>()
  let connections = 0
  const server = createServer({ noDelay: true }, socket => {
    connections += 1
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => sockets.delete(socket))
    let waiting: Buffer = Buffer.alloc(0)
    socket.on('data', piece => {
      waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece])
      for (let next = requestIn(waiting); next !== undefined; next = requestIn(waiting)) {
        waiting = waiting.subarray(next.length)
        heard(next.request, socket)
      }
    })
  })
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  scope.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(closed => server.close(closed))
  })
  return { port: address.port, connections: () => connections }
}

function requestIn(bytes: Buffer): { request: BareRequest; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const head = bytes.subarray(0, end).toString('latin1')
  const [first = '', ...lines] = head.split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  const length = end + 4 + Number(headers.get('content-length') ?? 0)
  if (bytes.length < length) return undefined
  const [method = '', target = ''] = first.split(' ')
  return { request: { method, target, head, headers, body: bytes.subarray(end + 4, length) }, length }
}
