// Unsaved texts of this user that no drive has: read from the state directories of all accounts, and left there untouched.
import { basename } from 'node:path'
import { statesOf } from '../config/places.js'
import { leftDraftFacts } from '../drive/records/draft-files.js'
import { readLeftDrafts } from '../edit/journal/drafts.js'
import { systemClock } from '../remote/clock.js'
import type { Configured } from '../terminal/settings.js'
import { accountsIn } from './account/notes.js'

/** Of each account that has any, or some that cannot be read. */
export async function unmountedDrafts({ config, sources }: Configured) {
  const accounts = accountsIn(statesOf(config, sources.environment))
  const all = await Promise.all(
    accounts.map(async known => {
      const { left, damaged } = await readLeftDrafts(known.state, systemClock.now)
      // The directory is named where its note is missing.
      const { service, user, state } = known
      const account = service === undefined ? basename(state) : `${service} as ${user}`
      return { ...known, account, drafts: leftDraftFacts(left), damaged }
    }),
  )
  return all.filter(({ drafts, damaged }) => drafts.length > 0 || damaged.length > 0)
}
