// Bearer tokens: JSON Web Tokens signed with a secret next to the database.
import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'

export interface TokenTerms {
  readonly secret: Uint8Array
  readonly lifetimeSeconds: number
  /** Milliseconds since 1970. */
  readonly now: () => number
}

/** Tokens whose signature was found to be right: a client sends the same one with each of its requests. */
const verifiedTokens = 100

export function tokens({ secret, lifetimeSeconds, now }: TokenTerms) {
  const verified = new LRUCache<string, { readonly holder: string; readonly expires: number }>({
    max: verifiedTokens,
  })
  return {
    issue(userId: string): Promise<string> {
      const issued = Math.floor(now() / 1000)
      return new SignJWT()
        .setProtectedHeader({ alg: 'HS256', typ: 'JWT' })
        .setSubject(userId)
        .setIssuedAt(issued)
        .setExpirationTime(issued + lifetimeSeconds)
        .sign(secret)
    },
    /** The user id a token was issued for; undefined for one that is forged, damaged or expired. */
    async holder(token: string): Promise<string | undefined> {
      const known = verified.get(token)
      if (known !== undefined) return known.expires > Math.floor(now() / 1000) ? known.holder : undefined
      try {
        const { payload } = await jwtVerify(token, secret, {
          algorithms: ['HS256'],
          requiredClaims: ['sub', 'exp'],
          currentDate: new Date(now()),
        })
        const { sub, exp } = payload
        if (sub !== undefined && exp !== undefined) verified.set(token, { holder: sub, expires: exp })
        return sub
      } catch (error) {
        if (error instanceof errors.JOSEError) return undefined
        throw error
      }
    },
  }
}

export type Tokens = ReturnType<typeof tokens>

/** The signing secret in `file`, made at first use and readable by its owner only. */
export function secretIn(file: string): Uint8Array {
  try {
    writeFileSync(file, randomBytes(32), { mode: 0o600, flag: 'wx' })
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error
  }
  return new Uint8Array(readFileSync(file))
}
