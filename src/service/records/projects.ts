// Projects: their tree, their records, the listings of what lies below them, and the paths of the web pages.
import { type User, userByName } from '../people/users.js'
import { invalid, Refusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import {
  idColumn,
  type JsonRecord,
  type Kept,
  keptById,
  parseRecord,
  recordText,
  replaced,
  textIn,
} from './record.js'

const ownedFields = ['id', 'parentId', 'owner', 'state', 'handle', 'creationDate', 'modificationDate']

export interface Project extends Kept {
  readonly parent: string | null
}

export const projectById = (store: Store, id: string): Project =>
  keptById(store, 'project', id, idColumn('parent'))

/** The project of `/db/<user>`. */
export function rootOf(store: Store, userId: string): string {
  const root = store.first<{ id: string }>(
    'SELECT CAST(id AS TEXT) AS id FROM project WHERE owner = ? AND parent IS NULL',
    userId,
  )
  if (root === undefined) throw new Error(`user ${userId} has no root project`)
  return root.id
}

export const nameKey = (name: string): string => JSON.stringify(name)

export interface NewProject {
  readonly id: string
  readonly parent: string | null
  readonly owner: User
  readonly name: string
  /** The client's record, or as much of it as a seed gives. */
  readonly record: JsonRecord
  /** ISO 8601. */
  readonly date: string
}

/** Stores a new project; fields missing in its record get the platform's defaults. */
export function insertProject(store: Store, project: NewProject): void {
  const { id, parent, owner, name, date } = project
  const record = new Map([
    ['id', id],
    ...defaults,
    ...project.record,
    ['id', id],
    ['name', nameKey(name)],
    ['owner', JSON.stringify(owner.name)],
    ['creationDate', project.record.get('creationDate') ?? JSON.stringify(date)],
    ['modificationDate', project.record.get('modificationDate') ?? JSON.stringify(date)],
  ])
  record.delete('parentId')
  if (parent !== null) record.set('parentId', parent)
  store.run(
    'INSERT INTO project VALUES (?, ?, ?, ?, ?, ?)',
    id,
    parent,
    owner.id,
    nameKey(name),
    recordText(record),
    listingOf(id, record),
  )
}

const defaults: readonly (readonly [string, string])[] = [
  ['name', '""'],
  ['description', '""'],
  ['owner', '""'],
  ['group', '"default"'],
  ['permissions', '"rw----"'],
  ['conceptGroup', 'null'],
  ['state', '"created"'],
  ['handle', 'null'],
]

/** The mandatory name and description of a project's body. */
export function projectName(body: JsonRecord): string {
  const description = textIn(body, 'description')
  if (description === undefined || description.trim() === '') throw invalid('description is missing')
  return nameIn(body)
}

export function nameIn(body: JsonRecord): string {
  const name = textIn(body, 'name')
  if (name === undefined || name === '') throw invalid('name is missing')
  return name
}

/** @throws Refusal 403 for a published thing, which is frozen */
export function refuseIfPublished(record: JsonRecord, what: string): void {
  if (textIn(record, 'state') === 'published')
    throw new Refusal(403, `${what} is published: it cannot be changed`)
}

/** A later moment than the last change of the record, as ISO 8601, so that a change always shows. */
export function laterThan(record: JsonRecord, now: number): string {
  const last = Date.parse(textIn(record, 'modificationDate') ?? '')
  return new Date(Number.isNaN(last) ? now : Math.max(now, last + 1)).toISOString()
}

export interface Change {
  readonly body: JsonRecord
  readonly now: number
}

/** The record after a PUT, of which the fields that are the service's own stay. */
export function changed(
  old: JsonRecord,
  { body, now }: Change,
  owned: readonly string[],
): Map<string, string> {
  return replaced(old, body, owned).set('modificationDate', JSON.stringify(laterThan(old, now)))
}

export function updateProject(store: Store, project: Project, change: Change): void {
  projectName(change.body)
  const old = parseRecord(project.record)
  refuseIfPublished(old, `project ${project.id}`)
  keepListed(store, 'project', project.id, changed(old, change, ownedFields))
}

/** A changed record of a thing that a listing shows. */
export function keepListed(store: Store, kind: Kind, id: string, record: JsonRecord): void {
  const sql = `UPDATE ${kind} SET name = ?, record = ?, listing = ? WHERE id = ?`
  store.run(sql, nameKey(nameIn(record)), recordText(record), listingOf(id, record), id)
}

/** Deletes a project with all below it; returns the hashes of the contents that were held there. */
export function deleteProject(store: Store, project: Project): readonly string[] {
  if (project.parent === null) throw new Refusal(403, `project ${project.id} is the root of a user's space`)
  const inside = `${below}, doomed (id) AS (SELECT CAST(? AS INTEGER) UNION ALL SELECT id FROM below)`
  const published = store.first(
    `${inside} SELECT 1 FROM doomed JOIN project ON project.id = doomed.id
     WHERE json_extract(project.record, '$.state') = 'published'`,
    project.id,
    deepest,
    project.id,
  )
  if (published !== undefined) throw new Refusal(403, 'what is published cannot be deleted')
  const contents = store.all<{ hash: string }>(
    `${inside}, gone (id) AS (SELECT calculation.id FROM doomed JOIN calculation ON calculation.project = doomed.id)
     SELECT hash FROM held WHERE calculation IN (SELECT id FROM gone)`,
    project.id,
    deepest,
    project.id,
  )
  store.run('DELETE FROM project WHERE id = ?', project.id)
  return contents.map(row => row.hash)
}

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
const below = `
WITH RECURSIVE below (id, level) AS (
  SELECT id, 1 FROM project WHERE parent = ?
  UNION ALL SELECT p.id, b.level + 1 FROM project p JOIN below b ON p.parent = b.id WHERE b.level < ?)`

/** A listing, item by item in JSON; a bare one says only id and name. */
interface Listing {
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

type Kind = 'project' | 'calculation'

/** The id of the thing at a path; undefined if there is none. Among equal names the lowest id counts. */
export function idAt(store: Store, { path, type }: { path: string; type: Kind }): string | undefined {
  const [, user = '', rest] = /^\/db\/([^/]*)(?:\/(.*))?$/s.exec(path) ?? []
  const owner = userByName(store, user)
  if (owner === undefined || owner.name !== user) return undefined
  const root = rootOf(store, owner.id)
  const found = descend(store, type, root, rest)
  if (found !== undefined || !path.endsWith('/')) return found
  return descend(store, type, root, rest ? rest.slice(0, -1) : undefined)
}

/** A name may hold a slash, so that several ways down may begin with the same words; the shortest names come first. */
function descend(store: Store, type: Kind, from: string, rest: string | undefined): string | undefined {
  if (rest === undefined) return type === 'project' ? from : undefined
  if (type === 'calculation') {
    const sql = `SELECT ${idColumn('id')} FROM calculation WHERE project = ? AND name = ? ORDER BY calculation.id`
    const found = store.first<{ id: string }>(sql, from, nameKey(rest))
    if (found !== undefined) return found.id
  }
  const sql = `SELECT ${idColumn('id')}, name FROM project WHERE parent = ? ORDER BY length(name), project.id`
  for (const child of store.all<{ id: string; name: string }>(sql, from)) {
    const name = String(JSON.parse(child.name))
    if (rest !== name && !rest.startsWith(`${name}/`)) continue
    const found = descend(store, type, child.id, rest === name ? undefined : rest.slice(name.length + 1))
    if (found !== undefined) return found
  }
  return undefined
}
