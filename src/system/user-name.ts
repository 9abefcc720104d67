// Users of this machine: their names for messages, their home, and what fusermount allows them.
import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'
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

/** True if this process runs as a user id without a name, as in a container: fusermount mounts nothing for one. */
export function isNameless(): boolean {
  try {
    return userInfo().username === ''
  } catch {
    return true
  }
}

/** For messages: what is wrong there, and what mends it. */
export const namelessUser = {
  found: `this user id (${process.getuid?.()}) has no name, and fusermount mounts for named users alone`,
  mend: 'add a line for it to /etc/passwd, or run calcfs as a user that has one',
} as const

const file = '/etc/fuse.conf'

/** True if fusermount opens a drive of this user to others: always for root, for the rest where the administrator allows it. */
export const mayAllowOthers = (): boolean =>
  process.getuid?.() === 0 ||
  (existsSync(file) && /^[ \t]*user_allow_other[ \t]*(#.*)?$/m.test(readFileSync(file, 'utf8')))

/** For messages: what is wrong where they may not, and the command that mends it. */
export const othersNotAllowed = {
  found: `${file} does not allow it to users`,
  mend: `echo user_allow_other | sudo tee -a ${file}`,
} as const

/** Of the variable, else of the system's list of users; undefined where neither tells one. */
export function homeOf(environment: Readonly<Record<string, string | undefined>>): string | undefined {
  const said = environment['HOME']
  if (said !== undefined && isAbsolute(said)) return said
  try {
    return userInfo().homedir
  } catch {
    // The list has no line for this user id, as in a container.
    return undefined
  }
}

/** The meaning of `~` in this process. */
export function homeSign(): string | undefined {
  try {
    return homedir()
  } catch {
    // As above.
    return undefined
  }
}

/** Undefined where it was removed. */
export function standingIn(): string | undefined {
  try {
    return process.cwd()
  } catch {
    return undefined
  }
}
