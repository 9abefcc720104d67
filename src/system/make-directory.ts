// Makes calcfs's own directories: Node's recursive mkdir says ENOENT on a full disk, and never returns below /proc.
import { chmodSync, mkdirSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import { codeOf, isMissing } from './error-code.js'

/**
 * Makes a directory that only its owner may enter, and its parents; returns the first one that was made.
 * @throws the errors of the disk, ENOSPC where it is full
 */
export async function makeDirectories(path: string): Promise<string | undefined> {
  try {
    await mkdir(path, { mode: ownerOnly })
    return path
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST' && (await stat(path)).isDirectory()) return undefined
    if (!isMissing(thrown) || dirname(path) === path) throw thrown
  }
  const first = await makeDirectories(dirname(path))
  // Another process may make the same one; any other error is not a missing parent.
  await mkdir(path, { mode: ownerOnly }).catch(async (thrown: unknown) => {
    if (codeOf(thrown) !== 'EEXIST' || !(await stat(path)).isDirectory()) throw thrown
  })
  return first ?? path
}

/** The same, synchronously. */
export function makeDirectoriesNow(path: string): void {
  try {
    mkdirSync(path, { mode: ownerOnly })
    return
  } catch (thrown) {
    if (codeOf(thrown) === 'EEXIST' && statSync(path).isDirectory()) return
    if (!isMissing(thrown) || dirname(path) === path) throw thrown
  }
  makeDirectoriesNow(dirname(path))
  try {
    mkdirSync(path, { mode: ownerOnly })
  } catch (thrown) {
    if (codeOf(thrown) !== 'EEXIST' || !statSync(path).isDirectory()) throw thrown
  }
}

/** Makes a directory that only its owner can enter, also where it existed with a wider mode. */
export function makePrivateNow(path: string): void {
  makeDirectoriesNow(path)
  chmodSync(path, ownerOnly)
}

const ownerOnly = 0o700
