// Opens a file of calcfs's own directories: never follows a link, never waits for the other end of a pipe, never reads a device.
import { constants } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { privateFile } from './atomic-file.js'
import { isMissing } from './error-code.js'

const neitherLinkNorPipe = constants.O_NOFOLLOW | constants.O_NONBLOCK

/** Flags of `open` for a file that is read. */
export const forReading = constants.O_RDONLY | neitherLinkNorPipe
/** Flags of `open` for an empty file that is made, or emptied. */
export const forWriting = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | neitherLinkNorPipe

/**
 * A place may be taken by something else between the look of `clearPlace` and the opening: what is no file then counts
 * as missing. The caller closes the handle.
 * @throws the errors of the disk
 */
export async function openOwnFile(path: string): Promise<FileHandle | undefined> {
  let file: FileHandle
  try {
    file = await open(path, forReading)
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
  try {
    if ((await file.stat()).isFile()) return file
  } catch (thrown) {
    await file.close()
    throw thrown
  }
  await file.close()
  return undefined
}

/** The text of a file as UTF-8; undefined where there is none. @throws the errors of the disk */
export async function readOwnFile(path: string): Promise<string | undefined> {
  const file = await openOwnFile(path)
  if (file === undefined) return undefined
  try {
    return await file.readFile('utf8')
  } finally {
    await file.close()
  }
}

/** Makes an empty file, or empties it. @throws the errors of the disk */
export async function emptyOwnFile(path: string): Promise<FileHandle> {
  return open(path, forWriting, privateFile)
}
