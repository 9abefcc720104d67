// Lifetime of a token, measured by this machine's clock: a wrong clock on either side does not matter.
import { decodeJwt } from 'jose/jwt/decode'
import { Failure } from '../../failure.js'
import { foundOnce } from '../../recent-map.js'
import { type Instant, instant } from '../remote.js'

/** A token and its time of arrival; what a token store keeps. */
export interface Token {
  readonly text: string
  /** Undefined for a token that was configured ready-made. */
  readonly received?: Instant | undefined
}

/** Renewed so much before its end, but never before nine tenths of its life. */
const margin = 5 * 60_000

/** The token in the answer of a log-in: trimmed, without one pair of quotes. @throws Failure 'broken' if it is none */
export function tokenIn(answer: string, received: Instant): Token {
  const text = answer.trim().replace(/^"(.*)"$/, '$1')
  if (!/^[\x21-\x7e]{1,16384}$/.test(text) || /[<>{}[\]"]/.test(text))
    throw new Failure('broken', 'the service answered the log-in with something other than a token')
  return { text, received }
}

/** When to renew it, which every request asks; undefined if the token does not state its end, or its time of arrival is unknown. */
export const tokenRenewal = foundOnce(({ text, received }: Token): Instant | undefined => {
  const life = tokenLifetime(text)
  if (life === undefined || received === undefined) return undefined
  return instant(received + Math.max(life - margin, life * 0.9))
})

/** When it ends; undefined if the token does not state its end, or its time of arrival is unknown. */
export function tokenExpiry({ text, received }: Token): Instant | undefined {
  const life = tokenLifetime(text)
  return life === undefined || received === undefined ? undefined : instant(received + life)
}

/** When it ends, for people: of a token whose time of arrival is unknown, by the clock of the service. */
export function tokenEnd(token: Token): Instant | undefined {
  const said = jwtClaims(token.text)?.exp
  return tokenExpiry(token) ?? (said === undefined ? undefined : instant(said * 1000))
}

/** Milliseconds from its issue to its end. */
function tokenLifetime(text: string): number | undefined {
  if (text.split('.').length !== 3) return undefined
  const claims = jwtClaims(text)
  if (claims?.exp === undefined || claims.iat === undefined) return undefined
  return Math.max(0, claims.exp - claims.iat) * 1000
}

/** The service's token may have any form: one that is no JWT does not state its end. */
function jwtClaims(text: string): ReturnType<typeof decodeJwt> | undefined {
  try {
    return decodeJwt(text)
  } catch {
    return undefined
  }
}
