// Details of a refusal in addition to its status: the service's message, and the target of a redirect.

import type { Outgoing } from '../client/attempt.js'
import { collectBytes, declaredBody, type FlowControl, wholePieces } from '../connection/body.js'
import type { IncomingResponse } from '../connection/exchange.js'
import { networkFailure } from '../connection/network-errors.js'
import { redactSecrets, secretsIn } from '../secrets.js'

/** No more of an error page than this is read. */
const wordsLimit = 64 * 1024

/** The first 300 characters of a refusal. They are only for messages, so a refusal whose text gets lost keeps its kind. */
export async function refusalText(
  outgoing: Outgoing,
  response: IncomingResponse,
  flow: FlowControl,
): Promise<string | undefined> {
  try {
    const bytes = await collectBytes(wholePieces(response.bytes, declaredBody(response.headers), flow), {
      limit: wordsLimit,
      expected: undefined,
    })
    const words = redactSecrets(bytes.toString(), secretsIn(outgoing.headers['authorization'])).trim()
    return words === '' ? undefined : words.slice(0, 300)
  } catch (thrown) {
    return `(its words could not be read: ${networkFailure(thrown).message})`
  } finally {
    response.bytes.destroy()
  }
}

/** Path and query of a redirect within the service's own origin: the token never goes to another one. */
export function sameOrigin(response: IncomingResponse, from: Outgoing, base: URL): string | undefined {
  const location = response.headers['location']
  if (typeof location !== 'string') return undefined
  if (!URL.canParse(location, `${base.origin}${from.path}`)) return undefined
  const target = new URL(location, `${base.origin}${from.path}`)
  return target.origin === base.origin ? `${target.pathname}${target.search}` : undefined
}

/** The target of a redirect, without path and query: these may hold anything. */
export const originOf = (location: unknown): string =>
  typeof location === 'string' && URL.canParse(location) ? new URL(location).origin : 'another place'
