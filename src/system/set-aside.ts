// Moves aside and reports what stands in place of a file of calcfs (a pipe, a link, a device, a directory); never opens it.
import { existsSync, lstatSync, renameSync, statSync } from 'node:fs'

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

/**
 * Moves aside what is at `path` unless it has the expected type; a link to a directory counts as one. Returns its
 * new path, undefined where nothing was moved. Throws the errors of the disk.
 */
export function clearPlace(path: string, due: ExpectedKind): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
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

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A circular link, or one to nothing.
    return false
  }
}
