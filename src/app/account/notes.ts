// Notes beside what is kept of accounts: whose a state directory is, a damaged one counting as none; and the drafts that lie there.
import { statSync } from 'node:fs'
import { basename, join } from 'node:path'
import * as z from 'zod'
import { valueIn } from '../../cache/ledger/ledger.js'
import { statesOf } from '../../config/places.js'
import { leftDraftFacts } from '../../drive/records/draft-files.js'
import { readLeftDrafts } from '../../edit/journal/drafts.js'
import { systemClock } from '../../remote/clock.js'
import { namesIn, ownTextNow } from '../../system/own-file.js'
import type { Configured } from '../../terminal/settings.js'
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

/** The accounts that have kept drafts below this directory, in the order of their names; without a service and user where the note is damaged. */
function accountsIn(stateOfAll: string) {
  return namesIn(stateOfAll).flatMap(name => {
    const state = join(stateOfAll, name)
    if (statSync(join(state, 'drafts'), { throwIfNoEntry: false })?.isDirectory() !== true) return []
    const note = noteIn(state)
    return [{ service: note?.service, user: note?.user, state }]
  })
}

/**
 * Unsaved texts of this user, which are left untouched: of each account that has any, or some that cannot be read. Those of a daemon
 * that lives are among them, and its drive may be one that does not answer, or that was taken away.
 */
export async function draftsOnDisk({ config, sources }: Configured) {
  const accounts = accountsIn(statesOf(config, sources.environment))
  const all = await Promise.all(
    accounts.map(async known => {
      const { left, held, damaged } = await readLeftDrafts(known.state, systemClock.now)
      // The directory is named where its note is missing.
      const { service, user, state } = known
      const account = service === undefined ? basename(state) : `${service} as ${user}`
      return { ...known, account, drafts: leftDraftFacts(left, held), damaged }
    }),
  )
  return all.filter(({ drafts, damaged }) => drafts.length > 0 || damaged.length > 0)
}
