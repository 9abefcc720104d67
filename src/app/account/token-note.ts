// File of a sign-in in the state directory: whose it is, until when, and the token itself unless the keyring has it.
import * as z from 'zod'
import { instant } from '../../remote/remote.js'
import type { Token } from '../../remote/session/token.js'

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
