// What the service keeps is its owner's alone: passwords' hashes, unpublished data, the key of the tokens.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'

/**
 * Makes an empty file of mode 0600 where there is none, and closes one that is there to others. That one is not opened: closing it
 * again would give up every lock that this process has on it (POSIX).
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
    chmodSync(file, 0o600)
  }
}

/** Names that the service itself makes in its directory. */
const own = /^(service\.db(-wal|-shm)?|service\.lock(-journal)?|content|token\.secret)$/

/**
 * Makes a data directory, 0700. One that was there is closed to others if nothing but the service's own files lies in it: else it is
 * also something else's, and only those files are closed.
 */
export function makePrivateDirectory(directory: string): void {
  makeDirectory(directory)
  const names = readdirSync(directory)
  if (names.every(name => own.test(name))) chmodSync(directory, 0o700)
  for (const name of names.filter(name => own.test(name))) {
    const place = join(directory, name)
    chmodSync(place, statSync(place).isDirectory() ? 0o700 : 0o600)
  }
}

/** One after the other: where a parent is there and takes nothing (/proc), Node's recursive way goes on for ever. */
function makeDirectory(directory: string): void {
  const parent = dirname(directory)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}
