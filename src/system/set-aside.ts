// Moves aside and reports what stands in place of a file of calcfs (a pipe, a link, a device, a directory); never opens it.
import { existsSync, lstatSync, readdirSync, renameSync, type Stats, statSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { codeOf } from './error-code.js'

const asideForm = /\.aside-\d+$/

/** Whether a name was given by `clearPlace`. */
export const isAside = (name: string): boolean => asideForm.test(name)

/** `either`: a file and a directory are both valid there. */
export type ExpectedKind = 'file' | 'directory' | 'either'

type AsideListener = (path: string, aside: string) => void
const listeners = new Set<AsideListener>()

/** From now on the listener is called for everything that is moved. */
export const onAside = (listener: AsideListener): void => void listeners.add(listener)

/** Moved by this process, by their present paths. */
const movedHere = new Set<string>()

/** Directories of calcfs whose places are cleared as well where something below them is not found. */
const ownDirectories = new Set<string>()

/**
 * From now on each of these is cleared where something below it is not found. What an earlier process has moved from
 * there is remembered.
 */
export function ownFromNowOn(directories: readonly string[]): void {
  for (const directory of directories) {
    ownDirectories.add(directory)
    for (const name of namesBeside(directory))
      if (isAside(name) && placeOfAside(name) === basename(directory))
        rememberAside(join(dirname(directory), name))
  }
}

function namesBeside(path: string): readonly string[] {
  try {
    return readdirSync(dirname(path))
  } catch {
    // Not made yet, or closed to this user: nothing is remembered.
    return []
  }
}

/**
 * Moves aside what is at `path` unless it has the expected type; a link to a directory counts as one. Returns its
 * new path, undefined where nothing was moved. Throws the errors of the disk.
 */
export function clearPlace(path: string, due: ExpectedKind): string | undefined {
  const found = entryAt(path)
  if (found === undefined) {
    for (const directory of ownDirectories)
      if (path.startsWith(`${directory}/`)) clearPlace(directory, 'directory')
    return undefined
  }
  if (due !== 'directory' && found.isFile()) return undefined
  if (due !== 'file' && found.isDirectory()) return undefined
  if (due === 'directory' && found.isSymbolicLink() && leadsToDirectory(path)) return undefined
  const aside = `${path}.aside-${Date.now()}`
  renameSync(path, aside)
  movedHere.add(aside)
  for (const listener of listeners) listener(path, aside)
  return aside
}

/** One that an earlier process has moved. */
export const rememberAside = (path: string): void => void movedHere.add(path)

/** What was moved aside below a directory and is still there. */
export function asidesBelow(directory: string): readonly string[] {
  const isThere = (path: string): boolean =>
    existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return [...movedHere].filter(path => path.startsWith(directory) && isThere(path))
}

/** The path that an entry had before it was moved aside. */
export const placeOfAside = (path: string): string => path.replace(asideForm, '')

/** None below what is no directory, such as a pipe or a circular link. */
function entryAt(path: string): Stats | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })
  } catch (thrown) {
    if (/^(ENOTDIR|ELOOP)$/.test(codeOf(thrown) ?? '')) return undefined
    throw thrown
  }
}

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A circular link, or one to nothing.
    return false
  }
}
