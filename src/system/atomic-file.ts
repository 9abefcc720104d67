// How a text gets on the disk so that a crash leaves the old one or the new one, never half of either: private, and by one rename.
import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectories } from './make-directory.js'
import { clearPlace } from './set-aside.js'

/** What a mount's own files and directories may be seen by: their owner only. */
export const privateFile = 0o600
export const privateDirectory = 0o700

/**
 * Puts the text at this path at once and durably: temporary file, fsync, rename, fsync of the directory.
 * @throws what the disk says; what was there before is then untouched
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  await placeFile(path, text, file => file.sync())
  await syncDirectory(dirname(path))
}

/** As `replaceFile`, but a power cut may take it back: for what only makes things easier. */
export async function replaceFileLightly(path: string, text: string | Uint8Array): Promise<void> {
  await placeFile(path, text, async () => {})
}

/** As `replaceFileLightly`, at once. */
export function replaceFileNow(path: string, text: string | Uint8Array): void {
  const temporary = temporaryBeside(path)
  clearPlace(path, 'file')
  try {
    writeFileSync(temporary, text, { mode: privateFile, flag: 'wx' })
    renameSync(temporary, path)
  } catch (cause) {
    rmSync(temporary, { force: true })
    throw cause
  }
}

async function placeFile(
  path: string,
  text: string | Uint8Array,
  settle: (file: FileHandle) => Promise<void>,
) {
  const temporary = temporaryBeside(path)
  try {
    const file = await open(temporary, 'wx', privateFile)
    try {
      await file.writeFile(text)
      await settle(file)
    } finally {
      await file.close()
    }
    // No file takes the place of a directory by a rename.
    clearPlace(path, 'file')
    await rename(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw cause
  }
}

/** A rename takes a name in the same directory only. */
const temporaryBeside = (path: string): string => join(dirname(path), `.tmp-${randomUUID()}`)

/** Makes names that were created, replaced or removed in a directory survive a power cut. */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}

/** Makes a directory and those above it; their names survive a power cut. What is none in its place is moved aside. */
export async function makeDirectory(path: string): Promise<void> {
  clearPlace(path, 'directory')
  const first = await makeDirectories(path)
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

/**
 * The name of a directory that may just have been made, and the names of those above it, survive a power cut: up to the
 * first directory that belongs to another user, which this user cannot have made.
 */
export async function keepNameOf(path: string): Promise<void> {
  const above = dirname(path)
  if (above === path) return
  const { uid } = await stat(above)
  const isOwn = uid === process.getuid?.()
  try {
    await syncDirectory(above)
  } catch (thrown) {
    // A directory of another user may be closed to this one, and some file systems sync no directory.
    if (isOwn) throw thrown
  }
  if (isOwn) await keepNameOf(above)
}
