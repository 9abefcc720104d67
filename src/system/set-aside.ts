// What stands in the place of a file of ours and is none (a pipe, a link, a device, a directory) is moved aside, told, and never opened.
import { existsSync, lstatSync, renameSync, statSync } from 'node:fs'

const asideForm = /\.aside-\d+$/

/** Whether a name was given by `clearPlace`. */
export const isAside = (name: string): boolean => asideForm.test(name)

/** `either` is a place in which a file and a directory may stand. */
export type ExpectedKind = 'file' | 'directory' | 'either'

type AsideListener = (path: string, aside: string) => void
const listeners = new Set<AsideListener>()

/** From now on the listener is called with everything that is moved. */
export const onAside = (listener: AsideListener): void => void listeners.add(listener)

/** Of this process, by the paths they have now. */
const movedHere = new Set<string>()

/**
 * Moves what is at `path` aside unless it is what is due there; a link to a directory may stand for one. Answers the
 * path it has now, undefined where nothing was moved. Throws what the disk says.
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

/** What was moved aside below a directory and lies there still. */
export function asidesBelow(directory: string): readonly string[] {
  const isThere = (path: string): boolean =>
    existsSync(path) || lstatSync(path, { throwIfNoEntry: false }) !== undefined
  return [...movedHere].filter(path => path.startsWith(directory) && isThere(path))
}

/** The place in which a thing stood before it was moved aside. */
export const placeOfAside = (path: string): string => path.replace(asideForm, '')

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A link in a circle, or to nothing.
    return false
  }
}
