// What stands between a drive and its service in tests: it counts, spoils and cuts what passes, and can be away.
import {
  Agent,
  createServer,
  type IncomingHttpHeaders,
  type IncomingMessage,
  request,
  type Server,
  type ServerResponse,
} from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { gate } from './within.js'

/** One request as it arrived, without the base path: `PUT /report/calculations`. */
export interface ReceivedRequest {
  readonly method: string
  /** Path and query below the base. */
  readonly path: string
  readonly body: string
}

/** Answers in the service's place, or spoils the service's own answer. */
export type Interceptor = (response: ServerResponse, passing: InterceptedRequest) => void | Promise<void>

/** A request on its way. */
export interface InterceptedRequest {
  readonly heard: ReceivedRequest
  readonly headers?: IncomingHttpHeaders
  /** The service carries it out; its answer is kept back until the function that comes of it is called. */
  carryOut(): Promise<() => void>
}

type Body = string | Buffer
type Said = Body | ((heard: ReceivedRequest) => Body | Promise<Body>)

export interface Held {
  /** Resolves once the first of them waits. */
  readonly met: Promise<void>
  /** None that comes later waits. */
  letOthers(): void
  /** All go on, and none that comes later waits. */
  open(): void
}

export type TestProxy = Awaited<ReturnType<typeof openTestProxy>>

const base = '/create/rest'

/** A front for the service that listens on `port`. */
export async function openTestProxy(first: number) {
  let port = first
  const heard: ReceivedRequest[] = []
  let spoilers: readonly { which: RegExp; how: Interceptor }[] = []
  const rewriters: { which: RegExp; change: (body: string) => string }[] = []
  const agent = new Agent({ keepAlive: true, timeout: 5_000 })
  let server: Server = createServer()
  const sockets = new Set<Socket>()

  async function pass(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const body = await bodyOf(incoming)
    const { method = '', url = '' } = incoming
    const path = url.slice(base.length)
    const one = { method, path, body: body.toString() }
    heard.push(one)
    const spoiler = spoilers.find(({ which }) => which.test(`${method} ${path}`))
    const rewriter = rewriters.find(({ which }) => which.test(`${method} ${path}`))
    const sent = rewriter === undefined ? body : Buffer.from(rewriter.change(body.toString()))
    const carryOut = () => forward(incoming, sent, response)
    if (spoiler !== undefined)
      return spoiler.how(response, { heard: one, headers: incoming.headers, carryOut })
    const passOn = await carryOut()
    passOn()
  }

  function forward(incoming: IncomingMessage, body: Buffer, response: ServerResponse): Promise<() => void> {
    const { method, url } = incoming
    const length = incoming.headers['content-length'] === undefined ? {} : { 'content-length': body.length }
    const headers = { ...incoming.headers, ...length }
    return new Promise((answered, failed) => {
      const onward = request({ host: '127.0.0.1', port, method, path: url, headers, agent }, answer =>
        answered(() => {
          response.writeHead(answer.statusCode ?? 502, answer.headers)
          answer.pipe(response)
        }),
      )
      onward.on('error', cause => {
        // The service has ended the idle connection in that moment.
        if (onward.reusedSocket && 'code' in cause && cause.code === 'ECONNRESET')
          return forward(incoming, body, response).then(answered, failed)
        response.destroy()
        failed(cause)
      })
      onward.end(body)
    })
  }

  async function listen(at: number): Promise<number> {
    server = createServer((incoming, response) => {
      pass(incoming, response).catch(() => response.destroy())
    })
    server.on('connection', socket => {
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    })
    await new Promise<void>(listening => server.listen(at, '127.0.0.1', listening))
    return (server.address() as AddressInfo).port
  }

  /** Connections are refused until `back`. */
  async function leave(): Promise<void> {
    const closed = new Promise(ended => server.close(ended))
    const cut = (): void => {
      for (const socket of sockets) socket.destroy()
    }
    cut()
    // A connection accepted at this very moment would be waited for, without an answer.
    const closing = setInterval(cut, 20)
    await closed.finally(() => clearInterval(closing))
  }

  const own = await listen(0)
  /** From now on the requests that match `METHOD /path` are answered so; undoes it when called. */
  function intercept(which: RegExp, how: Interceptor): () => void {
    const spoiler = { which, how }
    spoilers = [spoiler, ...spoilers]
    return () => {
      spoilers = spoilers.filter(one => one !== spoiler)
    }
  }

  /**
   * These requests are carried out, and answered once this is done, or after so many milliseconds. Undoes it when called, with
   * what the work has begun and gives to undo.
   */
  function beforeAnswer(which: RegExp, work: number | (() => unknown), isLost?: 'lost'): () => void {
    const begun: unknown[] = []
    const mend = intercept(which, async (response, { carryOut }) => {
      const passOn = await carryOut()
      begun.push(await (typeof work === 'number' ? new Promise(wake => setTimeout(wake, work)) : work()))
      if (isLost) response.destroy()
      else passOn()
    })
    return () => {
      mend()
      for (const undo of begun) if (typeof undo === 'function') undo()
    }
  }

  const instead =
    (type: string) =>
    (which: RegExp, said: Said, status = 200): (() => void) =>
      intercept(which, async (response, { heard }) => {
        const text = typeof said === 'function' ? await said(heard) : said
        response.writeHead(status, { 'content-type': type }).end(text)
      })

  return {
    url: `http://127.0.0.1:${own}${base}`,
    heard: heard as readonly ReceivedRequest[],
    intercept,
    /** These requests are refused. Undoes it when called. */
    refuse: (which: RegExp, status: number, said?: string): (() => void) =>
      intercept(which, response => void response.writeHead(status).end(said)),
    /** These requests are answered with this JSON in the service's place. Undoes it when called. */
    answer: instead('application/json'),
    /** These requests are answered with a web page, as by a portal or a gateway. Undoes it when called. */
    page: instead('text/html'),
    /** These requests wait until it is opened: before the service has them, or with their answer. */
    hold(which: RegExp, what: 'request' | 'answer' = 'answer'): Held {
      const [met, passed] = [gate(), gate()]
      const mend = intercept(which, async (_, { carryOut }) => {
        const answer = what === 'answer' ? await carryOut() : undefined
        met.open()
        await passed.opened
        const passOn = answer ?? (await carryOut())
        passOn()
      })
      return {
        met: met.opened,
        letOthers: mend,
        open() {
          mend()
          passed.open()
        },
      }
    },
    beforeAnswer,
    /** The bodies of these requests reach the service changed: as if it tidied them itself. Undoes it when called. */
    rewrite(which: RegExp, change: (body: string) => string): () => void {
      const rewriter = { which, change }
      rewriters.unshift(rewriter)
      return () => rewriters.splice(rewriters.indexOf(rewriter), 1)
    },
    /** These requests are carried out, and the line breaks before their answer. Undoes it when called. */
    lose: (which: RegExp, meanwhile: () => unknown = () => undefined): (() => void) =>
      beforeAnswer(which, meanwhile, 'lost'),
    /** From now on another service stands behind it. */
    turnTo(other: number): void {
      port = other
    },
    leave,
    /** For good, with the answers of the service that were never passed on: their connections would keep the process. */
    async end(): Promise<void> {
      try {
        await leave()
      } finally {
        agent.destroy()
      }
    },
    back: async (): Promise<void> => {
      await listen(own)
    },
  }
}

async function bodyOf(incoming: IncomingMessage): Promise<Buffer> {
  const pieces: Buffer[] = []
  for await (const piece of incoming) pieces.push(piece)
  return Buffer.concat(pieces)
}
