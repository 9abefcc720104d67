// Problems with a mount's own directories while it lives: deleted and re-created, not writable, or a file moved aside.
import { randomUUID } from 'node:crypto'
import { rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnDirectories } from '../config/places.js'
import { keepNameOf, makeDirectory, privateFile } from '../system/atomic-file.js'
import { codeOf, isMissing } from '../system/error-code.js'
import { asidesBelow, clearPlace, placeOfAside } from '../system/set-aside.js'
import type { NoteFailure, OwnPlaces } from './prepare-places.js'

export interface DirectoryTroubles {
  /** Sentences, none where all is well. Directories that were deleted are re-created. */
  look(): Promise<readonly string[]>
}

interface WatchedDirectory {
  readonly path: string
  readonly area: keyof OwnDirectories
}

/** The consequence for the user while a directory cannot be written. */
const consequences: Readonly<Record<keyof OwnDirectories, string>> = {
  state: 'edits fail until it can be',
  cache: 'what is read is downloaded again each time until it can be',
}

const losses: Readonly<Record<keyof OwnDirectories, string>> = {
  state: 'unsaved texts of closed files and the history of texts that lay there are gone',
  cache: 'what lay there is downloaded again when it is read',
}

const foldersOf: Readonly<Record<keyof OwnDirectories, readonly string[]>> = {
  state: ['', 'drafts', 'texts', 'locks', 'scratch', 'known'],
  cache: ['', 'content', 'content/kept', 'content/unfinished', 'index'],
}

/** So many files that were moved aside are named one by one. */
const namedAtMost = 20

/** Watches the directories of an account from their present state on. */
export async function watchDirectories(
  { places, parents }: OwnPlaces,
  { note, now }: { note: NoteFailure; now: () => number },
): Promise<DirectoryTroubles> {
  const areas = ['state', 'cache'] as const
  const watched: readonly WatchedDirectory[] = areas.flatMap(area =>
    foldersOf[area].map(folder => ({ path: join(places[area], folder), area })),
  )
  /** The directories that existed. */
  const seen = new Map<string, DirectoryIdentity>()
  const deleted = new Map<string, string>()
  for (const { path } of watched) {
    const identity = await directoryIdentity(path).catch(unreadable)
    if (identity !== undefined) seen.set(path, identity)
  }

  function noteDeleted({ path, area }: WatchedDirectory): void {
    const above = [...deleted.keys()].some(one => path.startsWith(`${one}/`))
    if (above) return
    const at = new Date(now()).toISOString()
    deleted.set(path, `${path} was deleted while it was in use, and made again (${at}): ${losses[area]}.`)
    note('a directory of calcfs was deleted while it was in use, and is made again', { path })
  }

  /** Makes it where it is missing. Throws the errors of the disk. */
  async function present(one: WatchedDirectory): Promise<void> {
    const before = seen.get(one.path)
    clearPlace(one.path, 'directory')
    const found = await directoryIdentity(one.path)
    if (found === undefined && before === undefined) return
    if (found === undefined) {
      await makeDirectory(one.path)
      await keepNameOf(one.path)
    }
    const identity = found ?? (await directoryIdentity(one.path))
    if (identity === undefined) return
    if (before !== undefined && before !== identity) noteDeleted(one)
    seen.set(one.path, identity)
    await probe(one.path)
  }

  async function troubleOf(one: WatchedDirectory): Promise<string | undefined> {
    try {
      await present(one)
      return undefined
    } catch (thrown) {
      return `${one.path} cannot be written (${codeOf(thrown) ?? thrown}): ${consequences[one.area]}.`
    }
  }

  return {
    async look() {
      const closed: WatchedDirectory[] = []
      const sentences: string[] = []
      for (const one of watched) {
        if (closed.some(({ path }) => one.path.startsWith(`${path}/`))) continue
        const trouble = await troubleOf(one)
        if (trouble === undefined) continue
        closed.push(one)
        sentences.push(trouble)
      }
      const asides = new Set([...parents, places.state, places.cache].flatMap(asidesBelow))
      return [
        ...sentences,
        ...deleted.values(),
        ...[...asides]
          .slice(0, namedAtMost)
          .map(
            path =>
              `${placeOfAside(path)}: something that is not of calcfs stood there and was moved aside; look at it and remove it: ${path}`,
          ),
        ...(asides.size > namedAtMost ? [`${asides.size - namedAtMost} more were moved aside.`] : []),
      ]
    },
  }
}

/** An inode number alone is no identity: ext4 reuses that of a deleted directory. */
type DirectoryIdentity = `${bigint} ${bigint}`

async function directoryIdentity(path: string): Promise<DirectoryIdentity | undefined> {
  try {
    const { ino, birthtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

function unreadable(): undefined {}

/** Permissions alone do not show it: the disk may be mounted read-only, full, or gone. */
async function probe(directory: string): Promise<void> {
  const path = join(directory, `.tmp-${randomUUID()}`)
  try {
    await writeFile(path, 'x', { mode: privateFile, flag: 'wx' })
  } finally {
    await rm(path, { force: true })
  }
}
