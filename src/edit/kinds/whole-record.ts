// How a project, a calculation or a share is saved: one PUT of the whole record, and a name that the service tidies is still the name.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type { Ask, CalculationId, Dialect, ProjectId, Remote, ShareId } from '../../remote/remote.js'
import type { RecordKey } from '../journal/record-key.js'
import { keptSentence, unstored } from '../save/diff.js'
import type { Change, EditableRecord, Verdict, Written } from '../save/editable.js'
import { refuseId } from './record-id.js'
import { refuseOtherPermission } from './share-rules.js'

export interface WholeRecordPorts {
  readonly remote: Pick<
    Remote,
    'project' | 'updateProject' | 'calculation' | 'updateCalculation' | 'shares' | 'updateShare'
  >
  readonly dialect: Dialect
}

/** The project with this id, as it is edited on the drive. */
export function editableProject({ remote, dialect }: WholeRecordPorts, id: ProjectId): EditableRecord {
  return wholeRecord(dialect, {
    key: { kind: 'project', id },
    read: ask => remote.project(id, ask),
    update: (record, ask) => remote.updateProject(record, ask),
    refuse: written => refuseOtherId(dialect, 'project', written),
  })
}

/** The calculation with this id, as it is edited on the drive. */
export function editableCalculation(
  { remote, dialect }: WholeRecordPorts,
  id: CalculationId,
): EditableRecord {
  return wholeRecord(dialect, {
    key: { kind: 'calculation', id },
    read: ask => remote.calculation(id, ask),
    update: (record, ask) => remote.updateCalculation(record, ask),
    refuse: written => refuseOtherId(dialect, 'calculation', written),
  })
}

/** A share, which is only ever listed with its project's others. */
export function editableShare(
  { remote, dialect }: WholeRecordPorts,
  { project, id }: { project: ProjectId; id: ShareId },
): EditableRecord {
  return wholeRecord(dialect, {
    key: { kind: 'share', id, project },
    async read(ask) {
      const share = (await remote.shares(project, ask)).find(one => one.id === id)
      if (share === undefined) throw new Failure('absent', `the share ${id} is gone`)
      return share.record
    },
    isAnother: (before, now) => isOtherPerson(dialect.sharedWith(before), dialect.sharedWith(now)),
    identity: async (_, ask) => dialect.facts(await remote.project(project, ask)),
    update: (record, ask) => remote.updateShare(record, ask),
    refuse: written => refuseOtherPermission(dialect, written),
  })
}

/** A share stays with its person as long as it is the same one. */
const isOtherPerson = (before: string | undefined, now: string | undefined): boolean =>
  before !== undefined && now !== undefined && before !== now

interface WholeRecord extends Partial<Pick<EditableRecord, 'isAnother' | 'identity'>> {
  readonly key: RecordKey
  read(ask: Ask): Promise<JsonObject>
  update(record: JsonObject, ask: Ask): Promise<void>
  /** @throws Failure 'refused' */
  refuse(written: Written): void
}

function wholeRecord(dialect: Dialect, { key, read, update, refuse, ...own }: WholeRecord): EditableRecord {
  return {
    key,
    plain: dialect.plain,
    read,
    isAnother: own.isAnother ?? dialect.isAnother,
    identity: own.identity ?? (async record => dialect.facts(record)),
    async check(written) {
      refuse(written)
      return written.mine
    },
    allow: nothingForbidden,
    async send(change, ask) {
      await update(change.whole, ask)
      return read(ask)
    },
    compare: (change, stored) => compareTitled(dialect, change, stored),
  }
}

function refuseOtherId(dialect: Dialect, what: string, { base, mine }: Written): void {
  refuseId(what, dialect.facts(mine).id, dialect.facts(base).id)
}

/** A platform that makes underscores of blanks has stored the name all the same, in its own spelling. */
function compareTitled(dialect: Dialect, change: Change, stored: JsonObject): Verdict {
  const missing = unstored(change.edits, stored)
  const wanted = dialect.facts(change.whole).title
  const kept = dialect.facts(stored).title
  const titled = dialect.retitled(stored, wanted ?? '')
  const unstoredTitled = new Set(unstored(change.edits, titled))
  const without = missing.filter(name => unstoredTitled.has(name))
  const isTidied =
    wanted !== undefined &&
    kept !== undefined &&
    kept !== dialect.facts(change.before).title &&
    isSpelling(kept, wanted)
  if (without.length === missing.length || !isTidied)
    return { unstored: missing, lost: keptSentence(change.edits, stored) }
  return { unstored: without, lost: `the service spells the name ${JSON.stringify(kept)}` }
}

/** True if two names are one but for blanks, case and signs. */
export function isSpelling(one: string, other: string): boolean {
  const bare = (name: string) =>
    name
      .normalize('NFKD')
      .replace(/[^\p{L}\p{N}]/gu, '')
      .toLowerCase()
  return bare(one) === bare(other) && bare(one) !== ''
}

function nothingForbidden(): void {}
