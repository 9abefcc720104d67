// Connections to the service by what they are for, kept alive, through a proxy where the environment names one; renewed, what is idle goes and what is under way ends where it is.

import { rootCertificates } from 'node:tls'
import connect from 'undici/lib/api/api-connect.js'
import request from 'undici/lib/api/api-request.js'
import Agent from 'undici/lib/dispatcher/agent.js'
import Dispatcher from 'undici/lib/dispatcher/dispatcher.js'
import EnvHttpProxyAgent from 'undici/lib/dispatcher/env-http-proxy-agent.js'
import { Failure } from '../../failure.js'
import { firstQuestion } from '../known-question.js'
import { dateOf, type Instant } from '../remote.js'
import { isLoopback } from './address.js'
import { isOtherServers, networkFailure } from './network-errors.js'

// As undici's index does it: the agent for a proxy calls the first, the probe of a server the second.
Dispatcher.prototype.connect = connect
Dispatcher.prototype.request = request

export interface ConnectionOptions {
  /** How many connections at most. */
  readonly connections: number
  /** Certificates in PEM to trust in addition to the usual ones: many instances have a private authority. */
  readonly authority?: string | undefined
  /** Each request gets a new connection, which says whether the service can be reached now. */
  readonly alwaysNew?: boolean
}

/** Long enough for a slow link, short enough that a dead address is known before a save's deadline. */
const connectTimeout = 8_000

/** Milliseconds without a packet after which the kernel asks once a second whether the far end is there: a far end that is gone ends the connection. */
const keepAliveAfter = 2_000

/** The connection pool for this base address. An address of this machine is never reached through a proxy. */
export function openConnectionPool(base: URL, reach: ConnectionOptions): Dispatcher {
  const ca = reach.authority === undefined ? {} : { ca: [...rootCertificates, reach.authority] }
  const shared = {
    // In addition to the places, for questions that are sent once more.
    connections: reach.connections + 2,
    // 0: no connection is kept.
    pipelining: reach.alwaysNew ? 0 : 1,
    connect: { ...ca, timeout: connectTimeout, keepAliveInitialDelay: keepAliveAfter },
    // Deadlines are the question's own, counted by `remote/http/http.ts`.
    headersTimeout: 0,
    bodyTimeout: 0,
  }
  return isLoopback(base) ? new Agent(shared) : throughProxy({ ...shared, requestTls: shared.connect })
}

function throughProxy(options: EnvHttpProxyAgent.Options): Dispatcher {
  try {
    return new EnvHttpProxyAgent(options)
  } catch (cause) {
    throw new Failure('refused', 'HTTPS_PROXY or HTTP_PROXY holds no address like http://proxy:3128', {
      cause,
    })
  }
}

type Pool = Pick<Dispatcher, 'dispatch'>

export interface ServiceConnections {
  readonly requests: Pool
  /** Extra bytes after an answer to HEAD (a body, a second head) would be taken for the next answer on its connection. */
  readonly heads: Pool
  /** Each on a new connection, which says whether the service can be reached now. */
  readonly probes: Pool
  renew(): void
  destroy(): Promise<void>
}

/** @param extra connections beside those of the options, for changes whose answers are late */
export function openServiceConnections(
  base: URL,
  options: ConnectionOptions,
  extra: number,
): ServiceConnections {
  const requests = renewable(() =>
    openConnectionPool(base, { ...options, connections: options.connections + extra }),
  )
  const heads = renewable(() => openConnectionPool(base, options))
  const probes = openConnectionPool(base, { ...options, alwaysNew: true })
  return {
    requests,
    heads,
    probes,
    renew() {
      requests.renew()
      heads.renew()
    },
    destroy: async () => void (await Promise.all([requests, heads, probes].map(pool => pool.destroy()))),
  }
}

function renewable(open: () => Dispatcher): Pool & Pick<ServiceConnections, 'renew' | 'destroy'> {
  let current = open()
  const former = new Set<Dispatcher>()
  return {
    dispatch: (options, handler) => current.dispatch(options, handler),
    renew() {
      const old = current
      current = open()
      former.add(old)
      old
        .close()
        .catch(() => {})
        .finally(() => former.delete(old))
    },
    async destroy() {
      await Promise.all([current, ...former].map(pool => pool.destroy()))
    },
  }
}

export interface ServerProbe {
  /** The service's clock, to the second; undefined where its answer carries no date. */
  readonly date: Instant | undefined
  /** A page or a redirect, as no platform answers: another server in its place. */
  readonly isForeign: boolean
}

/**
 * Any answer at all proves that the service is reachable, a refusal too.
 * @param limit milliseconds to wait
 * @throws Failure 'unreachable', 'timeout' or 'untrusted'
 */
export async function probeServer(base: URL, reach: ConnectionOptions, limit: number): Promise<ServerProbe> {
  const pool = openConnectionPool(base, reach)
  try {
    const answer = await pool.request({
      origin: base.origin,
      path: `${base.pathname}${firstQuestion}`,
      method: 'GET',
      headersTimeout: limit,
      bodyTimeout: limit,
    })
    await answer.body.dump()
    const { statusCode, headers } = answer
    const isPage = statusCode === 200 && /html/i.test(String(headers['content-type'] ?? ''))
    const isForeign = isPage || isOtherServers(statusCode)
    return { date: dateOf({ tag: undefined, modified: String(headers['date']) }), isForeign }
  } catch (reason) {
    throw networkFailure(reason)
  } finally {
    await pool.destroy()
  }
}
