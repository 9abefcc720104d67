// Reports: their types and their records.
import type { User } from '../people/users.js'
import { invalid } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { laterThan, nameIn } from './projects.js'
import { idIn, type JsonRecord, parseRecord, recordText, replaced } from './record.js'
import { listField, postedListField, rowsOf, takeTitles } from './report-list.js'

/** Fields that a PUT of a report cannot change. `calculations` has an operation of its own. */
const ownedFields = ['id', 'owner', 'creationDate', 'modificationDate']
export interface Report {
  readonly id: string
  readonly owner: string
  readonly record: string
}
export const reportStatuses = ['active', 'inactive'] as const

/** Report types of a status, as a JSON array. */
export function reportTypes(store: Store, status: (typeof reportStatuses)[number]): string {
  const rows = store.all<{ id: number; name: string; status: string }>(
    'SELECT id, name, status FROM report_type WHERE status = ? ORDER BY id',
    status,
  )
  return JSON.stringify(rows.map(({ id, name, status }) => ({ id, name, status })))
}

export function reportById(store: Store, id: string): Report | undefined {
  return store.first<Report>(
    'SELECT CAST(id AS TEXT) AS id, CAST(owner AS TEXT) AS owner, record FROM report WHERE id = ?',
    id,
  )
}

/** A report as it is shown: its record, and its list last. */
export function reportText(store: Store, report: Report): string {
  const list = rowsOf(store, report.id).map(
    row => `{"calcId":${row.calculation},"calcOrder":${row.place},"title":${row.title}}`,
  )
  return recordText(new Map(parseRecord(report.record)).set(listField, `[${list.join(',')}]`))
}

export interface NewReport {
  readonly id: string
  readonly owner: User
  readonly record: JsonRecord
  /** ISO 8601. */
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
  const type = store.first<{ name: string }>(
    "SELECT name FROM report_type WHERE id = ? AND status = 'active'",
    id,
  )
  if (type === undefined) throw invalid(`there is no active report type ${id}`)
  return JSON.stringify(type.name)
}

/** Replaces the report's editable fields by those of `body`, and the titles of rows that the list has. */
export function updateReport(store: Store, report: Report, change: { body: JsonRecord; now: number }): void {
  nameIn(change.body)
  const old = parseRecord(report.record)
  const record = replaced(old, change.body, ownedFields)
  setType(store, record, change.body)
  record.set('modificationDate', JSON.stringify(laterThan(old, change.now)))
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

export function deleteReport(store: Store, report: Report): void {
  store.run('DELETE FROM report WHERE id = ?', report.id)
}
