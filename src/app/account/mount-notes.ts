// Directories on which a drive was mounted: noted beside the state directories, so that their logs are found.
import { dirname, join } from 'node:path'
import { mountFileName } from '../../config/places.js'
import { type Account, keepFile } from './account.js'
import { namesIn, plainText } from './notes.js'

const noteOf = (stateOfAll: string, mountPoint: string): string =>
  join(stateOfAll, 'mounts', mountFileName(mountPoint))

/** Throws disk errors. */
export async function noteMount(account: Account, mountPoint: string): Promise<void> {
  const file = noteOf(dirname(account.places.state), mountPoint)
  if (!isNoteOf(file, mountPoint)) await keepFile(account, file, `${mountPoint}\n`)
}

/** The directories on which drives were mounted. Throws disk errors. */
export function formerMounts(stateOfAll: string): readonly string[] {
  const notes = join(stateOfAll, 'mounts')
  const named = namesIn(notes).flatMap(name => plainText(join(notes, name))?.trimEnd() ?? [])
  return named.filter(path => isNoteOf(noteOf(stateOfAll, path), path))
}

const isNoteOf = (file: string, mountPoint: string): boolean => plainText(file)?.trimEnd() === mountPoint
