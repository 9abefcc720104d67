// Sign-ins of this user on this machine: one for each directory of the state directory that has a token.
import { join } from 'node:path'
import type { Instant } from '../../remote/remote.js'
import { tokenEnd } from '../../remote/session/token.js'
import { namesIn, noteIn } from './notes.js'
import { heldToken, tokenFileName, tokenNoteForm } from './token-note.js'

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
