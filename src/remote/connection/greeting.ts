// One request without a token, for diagnosis only: whether the service is reachable and trusted, and its clock.
import { firstQuestion } from '../known-question.js'
import { isOtherServers } from '../other-server.js'
import { type Instant, instant } from '../remote.js'
import { type ConnectionOptions, openConnectionPool } from './connections.js'
import { networkFailure } from './network-errors.js'

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
    return { date: dateOf(headers['date']), isForeign }
  } catch (reason) {
    throw networkFailure(reason)
  } finally {
    await pool.destroy()
  }
}

function dateOf(header: string | string[] | undefined): Instant | undefined {
  const milliseconds = typeof header === 'string' ? Date.parse(header) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : instant(milliseconds)
}
