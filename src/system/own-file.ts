// Calcfs's own files and directories: private, replaced by one rename, opened without a link or a pipe, moved aside where they are something else.
import { randomUUID } from 'node:crypto'
import {
  chmodSync,
  closeSync,
  constants,
  fstatSync,
  fsync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { codeOf, isMissing } from './error-code.js'

const neitherLinkNorPipe = constants.O_NOFOLLOW | constants.O_NONBLOCK

export const forReading = constants.O_RDONLY | neitherLinkNorPipe
/** Flags of `open` for an empty file that is made, or emptied. */
export const forWriting = constants.O_WRONLY | constants.O_CREAT | constants.O_TRUNC | neitherLinkNorPipe

/** The bytes read of an open file by its descriptor, and its length; anything but a file counts as missing. @throws the errors of the disk */
export function readOwnFileNow<Found>(
  path: string,
  read: (descriptor: number, bytes: number) => Found,
): Found | undefined {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, forReading)
    const found = fstatSync(descriptor)
    return found.isFile() ? read(descriptor, found.size) : undefined
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}

/** The text of a file; the same counts as missing. @throws the errors of the disk */
export const ownTextNow = (path: string): string | undefined =>
  readOwnFileNow(path, descriptor => readFileSync(descriptor, 'utf8'))

export type ExpectedKind = 'file' | 'directory' | 'either'

/** Returns the new path of what was moved; a link to a directory counts as one. @throws the errors of the disk */
export function clearPlace(path: string, due: ExpectedKind): string | undefined {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found === undefined) return undefined
  if (due !== 'directory' && found.isFile()) return undefined
  if (due !== 'file' && found.isDirectory()) return undefined
  if (due !== 'file' && found.isSymbolicLink() && leadsToDirectory(path)) return undefined
  const aside = `${path}.aside-${Date.now()}`
  renameSync(path, aside)
  return aside
}

function leadsToDirectory(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    // A circular link, or one to nothing.
    return false
  }
}

/** Modes of a mount's own files and directories: only their owner may access them. */
export const privateFile = 0o600
export const privateDirectory = 0o700

/** Atomically and durably: temporary file, fsync, rename, directory fsync. @throws the errors of the disk; the old file is then unchanged */
export async function replaceFile(path: string, text: string | Uint8Array): Promise<void> {
  await placeFiles(new Map([[path, text]]))
  await syncDirectory(dirname(path))
}

/** The same of several, but for their names, which survive a power cut once their directories are synced. */
export async function placeFiles(texts: ReadonlyMap<string, string | Uint8Array>): Promise<void> {
  const begun: { readonly path: string; readonly temporary: string; readonly file: number }[] = []
  try {
    for (const [path, text] of texts) {
      const temporary = temporaryBeside(path)
      const file = openSync(temporary, 'wx', privateFile)
      begun.push({ path, temporary, file })
      writeFileSync(file, text)
    }
    // Only the wait for the disk leaves this thread: the rest takes microseconds.
    await synced(...begun.map(({ file }) => file))
    for (const { path, temporary } of begun) renameSync(temporary, path)
  } catch (cause) {
    for (const { temporary } of begun) rmSync(temporary, { force: true })
    throw cause
  } finally {
    for (const { file } of begun) closeSync(file)
  }
}

/** As `replaceFile`, but a power cut may undo it: for data that is only a convenience. */
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

/** A rename is atomic only within one file system: the temporary file is in the same directory. */
const temporaryBeside = (path: string): string => join(dirname(path), `.tmp-${randomUUID()}`)

/** Bytes written through these descriptors survive a power cut; each was waited for before an error is thrown. */
export const synced = (...descriptors: readonly number[]): Promise<void> =>
  new Promise((done, failed) => {
    let left = descriptors.length
    let first: Error | null = null
    const ended = (): void => (first === null ? done() : failed(first))
    if (left === 0) ended()
    for (const descriptor of descriptors)
      fsync(descriptor, error => {
        first ??= error
        left -= 1
        if (left === 0) ended()
      })
  })

/** Makes names that were created, replaced or removed in a directory survive a power cut. */
export const syncDirectory = (path: string): Promise<void> =>
  new Promise((done, failed) => {
    const directory = openSync(path, 'r')
    fsync(directory, error => {
      closeSync(directory)
      if (error === null) done()
      else failed(error)
    })
  })

/** The names in a directory, in their order; none where it is missing. @throws the errors of the disk */
export function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path).sort()
  } catch (thrown) {
    if (isMissing(thrown)) return []
    throw thrown
  }
}

/** Makes a directory and its parents; their names survive a power cut. */
export async function makeDirectory(path: string): Promise<void> {
  const first = makeDirectoriesNow(path)
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

/**
 * Makes a directory and its parents; returns the first one that was made. Node's recursive mkdir says ENOENT on a full disk, and
 * never returns below /proc.
 * @throws the errors of the disk, ENOSPC where it is full
 */
export function makeDirectoriesNow(path: string, mode = privateDirectory): string | undefined {
  try {
    mkdirSync(path, { mode })
    return path
  } catch (thrown) {
    if (isDirectoryThere(thrown, path)) return undefined
    if (!isMissing(thrown) || dirname(path) === path) throw thrown
  }
  const first = makeDirectoriesNow(dirname(path), mode)
  try {
    mkdirSync(path, { mode })
  } catch (thrown) {
    // Another process may make the same one; any other error is not a missing parent.
    if (!isDirectoryThere(thrown, path)) throw thrown
  }
  return first ?? path
}

const isDirectoryThere = (thrown: unknown, path: string): boolean =>
  codeOf(thrown) === 'EEXIST' && statSync(path).isDirectory()

/** Makes a directory that only its owner can enter, also where it existed with a wider mode. */
export function makePrivateNow(path: string): void {
  makeDirectoriesNow(path)
  chmodSync(path, privateDirectory)
}
