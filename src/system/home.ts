// The home directory of the user, and the directory in which the shell stands; either may be missing.
import { homedir, userInfo } from 'node:os'
import { isAbsolute } from 'node:path'

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

/** What `~` stands for in this process. */
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
