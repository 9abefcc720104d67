// Users of the service, their passwords, of which only the scrypt hash is kept, and the tokens that they sign in with.
import { createHmac, randomBytes, type ScryptOptions, scrypt, scryptSync, timingSafeEqual } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { promisify } from 'node:util'
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

/** JSON Web Tokens (RFC 7519), signed with HMAC and SHA-256. */
export function tokens({ secret, lifetimeSeconds, now }: TokenTerms) {
  const part = (facts: object): string => Buffer.from(JSON.stringify(facts)).toString('base64url')
  const head = part({ alg: 'HS256', typ: 'JWT' })
  const signed = (claims: string): string => {
    const mac = createHmac('sha256', secret).update(`${head}.${claims}`).digest('base64url')
    return `${head}.${claims}.${mac}`
  }
  return {
    issue(userId: string): string {
      const iat = Math.floor(now() / 1000)
      return signed(part({ sub: userId, iat, exp: iat + lifetimeSeconds }))
    },
    /** The user id a token was issued for; undefined for one that is forged, damaged or expired. */
    holder(token: string): string | undefined {
      const [, claims = ''] = token.split('.')
      const [given, due] = [Buffer.from(token), Buffer.from(signed(claims))]
      if (given.length !== due.length || !timingSafeEqual(given, due)) return undefined
      const { sub, exp } = JSON.parse(Buffer.from(claims, 'base64url').toString())
      return exp > Math.floor(now() / 1000) ? sub : undefined
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
