// Notes beside what is kept of accounts: whose a state directory is. A damaged one counts as none.

import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { namesIn } from '../../system/own-file.js'
import { type Account, keepFile } from './account.js'

/** Undefined for one that is missing, or damaged. Throws disk errors. */
export function noteIn<Note>(file: string, form: z.ZodType<Note>): Note | undefined {
  if (!isPlain(file)) return undefined
  try {
    return form.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}

/** Reading a pipe in its place would never end. */
const isPlain = (file: string): boolean => statSync(file, { throwIfNoEntry: false })?.isFile() === true

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
