// Users of the service, their passwords, of which only the scrypt hash is kept, and the tokens that they sign in with.
import { randomBytes, type ScryptOptions, scrypt, scryptSync, timingSafeEqual } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
import { errors, jwtVerify, SignJWT } from 'jose'
import { LRUCache } from 'lru-cache'
import type { Store } from '../store/store.js'

export interface User {
  readonly id: string
  /** The `<user>` of `/db/<user>`. */
  readonly name: string
  readonly email: string
}

interface PasswordRow extends User {
  readonly salt: string
  readonly hash: string
}

const keyBytes = 32
/** Node's own N of scrypt; a hash of another one carries it in front: `2:9c1f…`. */
const usualCost = 16_384
const derive = promisify<string, Buffer, number, ScryptOptions, Buffer>(scrypt)
const columns = 'CAST(id AS TEXT) AS id, name, email'

export function userById(store: Store, id: string): User | undefined {
  return store.first<User>(`SELECT ${columns} FROM user WHERE id = ?`, id)
}

export const userByName = (store: Store, name: string): User | undefined => named<User>(store, name, columns)

/** By log-in name or by e-mail address. */
const named = <Row>(store: Store, name: string, columns: string): Row | undefined =>
  store.first<Row>(
    `SELECT ${columns} FROM user WHERE name = ? OR email = ? ORDER BY name = ? DESC`,
    name,
    name,
    name,
  )

/**
 * Stores a new user. A name cannot hold a colon, because HTTP Basic ends the name there. `cost` is the N of scrypt, a
 * power of two: what is no secret, as the user of a test, needs no dear one.
 */
export function insertUser(store: Store, user: User, password: string, cost = usualCost): void {
  if (user.name === '' || /[:/\0]/.test(user.name)) throw new Error(`"${user.name}" cannot be a log-in name`)
  const salt = randomBytes(16)
  const hash = scryptSync(password, salt, keyBytes, { N: cost }).toString('hex')
  store.run(
    'INSERT INTO user VALUES (?, ?, ?, ?, ?)',
    user.id,
    user.name,
    user.email,
    salt.toString('hex'),
    cost === usualCost ? hash : `${cost}:${hash}`,
  )
}

/** The user these credentials belong to. An unknown name takes as long to refuse as a wrong password. */
export async function userWithPassword(
  store: Store,
  name: string,
  password: string,
): Promise<User | undefined> {
  const row = named<PasswordRow>(store, name, `${columns}, salt, hash`)
  const [hash = '', cost = usualCost] = (row?.hash ?? '').split(':').reverse()
  const given = await derive(password, Buffer.from(row?.salt ?? '', 'hex'), keyBytes, { N: Number(cost) })
  if (row === undefined || !timingSafeEqual(given, Buffer.from(hash, 'hex'))) return undefined
  return { id: row.id, name: row.name, email: row.email }
}

interface TokenTerms {
  readonly secret: Uint8Array
  readonly lifetimeSeconds: number
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
