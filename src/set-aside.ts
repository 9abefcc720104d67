// What stands in the place of a file of ours and is none (a pipe, a link, a device, a directory) is moved aside and never opened.
import { lstatSync, renameSync, statSync } from 'node:fs'

const asideForm = /\.aside-\d+$/

/** Whether a name was given by `clearPlace`. */
export const isAside = (name: string): boolean => asideForm.test(name)

/** `either` is a place in which a file and a directory may stand. */
export type Due = 'file' | 'directory' | 'either'

/**
 * Moves what is at `path` aside unless it is what is due there; a link to a directory may stand for one. Answers the
 * path it has now, undefined where nothing was moved. Throws what the disk says.
 */
export function clearPlace(path: string, due: Due): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (due !== 'directory' && found.isFile()) return undefined
  if (due !== 'file' && found.isDirectory()) return undefined
  if (due === 'directory' && found.isSymbolicLink() && leadsToDirectory(path)) return undefined
  const aside = `${path}.aside-${Date.now()}`
  renameSync(path, aside)
  return aside
}

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A link in a circle, or to nothing.
    return false
  }
}
