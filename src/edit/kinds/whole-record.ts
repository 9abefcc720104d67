// Saving of a project, calculation or share: one PUT of the whole record, whose id and person never change.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import {
  type CalculationId,
  differ,
  type ProjectId,
  permissions,
  type Remote,
  type RequestContext,
  type ShareId,
} from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import { keptSentence, unstoredChange } from '../save/diff.js'
import type { EditableRecord, RecordChange, WrittenEdit } from '../save/editable.js'
import { unreadable } from '../save/reconcile.js'

export interface WholeRecordPorts {
  readonly remote: Pick<
    Remote,
    'project' | 'updateProject' | 'calculation' | 'updateCalculation' | 'shares' | 'updateShare' | 'answered'
  >
  readonly dialect: Dialect
}

type WholeRecordKey = { readonly kind: 'record' } & (
  | { readonly of: 'project'; readonly id: ProjectId }
  | { readonly of: 'calculation'; readonly id: CalculationId }
  | { readonly of: 'share'; readonly id: ShareId; readonly project: ProjectId }
)

/** The operations of a kind; by its id it is known which record a text is of, where `refuse` is undefined. */
interface WholeRecordParts
  extends Pick<EditableRecord, 'read'>,
    Partial<Pick<EditableRecord, 'isAnother' | 'home'>> {
  update(record: JsonObject, context: RequestContext): Promise<void>
  /** @throws Failure 'refused' */
  refuse?(written: WrittenEdit): void
}

function partsOf({ remote, dialect }: WholeRecordPorts, key: WholeRecordKey): WholeRecordParts {
  switch (key.of) {
    case 'project':
      return { read: context => remote.project(key.id, context), update: remote.updateProject }
    case 'calculation':
      return { read: context => remote.calculation(key.id, context), update: remote.updateCalculation }
    case 'share':
      return {
        // It is only ever listed with its project's others.
        async read(context) {
          const share = (await remote.shares(key.project, context)).find(({ id }) => id === key.id)
          if (share === undefined) throw new Failure('absent', `the share ${key.id} is gone`)
          return share.record
        },
        // A share stays with its person as long as it is the same one.
        isAnother: (before, now) => differ(dialect.shares.sharedWith(before), dialect.shares.sharedWith(now)),
        home: context => remote.project(key.project, context).then(dialect.facts),
        update: remote.updateShare,
        refuse: written => refuseOtherPermission(dialect, written),
      }
  }
}

export function editableWholeRecord(ports: WholeRecordPorts, key: WholeRecordKey): EditableRecord {
  const { remote, dialect } = ports
  const { update, refuse, ...own } = partsOf(ports, key)
  return {
    key,
    dialect,
    answered: context => remote.answered({ kind: key.of, id: key.id }, context),
    isAnother: dialect.isAnother,
    ...own,
    check(written) {
      const { base, mine } = written
      if (refuse === undefined) refuseId(key.of, dialect.facts(mine).id, dialect.facts(base).id)
      else refuse(written)
      return mine
    },
    async send(change, context) {
      await update(change.whole, { names: newNameIn(dialect, change), ...context })
      return own.read(context).catch(unreadable)
    },
    compare: (change, stored) => ({
      unstored: unstoredChange(change, stored, dialect.isTitle),
      lost: keptSentence(change.edits, stored),
    }),
  }
}

/** The project in which the change gives another name. */
function newNameIn(dialect: Dialect, { before, whole }: RecordChange): ProjectId | undefined {
  const { title, parent } = dialect.facts(whole)
  return title === dialect.facts(before).title ? undefined : (parent as ProjectId | undefined)
}

/** The id in a text is neither changed nor left out. @throws Failure 'refused' */
export function refuseId(what: string, written: string | undefined, own: string | undefined): void {
  if (written === own) return
  throw new Failure(
    'refused',
    written === undefined
      ? `the id is missing; keep ${own} in the text, for it says which ${what} this is`
      : `the id of a ${what} cannot be changed: it says which ${what} this is`,
  )
}

/** @throws Failure 'refused' */
export function refuseBadPermission(dialect: Dialect, share: JsonObject): void {
  const permission = dialect.shares.permission(share)
  if (permissions.some(known => known === permission)) return
  const given =
    permission === undefined ? 'there is no permission' : `${JSON.stringify(permission)} is no permission`
  throw new Failure('refused', `${given}; write one of ${permissions.join(', ')}`)
}

/** An edit of a share. @throws Failure 'refused' */
function refuseOtherPermission(dialect: Dialect, written: WrittenEdit): void {
  const { base, mine } = written
  refuseBadPermission(dialect, mine)
  refuseId('share', dialect.shares.idOf(mine), dialect.shares.idOf(base))
  if (isForSame(dialect, written)) return
  throw new Failure(
    'refused',
    'a share stays with the person it was given to: make another one in new.json for another person',
  )
}

/** Where the record names no person in a field that is known, any field but the permission may be the person. */
function isForSame({ shares }: Dialect, { base, mine, edits }: WrittenEdit): boolean {
  if (shares.sharedWith(mine) !== shares.sharedWith(base)) return false
  if (shares.personNamed(base, []) !== 'none') return shares.personNamed(mine, [base]) === 'them'
  return [...edits.keys()].every(name => shares.isPermission(name))
}
