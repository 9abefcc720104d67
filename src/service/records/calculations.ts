// Calculations: their records, their files, and their geometries, made on the first request and kept.
import { readFileSync } from 'node:fs'
import type { Contents, StoredContent } from '../content/contents.js'
import { geometryOf } from '../content/geometry.js'
import { invalid, missing } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import {
  type Change,
  changed,
  keepListed,
  listingOf,
  nameIn,
  nameKey,
  projectById,
  refuseIfPublished,
} from './projects.js'
import { idColumn, type JsonRecord, type Kept, keptById, parseRecord, recordText } from './record.js'

const ownedFields = ['id', 'parentId', 'owner', 'type', 'creationDate', 'modificationDate']

export interface Calculation extends Kept {
  readonly project: string
  /** The name as a JSON string literal. */
  readonly name: string
}

export const calculationById = (store: Store, id: string): Calculation =>
  keptById(store, 'calculation', id, idColumn('project'), 'name')

export function insertCalculation(store: Store, calculation: NewCalculation): void {
  const { id, project, name, record } = calculation
  store.run(
    'INSERT INTO calculation VALUES (?, ?, ?, ?, ?)',
    id,
    project,
    nameKey(name),
    recordText(record),
    listingOf(id, record),
  )
  let place = 0
  for (const [name, { hash, size }] of calculation.files) {
    place += 1
    store.run('INSERT INTO file VALUES (?, ?, ?, ?, ?)', id, place, nameKey(name), hash, size)
  }
}
interface NewCalculation {
  readonly id: string
  readonly project: string
  readonly name: string
  readonly record: JsonRecord
  readonly files: ReadonlyMap<string, StoredContent>
}

/** @throws Refusal 403 */
function refuseIfFrozen(store: Store, { id, project }: Calculation): void {
  refuseIfPublished(parseRecord(projectById(store, project).record), `the project of calculation ${id}`)
}

export function updateCalculation(store: Store, old: Calculation, change: Change): void {
  const name = nameKey(nameIn(change.body))
  refuseIfFrozen(store, old)
  const twin = store.first(
    'SELECT 1 FROM calculation WHERE project = ? AND name = ? AND id <> ?',
    old.project,
    name,
    old.id,
  )
  if (twin !== undefined && name !== old.name)
    throw invalid(`the project has another calculation named ${name}`)
  keepListed(store, 'calculation', old.id, changed(parseRecord(old.record), change, ownedFields))
}

/** Deletes a calculation; returns the hashes of the contents it held. */
export function deleteCalculation(store: Store, calculation: Calculation): readonly string[] {
  refuseIfFrozen(store, calculation)
  const contents = store.all<{ hash: string }>('SELECT hash FROM held WHERE calculation = ?', calculation.id)
  store.run('DELETE FROM calculation WHERE id = ?', calculation.id)
  return contents.map(row => row.hash)
}

/** File names in their order: all of them, or the CML ones. */
export function fileNames(store: Store, calculation: string, type: 'files' | 'cml'): readonly string[] {
  const rows = store.all<{ name: string }>(
    'SELECT name FROM file WHERE calculation = ? ORDER BY place',
    calculation,
  )
  const names = rows.map(row => String(JSON.parse(row.name)))
  return type === 'files' ? names : names.filter(name => name.toLowerCase().endsWith(`.${type}`))
}

export function fileNamed(store: Store, calculation: string, name: string): StoredContent | undefined {
  return store.first<StoredContent>(
    'SELECT hash, size FROM file WHERE calculation = ? AND name = ?',
    calculation,
    nameKey(name),
  )
}

/** The geometry of a calculation. @throws Refusal 404 if no file of it holds one */
export function geometryFile(
  { store, contents }: { readonly store: Store; readonly contents: Contents },
  { id, name }: Calculation,
): StoredContent {
  const kept = store.first<StoredContent>('SELECT hash, size FROM generated WHERE calculation = ?', id)
  if (kept !== undefined) return kept
  const titles = fileNames(store, id, 'cml')
  const title = titles.find(known => known === 'output.cml') ?? titles[0]
  const file = title === undefined ? undefined : fileNamed(store, id, title)
  if (file === undefined) throw missing(`calculation ${id} has no CML file to make a geometry from`)
  const text = geometryOf(readFileSync(contents.pathOf(file.hash)), String(JSON.parse(name)))
  if (text === undefined) throw missing(`${title} of calculation ${id} holds no geometry`)
  return keepGeometry(store, id, contents.keepBytes(text))
}

export function keepGeometry(store: Store, calculation: string, content: StoredContent): StoredContent {
  store.run("INSERT INTO generated VALUES (?, 'xyz', ?, ?)", calculation, content.hash, content.size)
  return content
}
