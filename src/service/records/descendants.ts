// Descendants of a project, level by level, and the fields of each listed item.
import type { Store } from '../store/store.js'
import type { JsonRecord } from './record.js'

/** More levels than any tree has. */
export const deepest = 1_000_000_000

/** The fields that a listing shows in addition to id and name, where the record has them. */
const listedFields = ['type', 'description', 'parentId', 'owner', 'state', 'creationDate', 'modificationDate']

/** The item a listing shows for a record. */
export function listingOf(id: string, record: JsonRecord): string {
  const shown = ['name', ...listedFields].flatMap(name => {
    const value = record.get(name)
    return value === undefined ? [] : [`${JSON.stringify(name)}:${value}`]
  })
  return `{"id":${[id, ...shown].join(',')}}`
}

/** The projects below the first `?`, down to the level of the second, each with its level. */
export const below = `
WITH RECURSIVE below (id, level) AS (
  SELECT id, 1 FROM project WHERE parent = ?
  UNION ALL SELECT p.id, b.level + 1 FROM project p JOIN below b ON p.parent = b.id WHERE b.level < ?)`

/** A listing, item by item in JSON; a bare one says only id and name. */
export interface Listing {
  readonly of: string
  readonly depth: number
  readonly bare: boolean
}

const item = (bare: boolean, table: string): string =>
  bare ? `'{"id":' || ${table}.id || ',"name":' || ${table}.name || '}'` : `${table}.listing`

/** The sub-projects of the first `depth` levels, upper levels first. */
export function subProjects(store: Store, { of, depth, bare }: Listing): readonly string[] {
  const found = store.all<{ item: string }>(
    `${below} SELECT ${item(bare, 'project')} AS item FROM below JOIN project ON project.id = below.id
     ORDER BY below.level, project.id`,
    of,
    depth,
  )
  return found.map(row => row.item)
}

/** The calculations of the first `depth` levels: those of the project itself are the first. */
export function calculationsBelow(store: Store, { of, depth, bare }: Listing): readonly string[] {
  const found = store.all<{ item: string }>(
    `${below}, inside (id, level) AS (SELECT CAST(? AS INTEGER), 0 UNION ALL SELECT id, level FROM below WHERE level < ?)
     SELECT ${item(bare, 'calculation')} AS item FROM inside JOIN calculation ON calculation.project = inside.id
     ORDER BY inside.level, calculation.id`,
    of,
    depth,
    of,
    depth,
  )
  return found.map(row => row.item)
}
