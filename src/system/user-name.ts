// The name of a user of this machine, for messages; also of one that only a directory service (LDAP) knows.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

/** Milliseconds: a directory service may be away. */
const limit = 2_000

/** `anna (user id 1001)`, or the number alone where the system has no name for it. */
export async function userPhrase(id: number | undefined): Promise<string> {
  if (id === undefined) return 'another user'
  const name = await nameOf(id)
  return name === undefined ? `user id ${id}` : `${name} (user id ${id})`
}

async function nameOf(id: number): Promise<string | undefined> {
  try {
    const { stdout } = await promisify(execFile)('getent', ['passwd', String(id)], { timeout: limit })
    return stdout.split(':')[0] || undefined
  } catch {
    // It has no such user, or there is no getent (macOS): the number says enough.
    return undefined
  }
}
