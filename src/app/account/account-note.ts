// Whose a state directory is: the service and user of it, noted beside what it keeps, for commands that name neither.
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { isMissing } from '../../system/error-code.js'
import { type Account, keepFile } from './account.js'
import { tokenFileName } from './token-note.js'

const noteFileName = 'account.json'
const form = z.object({ service: z.string(), user: z.string() })

export interface KnownAccount {
  /** Both undefined for a directory of an earlier version that says neither. */
  readonly service: string | undefined
  readonly user: string | undefined
  readonly state: string
}

/** Throws disk errors. */
export async function noteAccount(account: Account): Promise<void> {
  const file = join(account.places.state, noteFileName)
  const note = { service: account.base.href, user: account.user }
  if (JSON.stringify(noteIn(file)) === JSON.stringify(note)) return
  await keepFile(account, file, `${JSON.stringify(note)}\n`)
}

/** Those that have kept drafts below this directory, in the order of their names. */
export function accountsIn(stateOfAll: string): readonly KnownAccount[] {
  return namesIn(stateOfAll).flatMap(name => {
    const state = join(stateOfAll, name)
    if (statSync(join(state, 'drafts'), { throwIfNoEntry: false })?.isDirectory() !== true) return []
    // A sign-in of this version or an earlier one may say it, too.
    const note = noteIn(join(state, noteFileName)) ?? noteIn(join(state, tokenFileName))
    return [{ service: note?.service, user: note?.user, state }]
  })
}

function namesIn(directory: string): readonly string[] {
  try {
    return readdirSync(directory).sort()
  } catch (thrown) {
    if (!isMissing(thrown)) throw thrown
    return []
  }
}

/** A damaged note counts as none. */
function noteIn(file: string): z.infer<typeof form> | undefined {
  // Reading a pipe in its place would never end.
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return undefined
  try {
    return form.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch {
    return undefined
  }
}
