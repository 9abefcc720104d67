// Projects: their tree, their records, and the listing of their children.
import type { User } from '../people/users.js'
import { invalid, missing, Refusal } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { below, deepest, listingOf } from './descendants.js'
import { type JsonRecord, parseRecord, recordText, replaced, textIn } from './record.js'

/** Fields that a PUT of a project cannot change. */
const ownedFields = ['id', 'parentId', 'owner', 'state', 'handle', 'creationDate', 'modificationDate']

export interface Project {
  readonly id: string
  readonly parent: string | null
  readonly record: string
}

/** @throws Refusal 404 */
export function projectById(store: Store, id: string): Project {
  const project = store.first<Project>(
    'SELECT CAST(id AS TEXT) AS id, CAST(parent AS TEXT) AS parent, record FROM project WHERE id = ?',
    id,
  )
  if (project === undefined) throw missing(`there is no project ${id}`)
  return project
}

/** The project of `/db/<user>`. */
export function rootOf(store: Store, userId: string): string {
  const root = store.first<{ id: string }>(
    'SELECT CAST(id AS TEXT) AS id FROM project WHERE owner = ? AND parent IS NULL',
    userId,
  )
  if (root === undefined) throw new Error(`user ${userId} has no root project`)
  return root.id
}

/** A name as it stands in the database. */
export const nameKey = (name: string): string => JSON.stringify(name)

export interface NewProject {
  readonly id: string
  readonly parent: string | null
  readonly owner: User
  readonly name: string
  /** What the client sent, or as much of it as a seed gives. */
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

/** @throws Refusal 400 if the body has no name */
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

/** Replaces the project's editable fields by those of `body`. */
export function updateProject(
  store: Store,
  project: Project,
  change: { body: JsonRecord; now: number },
): void {
  const name = projectName(change.body)
  const old = parseRecord(project.record)
  refuseIfPublished(old, `project ${project.id}`)
  const record = replaced(old, change.body, ownedFields)
  record.set('modificationDate', JSON.stringify(laterThan(old, change.now)))
  store.run(
    'UPDATE project SET name = ?, record = ?, listing = ? WHERE id = ?',
    nameKey(name),
    recordText(record),
    listingOf(project.id, record),
    project.id,
  )
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
