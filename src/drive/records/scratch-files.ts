// Scratch files: editors' own files beside a record (swap, backup, temporary), kept in the state directory; they never reach the service.
import { constants } from 'node:fs'
import {
  type FileHandle,
  open,
  readdir,
  readFile,
  rename,
  stat,
  truncate,
  unlink,
  utimes,
} from 'node:fs/promises'
import { join } from 'node:path'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { type Instant, instant } from '../../remote/remote.js'
import { isMissing } from '../../system/error-code.js'
import { makeDirectory, replaceFile, syncDirectory } from '../../system/own-file.js'
import { escapeTitle, titleOf } from '../nodes/name.js'
import type { Dentry, ScratchPlace } from '../nodes/node.js'

export interface ScratchFiles {
  /** What lies in this directory, from memory. */
  entries(directory: string): readonly Dentry[]
  has(place: ScratchPlace): boolean
  create(place: ScratchPlace): Promise<FileHandle>
  open(place: ScratchPlace): Promise<FileHandle>
  stat(place: ScratchPlace): Promise<{ size: number; mtime: Instant }>
  read(place: ScratchPlace): Promise<Uint8Array>
  /** Whether it was moved here and no program has opened it since, as far as this mount knows. */
  isUnread(place: ScratchPlace): boolean
  /** The names in the directory of this place survive a power cut. */
  syncNames(place: ScratchPlace): Promise<void>
  /** Puts a text under this name for good, replacing what was there. */
  put(place: ScratchPlace, text: Uint8Array, isUnread: boolean): Promise<void>
  truncate(place: ScratchPlace, size: number): Promise<void>
  setTime(place: ScratchPlace, mtime: Instant): Promise<void>
  rename(from: ScratchPlace, to: ScratchPlace): Promise<void>
  /** A lock: kept in memory only, because the program that held it is gone with the mount. */
  link(place: ScratchPlace, to: string): void
  unlink(place: ScratchPlace): void
  /** `isOver`: it was moved over a record, which has its text from here on. */
  remove(place: ScratchPlace, isOver?: boolean): Promise<void>
  isOver(place: ScratchPlace): boolean
}

/** Opens the scratch files kept below `root`; those left by an earlier mount (a swap file after a crash) are still there. */
export async function openScratchFiles(root: string): Promise<ScratchFiles> {
  const known = new Map<string, Set<string>>()
  const links = new Map<string, Map<string, string>>()
  /** The files that a program has opened or cut since the mount came up. */
  const touched = new Set<string>()
  /** The files that were moved over a record. */
  const over = new Set<string>()
  /** The files whose text a program had written or read before it was moved here. */
  const met = new Set<string>()
  // Made with the first file: a command without a mount leaves no directory behind.
  for (const directory of await namesIn(root)) {
    known.set(directory, new Set((await readdir(join(root, directory))).map(titleOf)))
  }
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
    entries: directory => [
      ...[...(known.get(directory) ?? [])].map(name => dentry({ directory, name })),
      ...[...(links.get(directory) ?? [])].map(([name, to]) => dentry({ directory, name }, to)),
    ],
    has: ({ directory, name }) => known.get(directory)?.has(name) === true,
    async create(place) {
      const handle = await withLocalFailures(
        open(await ready(place), constants.O_RDWR | constants.O_CREAT | constants.O_TRUNC, 0o600),
      )
      remember(place)
      touched.add(fileOf(place))
      over.delete(fileOf(place))
      return handle
    },
    async open(place) {
      const handle = await withLocalFailures(open(fileOf(place), constants.O_RDWR))
      touched.add(fileOf(place))
      return handle
    },
    async stat(place) {
      const { size, mtimeMs } = await withLocalFailures(stat(fileOf(place)))
      return { size, mtime: instant(Math.floor(mtimeMs)) }
    },
    read: place => withLocalFailures(readFile(fileOf(place))),
    isUnread: place => !met.has(fileOf(place)) && !touched.has(fileOf(place)),
    syncNames: ({ directory }) => withLocalFailures(syncDirectory(join(root, directory))),
    async put(place, text, isUnread) {
      // Another file: a program that has the one of before open writes nothing into this text.
      await withLocalFailures(replaceFile(await ready(place), text))
      remember(place)
      touched.delete(fileOf(place))
      if (isUnread) met.delete(fileOf(place))
      else met.add(fileOf(place))
    },
    async truncate(place, size) {
      await withLocalFailures(truncate(fileOf(place), size))
      touched.add(fileOf(place))
    },
    setTime: (place, mtime) => withLocalFailures(utimes(fileOf(place), mtime / 1000, mtime / 1000)),
    async rename(from, to) {
      await withLocalFailures(rename(fileOf(from), await ready(to)))
      known.get(from.directory)?.delete(from.name)
      remember(to)
      for (const marks of [touched, met]) {
        if (marks.delete(fileOf(from))) marks.add(fileOf(to))
        else marks.delete(fileOf(to))
      }
    },
    link({ directory, name }, to) {
      links.set(directory, (links.get(directory) ?? new Map()).set(name, to))
    },
    unlink({ directory, name }) {
      links.get(directory)?.delete(name)
    },
    isOver: place => over.has(fileOf(place)),
    async remove(place, isOver = false) {
      await withLocalFailures(unlink(fileOf(place)))
      if (isOver) over.add(fileOf(place))
      met.delete(fileOf(place))
      touched.delete(fileOf(place))
      known.get(place.directory)?.delete(place.name)
    },
  }
}

async function namesIn(root: string): Promise<readonly string[]> {
  try {
    return await readdir(root)
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw asFailure(thrown)
  }
}

const dentry = (place: ScratchPlace, to?: string): Dentry => ({
  name: place.name,
  node: to === undefined ? { kind: 'scratch', place } : { kind: 'link', to, place },
})

/** A failure of the local disk in the drive's words. */
async function withLocalFailures<Value>(work: Promise<Value>): Promise<Value> {
  try {
    return await work
  } catch (thrown) {
    if (isMissing(thrown)) {
      throw new Failure('absent', 'this local file is gone', { cause: thrown })
    }
    throw asFailure(thrown)
  }
}
