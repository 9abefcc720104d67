// Reports: their types, their records, and the ordered list of their calculations.
import type { User } from '../people/users.js'
import { invalid } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { type Change, changed, laterThan, nameIn } from './projects.js'
import {
  idColumn,
  idIn,
  type JsonRecord,
  type Kept,
  keptById,
  parseRecord,
  partsOf,
  recordText,
  textIn,
  validId,
} from './record.js'

/** Fields that a PUT of a report cannot change. `calculations` has an operation of its own. */
const ownedFields = ['id', 'owner', 'creationDate', 'modificationDate']
export interface Report extends Kept {
  readonly owner: string
}
export const reportStatuses = ['active', 'inactive'] as const

export function reportTypes(store: Store, status: (typeof reportStatuses)[number]): string {
  const rows = store.all<{ id: number; name: string; status: string }>(
    'SELECT id, name, status FROM report_type WHERE status = ? ORDER BY id',
    status,
  )
  return JSON.stringify(rows.map(({ id, name, status }) => ({ id, name, status })))
}

export const reportById = (store: Store, id: string): Report =>
  keptById(store, 'report', id, idColumn('owner'))

/** A report as it is shown: its record, and its list last. */
export function reportText(store: Store, report: Kept): string {
  const list = rowsOf(store, report.id).map(
    row => `{"calcId":${row.calculation},"calcOrder":${row.place},"title":${row.title}}`,
  )
  return recordText(new Map(parseRecord(report.record)).set(listField, `[${list.join(',')}]`))
}

interface NewReport {
  readonly id: string
  readonly owner: User
  readonly record: JsonRecord
  readonly date: string
}

/** Stores a new report; its list is set separately. */
export function insertReport(store: Store, { id, owner, record: sent, date }: NewReport): void {
  nameIn(sent)
  const record = new Map([['id', id], ...sent, ['id', id], ['owner', JSON.stringify(owner.name)]])
  setType(store, record, sent)
  record.set('creationDate', sent.get('creationDate') ?? JSON.stringify(date))
  record.set('modificationDate', sent.get('modificationDate') ?? JSON.stringify(date))
  record.delete(listField)
  record.delete(postedListField)
  store.run('INSERT INTO report VALUES (?, ?, ?)', id, owner.id, recordText(record))
}

/** Its number as a number, however it was sent, and its name. */
function setType(store: Store, record: Map<string, string>, body: JsonRecord): void {
  record.set('reportTypeName', typeName(store, body))
  for (const field of ['reportType', 'reportTypeId']) {
    const id = idIn(body, field)
    if (id !== undefined) record.set(field, id)
  }
}

/** The name of the type a body gives, as JSON. A type has to be one of those that are listed. */
function typeName(store: Store, body: JsonRecord): string {
  const ids = [idIn(body, 'reportType'), idIn(body, 'reportTypeId')].filter(id => id !== undefined)
  const [id, other = id] = ids
  if (id === undefined) throw invalid('reportType is missing')
  if (id !== other) throw invalid('reportType and reportTypeId differ')
  const named = "SELECT name FROM report_type WHERE id = ? AND status = 'active'"
  const type = store.first<{ name: string }>(named, id)
  if (type === undefined) throw invalid(`there is no active report type ${id}`)
  return JSON.stringify(type.name)
}

export function updateReport(store: Store, report: Report, change: Change): void {
  nameIn(change.body)
  const record = changed(parseRecord(report.record), change, ownedFields)
  setType(store, record, change.body)
  record.delete(listField)
  record.delete(postedListField)
  store.run('UPDATE report SET record = ? WHERE id = ?', recordText(record), report.id)
  const sentRows = change.body.get(listField)
  if (sentRows !== undefined) takeTitles(store, report.id, sentRows)
}

/** Notes that a report was changed now. */
export function touchReport(store: Store, report: Report, now: number): void {
  const record = new Map(parseRecord(report.record))
  record.set('modificationDate', JSON.stringify(laterThan(record, now)))
  store.run('UPDATE report SET record = ? WHERE id = ?', recordText(record), report.id)
}

const listField = 'calculations'
/** How a list of calculations may come with a POST. */
export const postedListField = 'calculationIds'

/** One entry of a report's list; its title, as JSON text, is the row's own. */
interface Row {
  readonly calculation: string
  readonly title: string
}
type PlacedRow = Row & { readonly place: number }

/** The list in its order. A deleted calculation leaves its place empty: the formulas of the others keep their meaning. */
function rowsOf(store: Store, report: string): readonly PlacedRow[] {
  return store.all<PlacedRow>(
    'SELECT CAST(calculation AS TEXT) AS calculation, place, title FROM report_row WHERE report = ? ORDER BY place',
    report,
  )
}

/** The titles of a list as a client sent it; entries that are no rows are ignored. */
function titlesIn(list: string): readonly Row[] {
  const entries: unknown = JSON.parse(list)
  if (!Array.isArray(entries)) throw invalid(`${listField} is not a list`)
  return partsOf(list).flatMap(text => {
    if (!text.startsWith('{')) return []
    const row = parseRecord(text)
    const calculation = idIn(row, 'calcId')
    if (calculation === undefined || !row.has('title')) return []
    return [{ calculation, title: titleText(row) }]
  })
}

/** A row's title as JSON text. */
function titleText(row: JsonRecord): string {
  const title = row.get('title')
  if (title === 'null') return 'null'
  const text = textIn(row, 'title')
  if (text === undefined) throw invalid('a title is no text')
  return JSON.stringify(text)
}

/** Takes the titles of rows that are in the list from a list as JSON; its order and its other rows are ignored. */
function takeTitles(store: Store, report: string, sent: string): void {
  const left = [...titlesIn(sent)]
  for (const row of rowsOf(store, report)) {
    const title = takeTitle(left, row.calculation)
    if (title === undefined) continue
    store.run('UPDATE report_row SET title = ? WHERE report = ? AND place = ?', title, report, row.place)
  }
}

/** The first title for a calculation, taken out: a calculation that stands twice has two. */
function takeTitle(rows: Row[], calculation: string): string | undefined {
  const at = rows.findIndex(row => row.calculation === calculation)
  return at < 0 ? undefined : rows.splice(at, 1)[0]?.title
}

/** The ids in `12,7,31`; an empty text is an empty list. */
export function listIn(body: JsonRecord, field: string): readonly ListEntry[] | undefined {
  const text = textIn(body, field)
  if (text === undefined || text.trim() === '') return text === undefined ? undefined : []
  return text.split(',').map(id => ({ id: validId(id.trim(), field) }))
}

interface ListEntry {
  readonly id: string
  readonly title?: string
}

/** Replaces the whole list. A row that stays keeps its title where no other is given, unless this instance loses them. */
export function setList(store: Store, report: string, list: readonly ListEntry[], losesTitles = false): void {
  const old: Row[] = losesTitles ? [] : [...rowsOf(store, report)]
  store.run('DELETE FROM report_row WHERE report = ?', report)
  list.forEach(({ id, title }, index) => {
    const text = title === undefined ? (takeTitle(old, id) ?? 'null') : JSON.stringify(title)
    store.run('INSERT INTO report_row VALUES (?, ?, ?, ?)', report, index + 1, id, text)
  })
}
