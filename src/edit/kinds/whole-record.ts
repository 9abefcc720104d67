// Saving of a project, calculation or share: one PUT of the whole record.

import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type {
  CalculationId,
  Dialect,
  ProjectId,
  Remote,
  RequestContext,
  ShareId,
} from '../../remote/remote.js'
import type { RecordKey } from '../journal/record-key.js'
import { keptSentence, unstoredChange } from '../save/diff.js'
import type { EditableRecord, RecordChange, WrittenEdit } from '../save/editable.js'
import { unreadable } from '../save/reconcile.js'
import { refuseId } from './record-id.js'
import { isOtherPersons, refuseOtherPermission } from './share-rules.js'

export interface WholeRecordPorts {
  readonly remote: Pick<
    Remote,
    'project' | 'updateProject' | 'calculation' | 'updateCalculation' | 'shares' | 'updateShare' | 'answered'
  >
  readonly dialect: Dialect
}

/** The project with this id, as it is edited on the drive. */
export function editableProject({ remote, dialect }: WholeRecordPorts, id: ProjectId): EditableRecord {
  return editableWholeRecord(dialect, {
    key: { kind: 'project', id },
    answered: context => remote.answered({ kind: 'project', id }, context),
    read: context => remote.project(id, context),
    update: (record, context) => remote.updateProject(record, context),
    refuse: written => refuseChangedId(dialect, 'project', written),
  })
}

/** The calculation with this id, as it is edited on the drive. */
export function editableCalculation(
  { remote, dialect }: WholeRecordPorts,
  id: CalculationId,
): EditableRecord {
  return editableWholeRecord(dialect, {
    key: { kind: 'calculation', id },
    answered: context => remote.answered({ kind: 'calculation', id }, context),
    read: context => remote.calculation(id, context),
    update: (record, context) => remote.updateCalculation(record, context),
    refuse: written => refuseChangedId(dialect, 'calculation', written),
  })
}

/** A share, which is only ever listed with its project's others. */
export function editableShare(
  { remote, dialect }: WholeRecordPorts,
  { project, id }: { project: ProjectId; id: ShareId },
): EditableRecord {
  return editableWholeRecord(dialect, {
    key: { kind: 'share', id, project },
    answered: context => remote.answered({ kind: 'share', id }, context),
    async read(context) {
      const share = (await remote.shares(project, context)).find(one => one.id === id)
      if (share === undefined) throw new Failure('absent', `the share ${id} is gone`)
      return share.record
    },
    isAnother: (before, now) => isOtherPersons(dialect, before, now),
    identity: async (_, context) => dialect.facts(await remote.project(project, context)),
    update: (record, context) => remote.updateShare(record, context),
    refuse: written => refuseOtherPermission(dialect, written),
  })
}

interface WholeRecordParts extends Partial<Pick<EditableRecord, 'isAnother' | 'identity'>> {
  readonly key: RecordKey
  answered(context: RequestContext): Promise<void>
  read(context: RequestContext): Promise<JsonObject>
  update(record: JsonObject, context: RequestContext): Promise<void>
  /** @throws Failure 'refused' */
  refuse(written: WrittenEdit): void
}

function editableWholeRecord(
  dialect: Dialect,
  { key, answered, read, update, refuse, ...own }: WholeRecordParts,
): EditableRecord {
  return {
    key,
    withDigitsOf: dialect.withDigitsOf,
    plain: dialect.plain,
    changedAt: dialect.changedAt,
    answered,
    read,
    isAnother: own.isAnother ?? dialect.isAnother,
    identity: own.identity ?? (async record => dialect.facts(record)),
    async check(written) {
      refuse(written)
      return written.mine
    },
    allow: () => {},
    async send(change, context) {
      await update(change.whole, { names: newNameIn(dialect, change), ...context })
      return read(context).catch(unreadable)
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

function refuseChangedId(dialect: Dialect, what: string, { base, mine }: WrittenEdit): void {
  refuseId(what, dialect.facts(mine).id, dialect.facts(base).id)
}
