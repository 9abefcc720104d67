// At the start of a mount: every place of our own holds what is due there, or is cleared, so that no pipe is ever opened.
import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Places } from '../config/places.js'
import { clearPlace, type Due, isAside } from '../set-aside.js'

export type Note = (sentence: string, about: Record<string, unknown>) => void

const named: Readonly<Record<Due, string>> = { file: 'file', directory: 'directory', either: 'file' }
const ledgerFiles = ['ledger.db', 'ledger.db-wal', 'ledger.db-shm']

/** Clears the few places that a mount opens at once. Kept contents are looked at when they are opened. */
export async function clearOwnPlaces({ cache, state }: Places, note: Note): Promise<void> {
  const clear = clearing(note)
  const content = join(cache, 'content')
  const index = join(cache, 'index')
  const known = join(state, 'known')
  const directories = [cache, content, join(content, 'kept'), join(content, 'unfinished'), index]
  const kept = ['known', 'drafts', 'texts', 'scratch'].map(name => join(state, name))
  for (const path of [...directories, state, ...kept]) clear(path, 'directory')
  for (const directory of [index, known]) for (const name of ledgerFiles) clear(join(directory, name), 'file')
  const drafts = join(state, 'drafts')
  for (const name of await namesIn(drafts)) {
    clear(join(drafts, name), 'either')
    for (const part of ['text', 'meta.json']) clear(join(drafts, name, part), 'file')
  }
}

/** The same for the history of texts, which may be long. */
export async function clearHistory({ state }: Places, note: Note): Promise<void> {
  const clear = clearing(note)
  const root = join(state, 'texts')
  for (const record of await namesIn(root)) {
    const directory = join(root, record)
    clear(directory, 'directory')
    for (const name of await namesIn(directory)) clear(join(directory, name), 'file')
  }
}

const clearing =
  (note: Note) =>
  (path: string, due: Due): void => {
    try {
      const aside = clearPlace(path, due)
      if (aside !== undefined)
        note(`something that is no ${named[due]} of calcfs stood in its place and was moved aside`, {
          path,
          aside,
        })
    } catch (error) {
      note(`something that is no ${named[due]} of calcfs stands in its place and cannot be moved aside`, {
        path,
        error: String(error),
      })
    }
  }

/** None where the directory is not there yet. */
async function namesIn(directory: string): Promise<readonly string[]> {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return []
  return (await readdir(directory)).filter(name => !isAside(name))
}
