// New report and new share: the two kinds of record that a file makes, each with what its POST needs.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import type {
  ProjectId,
  Remote,
  ReportId,
  ReportRow,
  ReportTypeId,
  RequestContext,
} from '../../remote/remote.js'
import { isSpelling } from '../../spelling.js'
import type { NewRecord } from '../save/create.js'
import { checkedRows } from './report-list.js'
import { listedType, type ReportPorts, withTypeOf } from './report-type.js'
import { refuseBadPermission } from './whole-record.js'

export interface NewRecordPorts extends ReportPorts {
  readonly remote: ReportPorts['remote'] & Pick<Remote, 'createReport' | 'createShare' | 'project' | 'shares'>
}

/** No operation lists reports: after a lost answer it cannot be known. */
export function newReport(ports: NewRecordPorts, id: string): NewRecord {
  const { remote, dialect } = ports
  const typeSaid = (written: JsonObject) => dialect.reports.type(written) ?? dialect.reports.typeName(written)
  const titleSaid = (written: JsonObject) =>
    dialect.facts(dialect.reports.body(written, { type: noType, rows: undefined })).title
  /** Those of a list that stands for itself; `before` are those that need no checking. */
  const rowsOf = async (written: JsonObject, context: RequestContext, before: readonly ReportRow[] = []) => {
    const entries = dialect.lists.entries(written)
    return entries && checkedRows(ports, before, entries, context)
  }
  return {
    key: { kind: 'new', of: 'report', id },
    withDigitsOf: dialect.withDigitsOf,
    idOf: written => dialect.facts(written).id,
    async compose(written, context) {
      // A copy of another report has that one's id, which is left out.
      if (titleSaid(written) === undefined)
        throw new Failure('refused', 'a new report needs a name, as calcfs help edits shows')
      const { id } = await listedType(ports, typeSaid(written), context)
      const rows = await rowsOf(written, context)
      return dialect.reports.body(written, { type: id, rows })
    },
    post: (body, context) => remote.createReport(body, context),
    isOf(written, record) {
      const [said = '', found = ''] = [titleSaid(written), dialect.facts(record).title]
      return isSpelling(said, found) || said.trim() === found.trim()
    },
    /** The list of a report that is only just made may be set unseen. */
    async complete(made, { written, record }, context) {
      const rows = dialect.lists.rows(record) === undefined ? await rowsOf(written, context) : []
      if (rows === undefined || rows.length === 0) return record
      const order = rows.map(row => row.calculation)
      await remote.setReportCalculations(made as ReportId, order, context)
      return remote.report(made as ReportId, context)
    },
    resembles: (written, known) => dialect.reports.resembles(written, known),
    async like(written, record, context) {
      const before = dialect.lists.rows(record) ?? []
      const rows = await rowsOf(written, context, before)
      const like = dialect.reports.saying(written, record, rows)
      if (typeSaid(written) === undefined) return like
      return withTypeOf(ports, like, { written, like: record }, context)
    },
  }
}

const noType = '' as ReportTypeId

/** A share is known by the person it is given to: the list of the project's shares tells after a lost answer. */
export function newShare(
  { remote, dialect }: NewRecordPorts,
  { id, project }: { id: string; project: ProjectId },
): NewRecord {
  /** The numbers that were listed before the POST: a new one is of the share that it made, however its person is spelled. */
  let before: ReadonlySet<string> | undefined
  async function find(body: JsonObject, context: RequestContext): Promise<string | undefined> {
    const person = dialect.shares.sharedWith(body)?.toLowerCase()
    const shares = await remote.shares(project, context)
    return shares.find(({ user }) => user !== undefined && user.toLowerCase() === person)?.id
  }
  return {
    key: { kind: 'new', of: 'share', id, project },
    withDigitsOf: dialect.withDigitsOf,
    idOf: written => dialect.shares.idOf(written),
    place: async context => dialect.facts(await remote.project(project, context)),
    async compose(written, context) {
      refuseBadPermission(dialect, written)
      if (dialect.shares.sharedWith(written) === undefined)
        throw new Failure(
          'refused',
          'a new share needs the user it is for: {"user": "…", "permission": "READ"}',
        )
      const shares = await remote.shares(project, context)
      before = new Set(shares.map(share => share.id))
      const like = shares.map(share => share.record)
      return dialect.shares.body(written, project, like)
    },
    post: (body, context) => remote.createShare(body, context),
    isOf(written, record) {
      const { shares } = dialect
      const id = shares.idOf(record)
      if (before === undefined || (id !== undefined && !before.has(id))) return true
      return shares.personNamed(record, []) === 'none' || shares.personNamed(written, [record]) === 'them'
    },
    find,
    complete: async (_id, { record }) => record,
    resembles: (written, known) => dialect.shares.personNamed(written, known) === 'them',
    like: async (written, record) => dialect.shares.saying(written, record),
  }
}
