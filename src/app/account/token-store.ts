// Token of an account, kept over the end of a process: in a file of mode 0600, or in the keyring of the desktop; and which sign-ins there are.

import { existsSync, lstatSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { Failure } from '../../failure.js'
import { loginCommand } from '../../login-command.js'
import { type Instant, instant } from '../../remote/remote.js'
import type { TokenStore } from '../../remote/session/session.js'
import { type Token, tokenEnd, tokenExpiry } from '../../remote/session/token.js'
import { namesIn } from '../../system/own-file.js'
import { type Account, clearFile, keepFile } from './account.js'
import { openKeyring } from './keyring.js'
import { noteIn } from './notes.js'

export const tokenFileName = 'token.json'

export const tokenForm = z.object({
  text: z.string().regex(/^[\x21-\x7e]{1,16384}$/),
  received: z.number().optional(),
})

export const tokenNoteForm = tokenForm
  .partial({ text: true })
  .extend({
    service: z.string(),
    user: z.string(),
    /** Milliseconds since 1970; absent where the token does not say it. */
    ends: z.number().optional(),
    keyring: z.literal(true).optional(),
  })
  .refine(({ text, keyring }) => text !== undefined || keyring === true)
export type TokenNote = z.infer<typeof tokenNoteForm>

/** Undefined where the keyring has it. */
export function heldToken({ text, received }: TokenNote): Token | undefined {
  if (text === undefined) return undefined
  return { text, received: received === undefined ? undefined : instant(received) }
}

const tokenFile = (account: Account): string => join(account.places.state, tokenFileName)

/** The token of an account; a file of an earlier log-in serves where the keyring has none. */
export function tokenStore(account: Account): TokenStore {
  return {
    async load() {
      const kept = account.keyring ? tokenInKeyring(account, await openKeyring(account).load()) : undefined
      return kept ?? tokenInFile(account)
    },
    async save(token) {
      const { text, received } = token
      const { base, user, keyring } = account
      const of = { service: base.href, user, ends: tokenEnd(token) }
      if (keyring) await openKeyring(account).save(JSON.stringify({ text, received }))
      const note: TokenNote = keyring ? { ...of, keyring: true } : { text, received, ...of }
      await keepFile(account, tokenFile(account), `${JSON.stringify(note)}\n`)
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
  clearFile(file, account)
  const there = existsSync(file)
  if (account.keyring || (there && isInKeyring(account))) await openKeyring(account).forget()
  rmSync(file, { force: true })
  return there
}

/** A damaged note does not say so. */
function isInKeyring(account: Account): boolean {
  try {
    return storedNote(account).keyring === true
  } catch {
    return false
  }
}

function tokenInFile(account: Account): Token | undefined {
  const found = lstatSync(tokenFile(account), { throwIfNoEntry: false })
  if (found === undefined) return undefined
  // Reading a pipe in its place would never end.
  if (!found.isFile()) throw damaged(account)
  return heldToken(storedNote(account))
}

function tokenInKeyring(account: Account, kept: string | undefined): Token | undefined {
  if (kept === undefined) return undefined
  try {
    const { text, received } = tokenForm.parse(JSON.parse(kept))
    return { text, received: received === undefined ? undefined : instant(received) }
  } catch (cause) {
    const sentence = `the token in the keyring is damaged; run ${loginCommand(account.base.href, account.user)}`
    throw new Failure('unauthenticated', sentence, { cause })
  }
}

function storedNote(account: Account): TokenNote {
  try {
    return tokenNoteForm.parse(JSON.parse(readFileSync(tokenFile(account), 'utf8')))
  } catch (reason) {
    throw damaged(account, reason)
  }
}

function damaged(account: Account, cause?: unknown): Failure {
  const sentence = `the token kept in ${tokenFile(account)} is damaged; run ${loginCommand(account.base.href, account.user)}`
  return new Failure('unauthenticated', sentence, { cause })
}

export interface SignIn {
  readonly service: string
  readonly user: string
  /** Milliseconds since 1970; undefined where the token does not say it. */
  readonly until: number | undefined
  readonly expired: boolean
  readonly keptIn: 'file' | 'keyring'
  readonly file: string
}

/** In the order of their directories. A token that is damaged is left out. */
export function signInsIn(stateOfAll: string, now: Instant): readonly SignIn[] {
  return namesIn(stateOfAll).flatMap(name => {
    const file = join(stateOfAll, name, tokenFileName)
    const note = noteIn(file, tokenNoteForm)
    if (note === undefined) return []
    const token = heldToken(note)
    const until = note.ends ?? (token === undefined ? undefined : tokenEnd(token))
    const expired = until !== undefined && until <= now
    const keptIn = note.keyring === true ? 'keyring' : 'file'
    return [{ service: note.service, user: note.user, until, expired, keptIn, file }]
  })
}
