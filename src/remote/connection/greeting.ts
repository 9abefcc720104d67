// One question without a token, for diagnosis only: can the service be reached and trusted, and what time is it there?
import { type Instant, instant } from '../remote.js'
import { connectionsTo, type Reach } from './connections.js'
import { transportFailure } from './network-errors.js'

export interface Greeting {
  /** The service's clock, to the second; undefined where its answer carries no date. */
  readonly date: Instant | undefined
}

/**
 * Any answer at all is good news, a refusal too.
 * @param limit milliseconds to wait
 * @throws Failure 'unreachable', 'timeout' or 'untrusted'
 */
export async function greeting(base: URL, reach: Reach, limit: number): Promise<Greeting> {
  const pool = connectionsTo(base, reach)
  try {
    const answer = await pool.request({
      origin: base.origin,
      path: `${base.pathname}/user/info`,
      method: 'GET',
      headersTimeout: limit,
      bodyTimeout: limit,
    })
    await answer.body.dump()
    return { date: dateOf(answer.headers['date']) }
  } catch (reason) {
    throw transportFailure(reason)
  } finally {
    await pool.destroy()
  }
}

function dateOf(header: string | string[] | undefined): Instant | undefined {
  const milliseconds = typeof header === 'string' ? Date.parse(header) : Number.NaN
  return Number.isNaN(milliseconds) ? undefined : instant(milliseconds)
}
