// Directories on which a drive was mounted: noted beside the state directories, so that a path below one is not taken for a path of another drive.
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

/** The innermost directory at or above the path on which a drive was mounted once; undefined for none. */
export function formerMountAbove(path: string, stateOfAll: string): string | undefined {
  if (isNoteOf(noteOf(stateOfAll, path), path)) return path
  return dirname(path) === path ? undefined : formerMountAbove(dirname(path), stateOfAll)
}

/** The directories on which drives were mounted. Throws disk errors. */
export function formerMounts(stateOfAll: string): readonly string[] {
  const notes = join(stateOfAll, 'mounts')
  const named = namesIn(notes).flatMap(name => plainText(join(notes, name))?.trimEnd() ?? [])
  return named.filter(path => isNoteOf(noteOf(stateOfAll, path), path))
}

const isNoteOf = (file: string, mountPoint: string): boolean => plainText(file)?.trimEnd() === mountPoint
