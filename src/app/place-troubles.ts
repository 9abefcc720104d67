// Problems with a mount's own directories while it lives: deleted, or not writable.
import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnDirectories } from '../config/places.js'
import { codeOf, isMissing } from '../system/error-code.js'
import { keepNameOf, makeDirectory, privateFile } from '../system/own-file.js'
import type { NoteFailure, OwnPlaces } from './prepare-places.js'

export interface DirectoryTroubles {
  /** Sentences, none where all is well. Directories that were deleted are made again. */
  look(): Promise<readonly string[]>
}

interface WatchedDirectory {
  readonly path: string
  /** The consequence for the user while it cannot be written. */
  readonly consequence: string
  readonly loss: string
}

/** Watches the directories of an account from their present state on. */
export async function watchDirectories(
  { places }: Pick<OwnPlaces, 'places'>,
  { note, now }: { note: NoteFailure; now: () => number },
): Promise<DirectoryTroubles> {
  const watched = watchedIn(places)
  /** Which directories there were. */
  const seen = new Map<string, string>()
  const deleted = new Map<string, string>()
  for (const { path } of watched) {
    const identity = await identityOf(path)
    if (identity !== undefined) seen.set(path, identity)
  }

  async function troubleOf({ path, consequence, loss }: WatchedDirectory): Promise<string | undefined> {
    try {
      const before = seen.get(path)
      if ((await identityOf(path)) === undefined) {
        await makeDirectory(path)
        await keepNameOf(path)
      }
      const identity = (await identityOf(path)) ?? ''
      seen.set(path, identity)
      if (before !== undefined && before !== identity) {
        const at = new Date(now()).toISOString()
        deleted.set(path, `${path} was deleted while it was in use, and made again (${at}): ${loss}.`)
        note('a directory of calcfs was deleted while it was in use, and is made again', { path })
      }
      await probe(path)
      return undefined
    } catch (thrown) {
      return `${path} cannot be written (${codeOf(thrown) ?? thrown}): ${consequence}.`
    }
  }

  return {
    async look() {
      const closed = new Map<string, string>()
      for (const one of watched) {
        if ([...closed.keys()].some(path => one.path.startsWith(`${path}/`))) continue
        const trouble = await troubleOf(one)
        if (trouble !== undefined) closed.set(one.path, trouble)
      }
      return [...closed.values(), ...deleted.values()]
    },
  }
}

function watchedIn({ state, cache }: OwnDirectories): readonly WatchedDirectory[] {
  const ofState = {
    consequence: 'edits fail until it can be',
    loss: 'unsaved texts of closed files and the history of texts that lay there are gone',
  }
  const ofCache = {
    consequence: 'what is read is downloaded again each time until it can be',
    loss: 'what lay there is downloaded again when it is read',
  }
  return [
    ...[state, join(state, 'drafts'), join(state, 'texts')].map(path => ({ path, ...ofState })),
    ...[cache, join(cache, 'content', 'kept')].map(path => ({ path, ...ofCache })),
  ]
}

/** An inode number alone is no identity: ext4 reuses that of a deleted directory. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

/** Permissions and mount options do not say it: a disk may be full, or be another one than it seems. */
async function probe(directory: string): Promise<void> {
  const path = join(directory, `.probe-${randomUUID()}`)
  try {
    await writeFile(path, '', { mode: privateFile, flag: 'wx' })
  } finally {
    await rm(path, { force: true })
  }
}
