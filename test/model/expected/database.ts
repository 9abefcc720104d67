// What the service has, read from its database past every request.
import { parseRecord } from '../../../src/service/records/record.js'
import { reportText } from '../../../src/service/records/reports.js'
import type { Store } from '../../../src/service/store/store.js'
import { type Content, contentIn, type Kind } from './content.js'

/** The record's text as the service would send it; undefined where there is none. */
export function storedText(store: Store, kind: Kind, id: string): string | undefined {
  const record = store.first<{ record: string }>(`SELECT record FROM ${kind} WHERE id = ?`, id)?.record
  return kind === 'report' && record !== undefined ? reportText(store, { id, record }) : record
}

export function stored(store: Store, kind: Kind, id: string): Content | undefined {
  const text = storedText(store, kind, id)
  return text === undefined ? undefined : contentIn(kind, text)
}

/** The ids of what lies in a project. */
export function childrenOf(
  store: Store,
  kind: 'project' | 'calculation' | 'share',
  project: string,
): string[] {
  const column = kind === 'project' ? 'parent' : 'project'
  const sql = `SELECT CAST(id AS TEXT) AS id FROM ${kind} WHERE ${column} = ?`
  return store.all<{ id: string }>(sql, project).map(({ id }) => id)
}

/** The ids of all reports above a number. */
export function reportsAfter(store: Store, id: string): string[] {
  const sql = 'SELECT CAST(id AS TEXT) AS id FROM report WHERE id > ?'
  return store.all<{ id: string }>(sql, id).map(row => row.id)
}

/** The raw text of one field, digits and all. */
export const rawField = (text: string, name: string): string | undefined => parseRecord(text).get(name)
