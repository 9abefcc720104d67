// Scratch files: editors' own files beside a record (swap, backup, temporary), kept in the state directory; they never reach the service.
import { constants } from 'node:fs'
import { type FileHandle, open, readFile, rename, stat, truncate, unlink, utimes } from 'node:fs/promises'
import { join } from 'node:path'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { type Instant, instant } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import { makeDirectory, namesIn, replaceFile, syncDirectory } from '../../system/own-file.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import type { Dentry, ScratchPlace } from '../nodes/node.js'

/** Opens the scratch files kept below `root`; those left by an earlier mount (a swap file after a crash) are still there. */
export async function openScratchFiles(root: string) {
  const known = new Map<string, Set<string>>()
  const links = new Map<string, Map<string, string>>()
  const over = new Set<string>()
  /** The files that a program has opened or cut since the mount came up, or whose text one had written or read before it was moved here. */
  const met = new Set<string>()
  // Made with the first file: a command without a mount leaves no directory behind.
  for (const directory of namesIn(root))
    known.set(directory, new Set(namesIn(join(root, directory)).map(titleOf)))
  function fileOf({ directory, name }: ScratchPlace): string {
    return join(root, directory, escapeTitle(name))
  }

  async function ready(place: ScratchPlace): Promise<string> {
    await makeDirectory(join(root, place.directory)).catch(rethrow)
    return fileOf(place)
  }

  function remember({ directory, name }: ScratchPlace): void {
    const names = known.get(directory) ?? new Set()
    known.set(directory, names.add(name))
  }

  return {
    entries: (directory: string): readonly Dentry[] => [
      ...[...(known.get(directory) ?? [])].map(name => dentry({ directory, name })),
      ...[...(links.get(directory) ?? [])].map(([name, to]) => dentry({ directory, name }, to)),
    ],
    async create(place: ScratchPlace): Promise<FileHandle> {
      const handle = await withLocalFailures(
        open(await ready(place), constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600),
      )
      remember(place)
      met.add(fileOf(place))
      over.delete(fileOf(place))
      return handle
    },
    async open(place: ScratchPlace): Promise<FileHandle> {
      const handle = await withLocalFailures(open(fileOf(place), constants.O_RDWR))
      met.add(fileOf(place))
      return handle
    },
    async stat(place: ScratchPlace): Promise<{ size: number; mtime: Instant }> {
      const { size, mtimeMs } = await withLocalFailures(stat(fileOf(place)))
      return { size, mtime: instant(Math.floor(mtimeMs)) }
    },
    read: (place: ScratchPlace): Promise<Uint8Array> => withLocalFailures(readFile(fileOf(place))),
    /** True if it was moved here and no program has opened it since, as far as this mount knows. */
    isUnread: (place: ScratchPlace): boolean => !met.has(fileOf(place)),
    /** The names in the directory of this place survive a power cut. */
    syncNames: ({ directory }: ScratchPlace): Promise<void> =>
      withLocalFailures(syncDirectory(join(root, directory))),
    /** Puts a text under this name for good, replacing what was there. */
    async put(place: ScratchPlace, text: Uint8Array, isUnread: boolean): Promise<void> {
      // Another file: a program that has the one of before open writes nothing into this text.
      await withLocalFailures(replaceFile(await ready(place), text))
      remember(place)
      if (isUnread) met.delete(fileOf(place))
      else met.add(fileOf(place))
    },
    async truncate(place: ScratchPlace, size: number): Promise<void> {
      await withLocalFailures(truncate(fileOf(place), size))
      met.add(fileOf(place))
    },
    setTime: (place: ScratchPlace, mtime: Instant): Promise<void> =>
      withLocalFailures(utimes(fileOf(place), mtime / 1000, mtime / 1000)),
    async rename(from: ScratchPlace, to: ScratchPlace): Promise<void> {
      await withLocalFailures(rename(fileOf(from), await ready(to)))
      known.get(from.directory)?.delete(from.name)
      remember(to)
      if (met.delete(fileOf(from))) met.add(fileOf(to))
      else met.delete(fileOf(to))
    },
    /** A lock: kept in memory only, because the program that held it is gone with the mount. */
    link({ directory, name }: ScratchPlace, to: string): void {
      links.set(directory, (links.get(directory) ?? new Map()).set(name, to))
    },
    unlink({ directory, name }: ScratchPlace): void {
      links.get(directory)?.delete(name)
    },
    isOver: (place: ScratchPlace): boolean => over.has(fileOf(place)),
    /** `isOver`: it was moved over a record, which has its text from here on. */
    async remove(place: ScratchPlace, isOver: boolean = false): Promise<void> {
      await withLocalFailures(unlink(fileOf(place)))
      if (isOver) over.add(fileOf(place))
      met.delete(fileOf(place))
      known.get(place.directory)?.delete(place.name)
    },
  }
}

export type ScratchFiles = Awaited<ReturnType<typeof openScratchFiles>>

const dentry = (place: ScratchPlace, to?: string): Dentry => ({
  name: place.name,
  node: to === undefined ? { kind: 'scratch', place } : { kind: 'link', to, place },
})

async function withLocalFailures<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (thrown) {
    if (isMissing(thrown)) throw new Failure('absent', 'this local file is gone', { cause: thrown })
    throw asFailure(thrown)
  }
}
