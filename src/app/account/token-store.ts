// Token of an account, kept over the end of a process: in a file of mode 0600, or in the keyring of the desktop.

import { existsSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { loginCommand } from '../../advice.js'
import { Failure } from '../../failure.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { TokenStore } from '../../remote/session/session.js'
import { type Token, tokenExpiry } from '../../remote/session/token.js'
import { ownTextNow } from '../../system/own-file.js'
import { type Account, keepFile } from './account.js'
import { openKeyring } from './keyring.js'

const keptForm = z.object({
  text: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  received: z.number().optional(),
})
/** The file of an account; the second form is that of one whose token is in the keyring. */
const noteForm = z.union([keptForm, z.object({ keyring: z.literal(true) })])

const tokenOf = ({ text, received }: z.infer<typeof keptForm>): Token => ({
  text,
  received: received === undefined ? undefined : instant(received),
})

const tokenFile = (account: Account): string => join(account.places.state, 'token.json')

/** The token of an account; a file of an earlier log-in serves where the keyring has none. */
export function tokenStore(account: Account): TokenStore {
  return {
    async load() {
      const kept = account.keyring ? tokenInKeyring(account, await openKeyring(account).load()) : undefined
      return kept ?? tokenInFile(account)
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
  const token = await tokenStore(account).load().catch(noToken)
  if (token === undefined) return false
  const end = tokenExpiry(token)
  return end === undefined || now < end
}

/** A damaged token counts as none. */
function noToken(): undefined {}

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
  return note === undefined || 'keyring' in note ? undefined : tokenOf(note)
}

function tokenInKeyring(account: Account, kept: string | undefined): Token | undefined {
  if (kept === undefined) return undefined
  try {
    return tokenOf(keptForm.parse(JSON.parse(kept)))
  } catch (cause) {
    throw damaged('the token in the keyring', account, cause)
  }
}

function storedNote(account: Account): z.infer<typeof noteForm> | undefined {
  try {
    const text = ownTextNow(tokenFile(account))
    return text === undefined ? undefined : noteForm.parse(JSON.parse(text))
  } catch (cause) {
    throw damaged(`the token kept in ${tokenFile(account)}`, account, cause)
  }
}

function damaged(what: string, { base, user }: Account, cause: unknown): Failure {
  const sentence = `${what} is damaged; run ${loginCommand(base.href, user)}`
  return new Failure('unauthenticated', sentence, { cause })
}
