// The file of each generated kind of a calculation: made on the first request and kept.
import { readFileSync } from 'node:fs'
import type { Contents, StoredContent } from '../content/contents.js'
import { type GeneratedName, generatedKinds } from '../content/generated.js'
import { missing } from '../store/refusal.js'
import type { Store } from '../store/store.js'
import { type Calculation, fileNamed, fileNames } from './calculations.js'

export interface NewGenerated {
  readonly calculation: string
  readonly kind: GeneratedName
  readonly content: StoredContent
}

/** @throws Refusal 404 if no file of the calculation holds what it is made of */
export function generatedFile(
  { store, contents }: { readonly store: Store; readonly contents: Contents },
  { id, name }: Calculation,
  kind: GeneratedName,
): StoredContent {
  const kept = store.first<StoredContent>(
    'SELECT hash, size FROM generated WHERE calculation = ? AND kind = ?',
    id,
    kind,
  )
  if (kept !== undefined) return kept
  const { label, source, make } = generatedKinds[kind]
  const titles = fileNames(store, id, source)
  const title = titles.find(known => known === `output.${source}`) ?? titles[0]
  const file = title === undefined ? undefined : fileNamed(store, id, title)
  if (file === undefined)
    throw missing(`calculation ${id} has no ${source.toUpperCase()} file to make a ${label} from`)
  const text = make(readFileSync(contents.pathOf(file.hash)), String(JSON.parse(name)))
  if (text === undefined) throw missing(`${title} of calculation ${id} holds no ${label}`)
  return keepGenerated(store, { calculation: id, kind, content: contents.keepBytes(text) })
}

export function keepGenerated(store: Store, { calculation, kind, content }: NewGenerated): StoredContent {
  store.run('INSERT INTO generated VALUES (?, ?, ?, ?)', calculation, kind, content.hash, content.size)
  return content
}
