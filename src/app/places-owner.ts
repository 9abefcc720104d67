// Owner of the kept texts and contents: a token does not always name the user, the service does.
import type { Ledger } from '../cache/ledger/ledger.js'
import { Failure } from '../failure.js'
import type { User } from '../remote/remote.js'
import type { Account } from './account/account.js'

/** What is kept of an account: in its state directory, and in its cache for the user of earlier mounts. */
export interface KeptOfAccount {
  readonly known: Pick<Ledger, 'get' | 'set'>
  readonly before: User | undefined
}

const namespace = 'owner'
const key = 'names'

/**
 * Notes the first user of the directories; names that the service once used for that user remain valid.
 * @throws Failure 'unauthenticated' for another user: kept data is not shown, and no draft is sent
 */
export function claimPlaces(
  { places }: Account,
  { known, before }: KeptOfAccount,
  { candidates }: User,
): void {
  if (candidates.length === 0) return
  const text = known.get(namespace, key)
  const owners = [text === undefined ? [] : namesIn(text), before?.candidates ?? []]
  for (const names of owners) {
    if (names.length === 0 || names.some(name => candidates.includes(name))) continue
    throw new Failure(
      'unauthenticated',
      `the sign-in is that of ${candidates[0]}, but ${places.state} and ${places.cache} hold what ${names[0]} has seen and written; name other directories with CALCFS_STATE_DIR and CALCFS_CACHE_DIR, or sign in as ${names[0]}`,
    )
  }
  known.set(namespace, key, JSON.stringify([...new Set([...owners.flat(), ...candidates])]))
}

function namesIn(text: string): readonly string[] {
  const names: unknown = JSON.parse(text)
  return Array.isArray(names) ? names.map(String) : []
}
