// Token of an account, kept over the end of a process: in a file of mode 0600, or in the keyring of the desktop, by `secret-tool` of libsecret.
import { execFile } from 'node:child_process'
import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { loginCommand } from '../../advice.js'
import { Failure, unlessFailure } from '../../failure.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { TokenStore } from '../../remote/session/session.js'
import { type Token, tokenExpiry } from '../../remote/session/token.js'
import { codeOf } from '../../system/error-code.js'
import { ownTextNow } from '../../system/own-file.js'
import { type Account, keepFile } from './account.js'

const keptForm = z.object({
  text: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  received: z.number().transform(instant).optional(),
})
/** The file of an account; the second form is that of one whose token is in the keyring. */
const noteForm = z.union([keptForm, z.object({ keyring: z.literal(true) })])

const tokenFile = (account: Account): string => join(account.places.state, 'token.json')

/** The token of an account; a file of an earlier log-in serves where the keyring has none. */
export function tokenStore(account: Account): TokenStore {
  return {
    async load() {
      const kept = account.keyring ? await openKeyring(account).load() : undefined
      return parsed(keptForm, () => kept, 'the token in the keyring', account) ?? tokenInFile(account)
    },
    async save(token) {
      const { text, received } = token
      const { keyring } = account
      if (keyring) await openKeyring(account).save(JSON.stringify({ text, received }))
      const note: z.infer<typeof noteForm> = keyring ? { keyring } : { text, received }
      await keepFile(tokenFile(account), `${JSON.stringify(note)}\n`)
    },
  }
}

/** True if a kept token has not ended yet: then no password is needed. */
export async function hasLivingToken(account: Account, now: Instant): Promise<boolean> {
  // A damaged token counts as none.
  const token = await tokenStore(account).load().catch(unlessFailure)
  if (token === undefined) return false
  const end = tokenExpiry(token)
  return end === undefined || now < end
}

/**
 * True if there was one.
 * @throws Failure where it is kept in a keyring that cannot be opened
 */
export async function forgetToken(account: Account): Promise<boolean> {
  const file = tokenFile(account)
  const there = existsSync(file)
  if (account.keyring || isInKeyring(account)) await openKeyring(account).forget()
  rmSync(file, { force: true })
  return there
}

/** A damaged note does not say so. */
function isInKeyring(account: Account): boolean {
  try {
    return 'keyring' in (storedNote(account) ?? {})
  } catch {
    return false
  }
}

function tokenInFile(account: Account): Token | undefined {
  const note = storedNote(account)
  return note === undefined || 'keyring' in note ? undefined : note
}

function storedNote(account: Account): z.infer<typeof noteForm> | undefined {
  const file = tokenFile(account)
  return parsed(noteForm, () => ownTextNow(file), `the token kept in ${file}`, account)
}

/** Undefined where nothing is kept. @throws Failure 'unauthenticated' */
function parsed<Form extends z.ZodType>(
  form: Form,
  read: () => string | undefined,
  what: string,
  { base, user }: Account,
): z.infer<Form> | undefined {
  try {
    const text = read()
    return text === undefined ? undefined : form.parse(JSON.parse(text))
  } catch (cause) {
    const sentence = `${what} is damaged; run ${loginCommand(base.href, user)}`
    throw new Failure('unauthenticated', sentence, { cause })
  }
}

/** Milliseconds: a person may be asked to unlock it. */
const patience = 60_000

/** The secret goes through a pipe, never through the list of processes. */
function openKeyring({ base, user }: Account) {
  const attributes = ['application', 'calcfs', 'url', base.href, 'user', user]
  return {
    /** Undefined where it holds none. @throws Failure 'unauthenticated' where it cannot be opened */
    async load(): Promise<string | undefined> {
      const { code, stdout, stderr } = await secretTool(['lookup', ...attributes])
      if (code === 0) return stdout === '' ? undefined : stdout
      // It ends with 1 without a word where there is no such secret.
      if (code === 1 && stderr === '') return undefined
      throw closed(stderr)
    },
    async save(secret: string): Promise<void> {
      const label = `calcfs: ${user} at ${base.host}`
      const { code, stderr } = await secretTool(['store', `--label=${label}`, ...attributes], secret)
      if (code !== 0) throw closed(stderr)
    },
    async forget(): Promise<void> {
      const { code, stderr } = await secretTool(['clear', ...attributes])
      if (code !== 0 && stderr !== '') throw closed(stderr)
    },
  }
}

function closed(said: string): Failure {
  const words = said.trim().split('\n').at(-1) ?? ''
  const why = words === '' ? '' : ` (${words.slice(0, 300)})`
  return new Failure(
    'unauthenticated',
    `the keyring cannot be used${why}: unlock it in the desktop, or keep tokens in files (keyring = "no")`,
  )
}

function secretTool(
  args: readonly string[],
  input = '',
): Promise<{ code: number; stdout: string; stderr: string }> {
  return new Promise((resolve, reject) => {
    const child = execFile('secret-tool', [...args], { timeout: patience }, (cause, stdout, stderr) => {
      if (codeOf(cause) === 'ENOENT') reject(missing(cause))
      else if (child.exitCode === null) reject(closed('no answer in time'))
      else resolve({ code: child.exitCode, stdout, stderr })
    })
    // It may end before it has read: its exit code says why.
    child.stdin?.on('error', () => {})
    child.stdin?.end(input)
  })
}

const missing = (cause: unknown): Failure =>
  new Failure(
    'unauthenticated',
    'there is no secret-tool for the keyring: install libsecret-tools, or keep tokens in files (keyring = "no")',
    { cause },
  )
