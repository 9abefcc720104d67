// Atomic replacement of a file: a crash leaves the old text or the new one; the file is private, one rename replaces it.
import { randomUUID } from 'node:crypto'
import { renameSync, rmSync, writeFileSync } from 'node:fs'
import { type FileHandle, open, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { makeDirectories } from './make-directory.js'

/** Modes of a mount's own files and directories: only their owner may access them. */
export const privateFile = 0o600
export const privateDirectory = 0o700

/**
 * Replaces the text at this path atomically and durably: temporary file, fsync, rename, directory fsync.
 * @throws the errors of the disk; the old file is then unchanged
 */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  await placeFile(path, text, file => file.sync())
  await syncDirectory(dirname(path))
}

/** As `replaceFile`, but a power cut may undo it: for data that is only a convenience. */
export async function replaceFileLightly(path: string, text: string | Uint8Array): Promise<void> {
  await placeFile(path, text, async () => {})
}

/** As `replaceFileLightly`, synchronously. */
export function replaceFileNow(path: string, text: string | Uint8Array): void {
  const temporary = temporaryBeside(path)
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
    await rename(temporary, path)
  } catch (cause) {
    await rm(temporary, { force: true })
    throw cause
  }
}

/** A rename is atomic only within one file system: the temporary file is in the same directory. */
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

/** Makes a directory and its parents; their names survive a power cut. */
export async function makeDirectory(path: string): Promise<void> {
  const first = await makeDirectories(path)
  if (first === undefined) return
  for (let made = path; made.length >= first.length; made = dirname(made)) await syncDirectory(dirname(made))
}

/**
 * Makes the name of a directory that may just have been made, and those of its parents, survive a power cut: up to the
 * first directory of another user, which this user cannot have made.
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
