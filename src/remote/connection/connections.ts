// Connections to the service, kept alive, through a proxy where the environment names one; renewing them closes the idle ones and lets requests under way end.
import { subscribe } from 'node:diagnostics_channel'
import type { Socket } from 'node:net'
import { createSecureContext, rootCertificates } from 'node:tls'
import connect from 'undici/lib/api/api-connect.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import { Failure } from '../../failure.js'
import { lendMemory } from '../../lent-memory.js'
import { foundOnce } from '../../recent-map.js'
import type { Clock } from '../clock.js'
import { firstQuestion } from '../known-question.js'
import { dateOf, type Instant } from '../remote.js'
import { isLoopback } from './address.js'
import { Exchange, type Head } from './exchange.js'
import { isOtherServers, networkFailure } from './network-errors.js'

// As undici's index does it: the agent for a proxy calls it.
Dispatcher.prototype.connect = connect

// undici takes a reset, by its code, for the end of a body without a length: a cut one would be whole.
subscribe('undici:client:connected', message => {
  const { socket } = message as { socket: Socket }
  socket.prependListener('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'ECONNRESET') error.code = 'ECONNABORTED'
  })
})

export interface ConnectionOptions {
  /** How many connections at most. */
  readonly connections: number
  /** Certificates in PEM to trust in addition to the usual ones: many instances have a private authority. */
  readonly authority?: string | undefined
}

export interface WireRequest {
  readonly method: string
  /** Path and query. */
  readonly path: string
  /** Names and values by turns. */
  readonly headers: readonly string[]
  readonly body: string | undefined
}

/** Long enough for a slow link, short enough that a dead address is known before a save's deadline. */
const connectTimeout = 8_000
/** Milliseconds without a packet after which the kernel asks once a second whether the far end is there: a far end that is gone ends the connection. */
const keepAliveAfter = 2_000
/** Milliseconds before the connection of a probe is abandoned. */
const probeLimit = 10_000
/** So many changes whose answers are late keep their connections. */
export const lateAtMost = 8
/** Milliseconds between two times that all connections are replaced by new ones. */
const renewEvery = 1_000

/** All connections read into one buffer, which is copied out at once: Node's own 64 KiB for each read are garbage soon. */
const intoOneBuffer = {
  buffer: Buffer.allocUnsafeSlow(128 << 10),
  callback(this: Socket, bytes: number, buffer: Buffer): boolean {
    const piece = lendMemory(bytes)
    piece.set(buffer.subarray(0, bytes))
    return this.push(piece)
  },
}

/** Once for all: each connection would parse all certificates again, in 20 ms and into a megabyte. */
const trusting = foundOnce(({ authority: own }: ConnectionOptions) =>
  own === undefined ? {} : { secureContext: createSecureContext({ ca: [...rootCertificates, own] }) },
)

/** For this base address. An address of this machine is never reached through a proxy. `keeps`: a connection is used again. */
function openPool(base: URL, options: ConnectionOptions, keeps: boolean): Dispatcher {
  const shared = {
    // In addition to the places, for changes whose answers are late, and for questions that are sent once more.
    connections: options.connections + lateAtMost + 2,
    pipelining: keeps ? 1 : 0,
    connect: {
      ...trusting(options),
      onread: intoOneBuffer,
      timeout: connectTimeout,
      keepAliveInitialDelay: keepAliveAfter,
    },
    // Deadlines are the request's own.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  if (isLoopback(base)) return new Agent(shared)
  try {
    return new EnvHttpProxyAgent({ ...shared, requestTls: shared.connect })
  } catch (cause) {
    const sentence = 'HTTPS_PROXY or HTTP_PROXY holds no address like http://proxy:3128'
    throw new Failure('refused', sentence, { cause })
  }
}

export class ServiceConnections {
  #requests: Dispatcher
  /** Extra bytes after an answer to HEAD (a body, a second head) would be taken for the next answer on its connection. */
  #heads: Dispatcher
  /** Each on a new connection, which says whether the service can be reached now. */
  readonly #probes: Dispatcher
  readonly #former = new Set<Dispatcher>()
  #renewedAt = Number.NEGATIVE_INFINITY

  constructor(
    private readonly base: URL,
    private readonly options: ConnectionOptions,
    private readonly clock: Clock,
  ) {
    this.#requests = openPool(base, options, true)
    this.#heads = openPool(base, options, true)
    this.#probes = openPool(base, options, false)
  }

  send({ method, path, headers, body }: WireRequest, exchange: Exchange, on?: Dispatcher): void {
    const pool = on ?? (method === 'HEAD' ? this.#heads : this.#requests)
    // undici closes the connection after a HEAD unless `reset` is false.
    const options = { origin: this.base.origin, path, method, headers, body: body ?? null, reset: false }
    pool.dispatch(options as Dispatcher.DispatchOptions, exchange)
  }

  /** The head of any answer that came to its end, on a new connection. @throws Failure, 'timeout' after so many milliseconds */
  probe(path: string, headers: readonly string[], limit = probeLimit): Promise<Head> {
    return new Promise((resolve, reject) => {
      let answer: Head | undefined
      const listener = {
        head(head: Head) {
          answer = head
        },
        piece() {},
        ended() {
          callOff()
          if (answer !== undefined) resolve(answer)
        },
        failed(reason: Error) {
          callOff()
          reject(networkFailure(reason))
        },
      }
      const exchange = new Exchange(listener, this.clock.now())
      const silence = (): void => exchange.abort(new Failure('timeout', 'the probe was not answered'))
      const callOff = this.clock.after(limit, silence)
      this.send({ method: 'GET', path, headers, body: undefined }, exchange, this.#probes)
    })
  }

  /** Idle connections go: they may lead nowhere. */
  renew(): void {
    if (this.clock.now() < this.#renewedAt + renewEvery) return
    this.#renewedAt = this.clock.now()
    for (const old of [this.#requests, this.#heads]) {
      this.#former.add(old)
      const gone = (): boolean => this.#former.delete(old)
      old.close().then(gone, gone)
    }
    this.#requests = openPool(this.base, this.options, true)
    this.#heads = openPool(this.base, this.options, true)
  }

  async destroy(): Promise<void> {
    const all = [this.#requests, this.#heads, this.#probes, ...this.#former]
    await Promise.all(all.map(pool => pool.destroy()))
  }
}

export const pathBelow = (base: URL, path: string): string => `${base.pathname.replace(/\/$/, '')}${path}`

interface ServerProbe {
  /** The service's clock, to the second; undefined where its answer carries no date. */
  readonly date: Instant | undefined
  /** A page or a redirect, as no platform answers: another server in its place. */
  readonly isForeign: boolean
}

/** Any answer at all proves that the service is reachable, a refusal too; `limit` is in milliseconds. @throws Failure 'unreachable', 'timeout' or 'untrusted' */
export async function probeServer(
  base: URL,
  { options, clock, limit }: { options: ConnectionOptions; clock: Clock; limit: number },
): Promise<ServerProbe> {
  const connections = new ServiceConnections(base, options, clock)
  try {
    const { status, headers } = await connections.probe(pathBelow(base, firstQuestion), [], limit)
    const isPage = status === 200 && /html/i.test(String(headers['content-type'] ?? ''))
    const isForeign = isPage || isOtherServers(status)
    return { date: dateOf({ tag: undefined, modified: String(headers['date']) }), isForeign }
  } finally {
    await connections.destroy()
  }
}
