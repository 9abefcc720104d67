// Source of the password or token, in order; never argv, never a file that others can read.
import { execFile } from 'node:child_process'
import { readFileSync, type Stats, statSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { codeOf } from '../system/error-code.js'
import { standingIn } from '../system/user-name.js'
import { type Config, type Sources, secretInFiles } from './config.js'
import { BadSetting } from './settings.js'

/** A password is read again for each log-in, so that a change in a keyring or a file counts. */
export type Secret = {
  /** The variable, file or setting that gives it; undefined where it was typed. */
  readonly from: string | undefined
} & (
  | { readonly as: 'token'; readonly token: string }
  | {
      readonly as: 'password'
      readonly read: () => Promise<string>
      /** Reads it for the next `read`: a command may ask a person, once and without a deadline of a request. */
      readonly readAhead: () => Promise<void>
      /** It exists; a command may need to prompt first. */
      readonly atHand: boolean
    }
)

/** A typed password stands beside the variables, under a name that none of them has. */
export const typedPassword = 'typed password'
export const secretVariables: readonly string[] = ['CALCFS_PASSWORD', 'CALCFS_TOKEN', typedPassword]

/** A keyring may have to be unlocked by hand. */
const commandDeadline = 60_000

/**
 * CALCFS_TOKEN, CALCFS_PASSWORD, the systemd credential `calcfs-password`, then of the nearest level that has one
 * for this user password-command, password-file, `token` or `password`.
 * @returns undefined where none is set
 * @throws BadSetting for a file that others can read; the `read` of a password throws it too
 */
export function findSecret(config: Config, sources: Sources): Secret | undefined {
  const { environment } = sources
  const { passwordCommand, passwordFile } = config
  const token = environment['CALCFS_TOKEN']
  if (token) return { as: 'token', token, from: 'CALCFS_TOKEN' }
  const password = environment['CALCFS_PASSWORD']
  if (password) return passwordFrom('CALCFS_PASSWORD', async () => password)
  const typed = environment[typedPassword]
  if (typed) return passwordFrom(undefined, async () => typed)
  const credential = credentialFile(environment)
  if (credential !== undefined) return passwordFrom(credential, async () => firstLine(credential))
  if (passwordCommand !== undefined)
    return { ...passwordFrom('password-command', () => outputOf(passwordCommand)), atHand: false }
  if (passwordFile !== undefined) return passwordFrom(passwordFile, async () => privateLine(passwordFile))
  return secretInFile(sources)
}

function passwordFrom(from: string | undefined, readNow: () => Promise<string>) {
  const ahead: string[] = []
  const read = async (): Promise<string> => ahead.pop() ?? readNow()
  const readAhead = async (): Promise<void> => void ahead.push(await readNow())
  return { as: 'password', atHand: true, from, read, readAhead } as const
}

function secretInFile(sources: Sources): Secret | undefined {
  const token = secretInFiles('token', sources)
  const { value, where } = token ?? secretInFiles('password', sources) ?? {}
  if (where === undefined) return undefined
  if (typeof value !== 'string') throw new BadSetting(`${where} is no text; put it in quotes.`)
  return token ? { as: 'token', token: value, from: where } : passwordFrom(where, async () => value)
}

/** systemd hands a unit its credentials in a directory of its own, which no other user can read. */
function credentialFile(environment: Sources['environment']): string | undefined {
  const directory = environment['CREDENTIALS_DIRECTORY']
  if (!directory) return undefined
  const file = join(directory, 'calcfs-password')
  return statSync(file, { throwIfNoEntry: false }) === undefined ? undefined : file
}

/** Checked again for each log-in: the file's mode may have been widened meanwhile. @throws BadSetting */
function privateLine(file: string): string {
  if (factsOf(file) === undefined)
    throw new BadSetting(
      `${file}: there is no such password file; write the password into it, and run: chmod 600 ${file}`,
    )
  refuseShared(file)
  return firstLine(file)
}

/** Checked even if the file is not needed: others must not read it. @throws BadSetting */
export function refuseShared(file: string): void {
  const found = factsOf(file)
  if (found === undefined || (found.mode & 0o077) === 0) return
  throw new BadSetting(`${file}: others can read this password; run: chmod 600 ${file}`)
}

function firstLine(file: string): string {
  const text = readable(file, () => readFileSync(file, 'utf8'))
  return secretLine(text, file)
}

const factsOf = (file: string): Stats | undefined =>
  readable(file, () => statSync(file, { throwIfNoEntry: false }))

/** @throws BadSetting where this user may not */
function readable<Found>(file: string, read: () => Found): Found {
  try {
    return read()
  } catch (cause) {
    throw new BadSetting(
      `${file}: this password cannot be read (${codeOf(cause) ?? cause}); check the owner and the mode of the file, and of the directories above it.`,
      { cause },
    )
  }
}

/** A daemon stands in `/` later, while its command may be a relative one. */
const calledIn = standingIn() ?? '/'

async function outputOf(command: string): Promise<string> {
  // The shell goes there, not this process: the place may lie on the drive itself, or be gone.
  const line = ['-c', 'cd "$0" 2>/dev/null; exec /bin/sh -c "$1"', calledIn, command]
  const { stdout } = await promisify(execFile)('/bin/sh', line, { timeout: commandDeadline }).catch(
    (reason: unknown) => {
      // Without the cause: it carries what the command printed.
      const code = reason instanceof Error && 'code' in reason ? ` (exit code ${String(reason.code)})` : ''
      throw new BadSetting(`password-command failed${code}; run it by hand: ${command}`)
    },
  )
  return secretLine(stdout, 'password-command')
}

function secretLine(text: string, source: string): string {
  const [line] = text.split(/\r?\n/)
  if (line) return line
  throw new BadSetting(`${source}: gives no password in its first line; it has to be there.`)
}
