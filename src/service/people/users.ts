// Users of the service and their passwords, of which only the scrypt hash is kept.
import { randomBytes, type ScryptOptions, scrypt, scryptSync, timingSafeEqual } from 'node:crypto'
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

/** A user by log-in name or by e-mail address. */
export function userByName(store: Store, name: string): User | undefined {
  return store.first<User>(
    `SELECT ${columns} FROM user WHERE name = ? OR email = ? ORDER BY name = ? DESC`,
    name,
    name,
    name,
  )
}

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
  const row = store.first<PasswordRow>(
    `SELECT ${columns}, salt, hash FROM user WHERE name = ? OR email = ? ORDER BY name = ? DESC`,
    name,
    name,
    name,
  )
  const [hash = '', cost = usualCost] = (row?.hash ?? '').split(':').reverse()
  const given = await derive(password, Buffer.from(row?.salt ?? '', 'hex'), keyBytes, { N: Number(cost) })
  if (row === undefined || !timingSafeEqual(given, Buffer.from(hash, 'hex'))) return undefined
  return { id: row.id, name: row.name, email: row.email }
}
