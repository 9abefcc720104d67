// Saving of a report: its list by one request, its other fields by another, neither twice; of a stored list the order must be the one sent.
import { chain } from '../../maybe-promise.js'
import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonObject, removed, withEdits } from '../../record/json/json.js'
import type { CalculationId, ReportId, ReportRow, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import { keptSentence, unstoredChange } from '../save/diff.js'
import type { ChangeResult, EditableRecord, RecordChange } from '../save/editable.js'
import { unreadable } from '../save/reconcile.js'
import { withSameMeaning } from './report-formulas.js'
import { itemsIn, withCheckedList } from './report-list.js'
import { type ReportPorts, withTypeOf } from './report-type.js'
import { refuseId } from './whole-record.js'

export function editableReport(ports: ReportPorts, id: ReportId): EditableRecord {
  const { remote, dialect } = ports
  const read = (context: RequestContext) => remote.report(id, context)

  return {
    key: { kind: 'record', of: 'report', id },
    dialect,
    answered: context => remote.answered({ kind: 'report', id }, context),
    read,
    isAnother: dialect.isAnother,
    check(written, context) {
      const { base, mine } = written
      refuseId('report', dialect.facts(mine).id, dialect.facts(base).id)
      return chain(withTypeOf(ports, mine, { written: mine, like: base }, context), typed =>
        withCheckedList(ports, id, { ...written, mine: typed }, context),
      )
    },
    follows: name => dialect.reports.isTypeName(name),
    saysSame: (name, ours, theirs) => hasSameRows(dialect, name, ours, theirs),
    allow: (written, change) => withSameMeaning(dialect, written, withPlacesThere(dialect, change)),
    /** The list goes first, so that the other request carries the record as it was read after it. */
    async send(change, context, following) {
      const order = newOrder(dialect, change)
      if (order === undefined) {
        await remote.updateReport(change.whole, context)
        return read(context).catch(unreadable)
      }
      await remote.setReportCalculations(id, order, context)
      const second = following()
      const now = await read(context).catch(unreadable)
      // All of the list is there as it was sent: its order, titles, and what else was edited in its rows.
      if (
        change.edits.size === 1 &&
        lostTitles(dialect, change.whole, now).length === 0 &&
        !hasTwinsTitle(dialect, change, now) &&
        hasRowEdits(dialect, change, now)
      )
        return now
      const whole = withEdits(now, change.edits)
      await remote.updateReport(whole, second({ before: now, whole }))
      return read(context).catch(unreadable)
    },
    compare: (change, stored, isSaid) => compareReport(dialect, change, { stored, isSaid }),
  }
}

/** The new order of the calculations; undefined where the change does not touch it. */
function newOrder({ lists }: Dialect, { before, whole, edits }: RecordChange): CalculationId[] | undefined {
  const rows = edits.has(lists.fieldIn(whole) ?? '') ? lists.rows(whole) : undefined
  if (rows === undefined) return undefined
  return sameOrder(lists.rows(before), rows) ? undefined : rows.map(row => row.calculation)
}

/** Rows whose order the change keeps stay in the places that they have by now. */
function withPlacesThere({ lists }: Dialect, change: RecordChange): RecordChange {
  const { before, whole, edits } = change
  const name = lists.fieldIn(whole) ?? ''
  if (!edits.has(name) || !sameOrder(lists.rows(before), lists.rows(whole) ?? [])) return change
  const placed = lists.withRows(whole, lists.rows(whole) ?? [], before)
  return { before, whole: placed, edits: new Map(edits).set(name, fieldOf(placed, name) ?? removed) }
}

/** True if the list in `theirs` is that of `ours`, whatever numbers its places have, with no more than what a service fills in. */
function hasSameRows({ lists }: Dialect, name: string, ours: JsonObject, theirs: JsonObject): boolean {
  const rows = lists.rows(ours)
  const theirRows = lists.rows(theirs)
  if (name !== lists.fieldIn(ours) || rows === undefined || theirRows === undefined) return false
  if (name !== lists.fieldIn(theirs) || !sameOrder(theirRows, rows)) return false
  if (rows.some((row, at) => (row.title ?? '') !== (theirRows[at]?.title ?? ''))) return false
  // Rows in the order of `theirs` get its place numbers.
  const placed = itemsIn(fieldOf(lists.withRows(ours, rows, theirs), name))
  return itemsIn(fieldOf(theirs, name)).every((item, at) => isFilledIn(placed[at], item))
}

/** An id that has become a row, or a row that has got empty fields. */
function isFilledIn(ours: Json | undefined, theirs: Json): boolean {
  if (theirs.type !== 'object') return ours === undefined || equalJson(ours, theirs)
  const known = ours?.type === 'object' ? ours : undefined
  return theirs.fields.every(({ name, value }) => {
    const own = known && fieldOf(known, name)
    if (own !== undefined) return equalJson(own, value)
    return known === undefined || value.type === 'number' || isEmptyValue(value)
  })
}

/** All that a row says is there, and nothing else but what a service fills in. */
function isRowStored(wanted: Json | undefined, stored: Json): boolean {
  // Of a bare id there is nothing to say but its place.
  if (wanted?.type !== 'object' || stored.type !== 'object') return wanted?.type !== 'object'
  const isThere = wanted.fields.every(({ name, value }) => {
    const found = fieldOf(stored, name)
    return found !== undefined && equalJson(found, value)
  })
  return isThere && isFilledIn(wanted, stored)
}

const isEmptyValue = (json: Json): boolean =>
  (json.type === 'word' && json.raw === 'null') || (json.type === 'string' && json.value === '')

interface ReadBack {
  readonly stored: JsonObject
  readonly isSaid: boolean
}

function compareReport(dialect: Dialect, change: RecordChange, found: ReadBack): ChangeResult {
  const { stored } = found
  const compared = compareList(dialect, change, found)
  const isTyped = dialect.reports.type(stored) === dialect.reports.type(change.whole)
  // The name beside the type follows it, in the service's own spelling.
  const missing = compared.unstored.filter(name => !(isTyped && dialect.reports.isTypeName(name)))
  const sentences = [compared.lost, keptSentence(change.edits, stored)].filter(one => one !== undefined)
  return { unstored: missing, lost: sentences.length === 0 ? undefined : sentences.join('; ') }
}

/** Titles that the service has not taken are forgiven, those that were not sent again are not. */
function compareList(dialect: Dialect, change: RecordChange, { stored, isSaid }: ReadBack): ChangeResult {
  const missing = unstoredChange(change, stored, dialect.isTitle)
  const name = dialect.lists.fieldIn(change.whole)
  if (name === undefined || !missing.includes(name)) return { unstored: missing, lost: undefined }
  if (newOrder(dialect, change) === undefined) {
    // Edited rows are stored, under place numbers that another client has given them.
    const isPlaced =
      hasSameRows(dialect, name, change.whole, stored) && !hasSameRows(dialect, name, change.before, stored)
    return { unstored: isPlaced ? missing.filter(field => field !== name) : missing, lost: undefined }
  }
  const rows = dialect.lists.rows(change.whole)
  const lost = lostTitles(dialect, change.whole, stored)
  const isStored =
    rows !== undefined &&
    sameOrder(dialect.lists.rows(stored), rows) &&
    hasRowEdits(dialect, change, stored) &&
    (lost.length === 0 || (isSaid && lost.every(hadTitle(dialect, change.before))))
  if (!isStored) return { unstored: missing, lost: undefined }
  return { unstored: missing.filter(field => field !== name), lost: lostSentence(lost) }
}

export function sameOrder(one: readonly ReportRow[] | undefined, other: readonly ReportRow[]): boolean {
  return one?.length === other.length && other.every((row, at) => row.calculation === one[at]?.calculation)
}

/** The rows whose calculation stands where it should, but under another title or none. */
function lostTitles({ lists }: Dialect, whole: JsonObject, stored: JsonObject): readonly ReportRow[] {
  const [rows = [], now = []] = [lists.rows(whole), lists.rows(stored)]
  return rows.filter((row, at) => row.title !== undefined && row.title !== now[at]?.title)
}

/** A row without a title has got that of another row of its calculation, which is gone. */
function hasTwinsTitle(dialect: Dialect, { before, whole }: RecordChange, stored: JsonObject): boolean {
  const [rows = [], now = []] = [whole, stored].map(record => dialect.lists.rows(record))
  const isUnsaid = rows.map(row => row.title === undefined)
  const given = now.filter((row, at) => isUnsaid[at] && row.title !== undefined)
  return given.some(hadTitle(dialect, before))
}

/** True of a row whose calculation had this title before: it was not edited, the row only moved. */
function hadTitle({ lists }: Dialect, before: JsonObject): (row: ReportRow) => boolean {
  const keyOf = ({ calculation, title }: ReportRow) => JSON.stringify([calculation, title])
  const known = new Set((lists.rows(before) ?? []).map(keyOf))
  return row => known.has(keyOf(row))
}

/** An edit of a row beside order and title, unknown fields, is there too. */
function hasRowEdits({ lists }: Dialect, { before, whole }: RecordChange, stored: JsonObject): boolean {
  const name = lists.fieldIn(whole)
  const rows = lists.rows(whole)
  if (name === undefined || rows === undefined) return true
  const items = itemsIn(fieldOf(whole, name))
  const isWithin = (record: JsonObject) => {
    const list = itemsIn(fieldOf(lists.withRows(record, rows), name))
    return list.length === items.length && list.every((item, at) => isRowStored(items[at], item))
  }
  return isWithin(before) || isWithin(stored)
}

function lostSentence(lost: readonly ReportRow[]): string | undefined {
  if (lost.length === 0) return undefined
  const rows = lost.map(row => `${JSON.stringify(row.title)} (calculation ${row.calculation})`).join(', ')
  return `the service took the new order, but dropped the titles of these rows: ${rows}`
}
