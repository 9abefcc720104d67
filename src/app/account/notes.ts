// Notes beside what is kept of accounts: whose a state directory is. A damaged one counts as none.
import { statSync } from 'node:fs'
import { join } from 'node:path'
import * as z from 'zod'
import { valueIn } from '../../cache/ledger/ledger.js'
import { namesIn, ownTextNow } from '../../system/own-file.js'
import { type Account, keepFile } from './account.js'

const noteFileName = 'account.json'
const form = z.object({ service: z.string(), user: z.string() })

/** Undefined for one that is missing, or damaged. @throws disk errors */
function noteIn(state: string): z.infer<typeof form> | undefined {
  return valueIn(form, ownTextNow(join(state, noteFileName)))
}

export async function noteAccount(account: Account): Promise<void> {
  const { state } = account.places
  const note = { service: account.base.href, user: account.user }
  if (JSON.stringify(noteIn(state)) === JSON.stringify(note)) return
  await keepFile(join(state, noteFileName), `${JSON.stringify(note)}\n`)
}

/** Those that have kept drafts below this directory, in the order of their names; without a service and user where the note is damaged. */
export function accountsIn(stateOfAll: string) {
  return namesIn(stateOfAll).flatMap(name => {
    const state = join(stateOfAll, name)
    if (statSync(join(state, 'drafts'), { throwIfNoEntry: false })?.isDirectory() !== true) return []
    const note = noteIn(state)
    return [{ service: note?.service, user: note?.user, state }]
  })
}
