// Moves aside what stands in the place of a file or directory of calcfs (a pipe, a link, a device); never opens it.
import { lstatSync, renameSync, type Stats, statSync } from 'node:fs'
import { codeOf } from './error-code.js'

export type ExpectedKind = 'file' | 'directory' | 'either'

/** Returns the new path of what was moved; a link to a directory counts as one. @throws the errors of the disk */
export function clearPlace(path: string, due: ExpectedKind): string | undefined {
  const found = entryAt(path)
  if (found === undefined) return undefined
  if (due !== 'directory' && found.isFile()) return undefined
  if (due !== 'file' && found.isDirectory()) return undefined
  if (due === 'directory' && found.isSymbolicLink() && leadsToDirectory(path)) return undefined
  const aside = `${path}.aside-${Date.now()}`
  renameSync(path, aside)
  return aside
}

/** None below what is no directory. */
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
