// Rules of a share: one of three permissions, for one person who never changes.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Dialect, Permission } from '../../remote/remote.js'
import type { WrittenEdit } from '../save/editable.js'
import { refuseId } from './record-id.js'

const permissions: readonly string[] = ['READ', 'WRITE', 'FULLACCESS'] satisfies Permission[]

/** @throws Failure 'refused' */
export function refuseBadPermission(dialect: Dialect, share: JsonObject): void {
  const permission = dialect.permission(share)
  if (permission !== undefined && permissions.includes(permission)) return
  const given =
    permission === undefined ? 'there is no permission' : `${JSON.stringify(permission)} is no permission`
  throw new Failure('refused', `${given}; write one of ${permissions.join(', ')}`)
}

/** Whether two records of one number are of two shares: a share stays with its person as long as it is the same one. */
export function isOtherPersons(
  dialect: Dialect,
  before: JsonObject | undefined,
  now: JsonObject | undefined,
): boolean {
  const [one, other] = [before, now].map(record => record && dialect.sharedWith(record))
  return one !== undefined && other !== undefined && one !== other
}

/** An edit of a share. @throws Failure 'refused' */
export function refuseOtherPermission(dialect: Dialect, { base, mine, edits }: WrittenEdit): void {
  refuseBadPermission(dialect, mine)
  refuseId('share', dialect.shareId(mine), dialect.shareId(base))
  if (isForSame(dialect, { base, mine, edits })) return
  throw new Failure(
    'refused',
    'a share stays with the person it was given to: make another one in new.json for another person',
  )
}

/** Where the record names no person in a field that is known, any field but the permission may be the person. */
function isForSame(
  dialect: Dialect,
  { base, mine, edits }: Pick<WrittenEdit, 'base' | 'mine' | 'edits'>,
): boolean {
  const { personNamed } = dialect.newRecords
  if (dialect.sharedWith(mine) !== dialect.sharedWith(base)) return false
  if (personNamed(base, []) !== 'none') return personNamed(mine, [base]) === 'them'
  return edits.size === 0 || [...edits.keys()].every(name => dialect.isPermission(name))
}
