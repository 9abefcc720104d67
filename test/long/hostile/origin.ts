// A service over bare sockets, which may answer any request with any bytes; it writes down what it was asked and what it claimed.
import type { Socket } from 'node:net'
import { bareServer } from '../../testbed/machine/bare-http.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import { type Answer, play, type Wire, wireOf } from './answer.js'

export interface Asked {
  readonly method: string
  /** Below the base, without the query. */
  readonly path: string
  readonly query: URLSearchParams
  readonly headers: ReadonlyMap<string, string>
}

/** Changes the bytes of an answer before they go out; undefined leaves the connection silent. */
export type Spoil = (wire: Wire, answer: Answer, asked: Asked) => Wire

const base = '/create/rest'

/** Listens until the scope ends. `answer` is asked for every request; what it gives is what goes out. */
export async function openOrigin(
  scope: TestLifetime,
  answer: (asked: Asked) => { readonly answer: Answer; readonly intercept: Spoil | undefined },
) {
  const answering = new Set<Socket>()
  /** One answer after another on each connection. */
  const busy = new WeakMap<Socket, Promise<void>>()
  const { port } = await bareServer(scope, ({ method, target, headers }, socket) => {
    const url = new URL(target, 'http://origin')
    const path = url.pathname.startsWith(base) ? url.pathname.slice(base.length) : url.pathname
    const request = { method, path, query: url.searchParams, headers }
    const done = (busy.get(socket) ?? Promise.resolve()).then(async () => {
      const { answer: said, intercept } = answer(request)
      const proper = wireOf(said, method === 'HEAD')
      answering.add(socket)
      await play(socket, intercept === undefined ? proper : intercept(proper, said, request))
      answering.delete(socket)
    })
    busy.set(socket, done)
    done.catch(() => socket.destroy())
  })
  return {
    url: `http://127.0.0.1:${port}${base}`,
    /** Ends every connection on which an answer is still on its way: a body that drips would do so for hours. */
    endAnswers() {
      for (const socket of answering) socket.destroy()
    },
  }
}
