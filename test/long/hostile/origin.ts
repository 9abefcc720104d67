// A service over bare sockets, which may answer any request with any bytes; it writes down what it was asked and what it claimed.
import { createServer, type Server, type Socket } from 'node:net'
import type { TestLifetime } from '../../testbed/testbed.js'
import { type Answer, play, type Wire, wireOf } from './answer.js'

export interface Asked {
  readonly method: string
  /** Below the base, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: ReadonlyMap<string, string>
  readonly body: string
}

/** Changes the bytes of an answer before they go out; undefined leaves the connection silent. */
export type Spoil = (wire: Wire, answer: Answer, asked: Asked) => Wire

export interface Origin {
  readonly url: string
  /** Asked for every request; what it gives is what goes out. */
  answer: (asked: Asked) => { readonly answer: Answer; readonly intercept: Spoil | undefined }
  /** Ends every connection on which an answer is still on its way: a body that drips would do so for hours. */
  endAnswers(): void
}

const base = '/create/rest'

/** Listens on a free port of 127.0.0.1 until the scope ends. */
export async function openOrigin(scope: TestLifetime, answer: Origin['answer']): Promise<Origin> {
  const sockets = new Set<Socket>()
  const answering = new Set<Socket>()
  const server = createServer({ noDelay: true }, socket => {
    sockets.add(socket)
    socket.on('error', () => {})
    socket.on('close', () => {
      sockets.delete(socket)
      answering.delete(socket)
    })
    let waiting: Buffer = Buffer.alloc(0)
    let busy: Promise<void> = Promise.resolve()
    socket.on('data', piece => {
      waiting = waiting.length === 0 ? piece : Buffer.concat([waiting, piece])
      for (let next = requestIn(waiting); next !== undefined; next = requestIn(waiting)) {
        waiting = waiting.subarray(next.length)
        const { request } = next
        busy = busy.then(async () => {
          const { answer, intercept } = origin.answer(request)
          const proper = wireOf(answer, request.method === 'HEAD')
          answering.add(socket)
          await play(socket, intercept === undefined ? proper : intercept(proper, answer, request))
          answering.delete(socket)
        })
        busy.catch(() => socket.destroy())
      }
    })
  })
  const port = await listening(server)
  const origin: Origin = {
    url: `http://127.0.0.1:${port}${base}`,
    answer,
    endAnswers() {
      for (const socket of answering) socket.destroy()
    },
  }
  scope.teardown(async () => {
    for (const socket of sockets) socket.destroy()
    await new Promise(closed => server.close(closed))
  })
  return origin
}

export interface Elsewhere {
  readonly url: string
  /** The first bytes of every connection. */
  readonly heard: readonly string[]
}

/** Another origin, which nothing should ever connect to. */
export async function openElsewhere(scope: TestLifetime): Promise<Elsewhere> {
  const heard: string[] = []
  const server = createServer(socket => {
    const at = heard.push('') - 1
    socket.on('error', () => {})
    socket.on('data', piece => {
      heard[at] += piece.toString('latin1').slice(0, 500)
      socket.end('HTTP/1.1 200 OK\r\nContent-Length: 3\r\n\r\nbad')
    })
  })
  const port = await listening(server)
  scope.teardown(() => new Promise(closed => server.close(closed)))
  return { url: `http://127.0.0.1:${port}`, heard }
}

async function listening(server: Server): Promise<number> {
  await new Promise<void>(ready => server.listen(0, '127.0.0.1', ready))
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

function requestIn(bytes: Buffer): { request: Asked; length: number } | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end === -1) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const headers = new Map<string, string>()
  for (const line of lines) {
    const colon = line.indexOf(':')
    headers.set(line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim())
  }
  const length = end + 4 + Number(headers.get('content-length') ?? 0)
  if (bytes.length < length) return undefined
  const [method = '', target = ''] = first.split(' ')
  const url = new URL(target, 'http://origin')
  return {
    request: {
      method,
      path: url.pathname.startsWith(base) ? url.pathname.slice(base.length) : url.pathname,
      query: url.searchParams,
      headers,
      body: bytes.subarray(end + 4, length).toString(),
    },
    length,
  }
}
