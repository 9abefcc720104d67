// Calculations: their records, the names of their files, and the geometry generated from them.
import { readFileSync } from 'node:fs'
import type { Contents, StoredContent } from '../content/contents.js'
import { geometryOf } from '../content/geometry.js'
import { invalid, missing } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { listingOf } from './descendants.js'
import { laterThan, nameIn, nameKey, projectById, refuseIfPublished } from './projects.js'
import { type JsonRecord, parseRecord, recordText, replaced } from './record.js'

/** Fields that a PUT of a calculation cannot change. */
const ownedFields = ['id', 'parentId', 'owner', 'type', 'creationDate', 'modificationDate']

export interface Calculation {
  readonly id: string
  readonly project: string
  /** The name as a JSON string literal. */
  readonly name: string
  readonly record: string
}

/** @throws Refusal 404 */
export function calculationById(store: Store, id: string): Calculation {
  const calculation = store.first<Calculation>(
    'SELECT CAST(id AS TEXT) AS id, CAST(project AS TEXT) AS project, name, record FROM calculation WHERE id = ?',
    id,
  )
  if (calculation === undefined) throw missing(`there is no calculation ${id}`)
  return calculation
}

/** Stores a new calculation with its files in their order. */
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
export interface NewCalculation {
  readonly id: string
  readonly project: string
  readonly name: string
  readonly record: JsonRecord
  readonly files: ReadonlyMap<string, StoredContent>
}

/** Replaces the calculation's editable fields by those of `body`. */
export function updateCalculation(
  store: Store,
  old: Calculation,
  change: { body: JsonRecord; now: number },
): void {
  const name = nameKey(nameIn(change.body))
  const known = parseRecord(old.record)
  refuseIfPublished(
    parseRecord(projectById(store, old.project).record),
    `the project of calculation ${old.id}`,
  )
  const twin = store.first(
    'SELECT 1 FROM calculation WHERE project = ? AND name = ? AND id <> ?',
    old.project,
    name,
    old.id,
  )
  if (twin !== undefined && name !== old.name)
    throw invalid(`the project has another calculation named ${name}`)
  const record = replaced(known, change.body, ownedFields)
  record.set('modificationDate', JSON.stringify(laterThan(known, change.now)))
  store.run(
    'UPDATE calculation SET name = ?, record = ?, listing = ? WHERE id = ?',
    name,
    recordText(record),
    listingOf(old.id, record),
    old.id,
  )
}

/** Deletes a calculation; returns the hashes of the contents it held. */
export function deleteCalculation(store: Store, calculation: Calculation): readonly string[] {
  refuseIfPublished(
    parseRecord(projectById(store, calculation.project).record),
    'the project of this calculation',
  )
  const contents = store.all<{ hash: string }>(
    'SELECT hash FROM file WHERE calculation = ? UNION SELECT hash FROM geometry WHERE calculation = ?',
    calculation.id,
    calculation.id,
  )
  store.run('DELETE FROM calculation WHERE id = ?', calculation.id)
  return contents.map(row => row.hash)
}

/** File names in their order: all of them, or those of CML files. */
export function fileNames(store: Store, calculation: string, type: 'files' | 'cml'): readonly string[] {
  const rows = store.all<{ name: string }>(
    'SELECT name FROM file WHERE calculation = ? ORDER BY place',
    calculation,
  )
  const names = rows.map(row => String(JSON.parse(row.name)))
  return type === 'cml' ? names.filter(name => name.toLowerCase().endsWith('.cml')) : names
}

export function fileNamed(store: Store, calculation: string, name: string): StoredContent | undefined {
  return store.first<StoredContent>(
    'SELECT hash, size FROM file WHERE calculation = ? AND name = ?',
    calculation,
    nameKey(name),
  )
}

/**
 * The calculation's last geometry as an XYZ file, generated on the first request and kept.
 * @throws Refusal 404 if no CML file of it holds one
 */
export function xyzOf(store: Store, contents: Contents, calculation: Calculation): StoredContent {
  const kept = store.first<StoredContent>(
    'SELECT hash, size FROM geometry WHERE calculation = ?',
    calculation.id,
  )
  if (kept !== undefined) return kept
  const cml = fileNames(store, calculation.id, 'cml')
  const name = cml.find(known => known === 'output.cml') ?? cml[0]
  const source = name === undefined ? undefined : fileNamed(store, calculation.id, name)
  if (source === undefined)
    throw missing(`calculation ${calculation.id} has no CML file to make a geometry from`)
  const xyz = geometryOf(
    readFileSync(contents.pathOf(source.hash), 'utf8'),
    String(JSON.parse(calculation.name)),
  )
  if (xyz === undefined) throw missing(`${name} of calculation ${calculation.id} holds no geometry`)
  return keepGeometry(store, calculation.id, contents.keepBytes(xyz))
}

export function keepGeometry(store: Store, calculation: string, content: StoredContent): StoredContent {
  store.run('INSERT INTO geometry VALUES (?, ?, ?)', calculation, content.hash, content.size)
  return content
}
