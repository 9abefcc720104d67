// Saving of a report: its list by one request, its other fields by another, neither twice.
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { JsonObject } from '../../record/json/json.js'
import type { ReportId, RequestContext } from '../../remote/remote.js'
import { withEdits } from '../save/diff.js'
import type { EditableRecord, RecordChange, WrittenEdit } from '../save/editable.js'
import { unreadable } from '../save/reconcile.js'
import { refuseOtherMeaning } from './report-formulas.js'
import { withCheckedList } from './report-list.js'
import { type ReportPorts, withTypeOf } from './report-type.js'
import { compareReport, hasSameRows, isListWhole, newOrder, saysSameList } from './report-verdict.js'
import { refuseId } from './whole-record.js'

/** The report with this id, as it is edited on the drive. */
export function editableReport(ports: ReportPorts, id: ReportId): EditableRecord {
  const { remote, dialect } = ports
  const read = (context: RequestContext) => remote.report(id, context)

  function check(written: WrittenEdit, context: RequestContext): MaybePromise<JsonObject> {
    const { base, mine } = written
    refuseId('report', dialect.facts(mine).id, dialect.facts(base).id)
    return chain(withTypeOf(ports, mine, { written: mine, like: base }, context), typed =>
      withCheckedList(ports, id, { ...written, mine: typed }, context),
    )
  }

  /** The list goes first, so that the other request carries the record as it was read after it. */
  async function send(change: RecordChange, context: RequestContext): Promise<JsonObject> {
    const order = newOrder(dialect, change)
    if (order === undefined) {
      await remote.updateReport(change.whole, context)
      return read(context).catch(unreadable)
    }
    await remote.setReportCalculations(id, order, context)
    const now = await read(context).catch(unreadable)
    if (change.edits.size === 1 && isListWhole(dialect, change, now)) return now
    await remote.updateReport(withEdits(now, change.edits), context)
    return read(context).catch(unreadable)
  }

  return {
    key: { kind: 'report', id },
    dialect,
    answered: context => remote.answered({ kind: 'report', id }, context),
    read,
    isAnother: dialect.isAnother,
    check,
    follows: name => dialect.isReportTypeName(name),
    saysSame: (name, base, theirs) => saysSameList(dialect, name, { base, theirs }),
    hasAlready: (name, mine, theirs) => hasSameRows(dialect, name, { mine, theirs }),
    allow: (written, change) => refuseOtherMeaning(dialect, written, change),
    send,
    compare: (change, stored) => compareReport(dialect, change, stored),
  }
}
