// Whose a state directory is: the service and user of it, noted beside what it keeps, for commands that name neither.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { type Account, keepFile } from './account.js'
import { namesIn, noteIn } from './notes.js'

const noteFileName = 'account.json'
const form = z.object({ service: z.string(), user: z.string() })

export interface KnownAccount {
  /** Both undefined where the note is damaged. */
  readonly service: string | undefined
  readonly user: string | undefined
  readonly state: string
}

/** Throws disk errors. */
export async function noteAccount(account: Account): Promise<void> {
  const file = join(account.places.state, noteFileName)
  const note = { service: account.base.href, user: account.user }
  if (JSON.stringify(noteIn(file, form)) === JSON.stringify(note)) return
  await keepFile(account, file, `${JSON.stringify(note)}\n`)
}

/** Those that have kept drafts below this directory, in the order of their names. */
export function accountsIn(stateOfAll: string): readonly KnownAccount[] {
  return namesIn(stateOfAll).flatMap(name => {
    const state = join(stateOfAll, name)
    if (statSync(join(state, 'drafts'), { throwIfNoEntry: false })?.isDirectory() !== true) return []
    const note = noteIn(join(state, noteFileName), form)
    return [{ service: note?.service, user: note?.user, state }]
  })
}
