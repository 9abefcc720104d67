// The local side of a copy: what stands there, directories and links made, and what its errors mean.
import { createHash } from 'node:crypto'
import { constants, lstatSync, mkdirSync, utimesSync } from 'node:fs'
import { type FileHandle, lutimes, open, readdir, readlink, rename, rm, symlink } from 'node:fs/promises'
import { hostname } from 'node:os'
import { dirname, join } from 'node:path'
import { asFailure, Failure } from '../../failure.js'
import { codeOf, isMissing } from '../../system/error-code.js'
import { isProcessAlive } from '../../system/process.js'

export interface StandingFile {
  readonly is: 'file'
  readonly size: number
  readonly mtimeMs: number
}

/** What stands under a name; undefined where nothing does. */
export type Standing =
  | StandingFile
  | { readonly is: 'directory' }
  | { readonly is: 'link'; readonly target: string }
  | { readonly is: 'other' }

/** Links are not followed. @throws Failure */
export async function standing(path: string): Promise<Standing | undefined> {
  try {
    // At once: the thread of a promise takes ten times as long, for each file of a copy.
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found === undefined) return undefined
    if (found.isDirectory()) return { is: 'directory' }
    if (found.isSymbolicLink()) return { is: 'link', target: await readlink(path) }
    if (!found.isFile()) return { is: 'other' }
    const { size, mtimeMs } = found
    return { is: 'file', size, mtimeMs }
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw localFailure(thrown, path)
  }
}

/** The failure of an error of the local disk. */
export function localFailure(thrown: unknown, path: string): Failure {
  if (thrown instanceof Failure) return thrown
  const code = codeOf(thrown)
  if (code === 'ENAMETOOLONG') {
    const sentence = `${path}: this file system takes no name that long; copy it under another name with --as`
    return new Failure('name-too-long', sentence, { cause: thrown })
  }
  if (code === 'ENOENT')
    return new Failure('absent', `${path}: its directory is not there; make it first`, { cause: thrown })
  if (code === 'ENOTDIR' || code === 'EISDIR' || code === 'EEXIST')
    return new Failure('exists', `${path}: something else stands here (${code}); move it away`, {
      cause: thrown,
    })
  const failure = asFailure(thrown)
  if (failure.kind !== 'no-space') return failure
  const sentence = `${dirname(path)}: the disk is full; make room, and give the same command again`
  return new Failure('no-space', sentence, { cause: thrown })
}

/**
 * Makes the directory; one that is there stays as it is, and what killed copies left in it is removed.
 * @throws Failure where something else stands there: a link is not followed, so that nothing leaves the copy
 */
export async function ensureDirectory(path: string): Promise<void> {
  const before = await standing(path)
  if (before === undefined) {
    try {
      mkdirSync(path)
    } catch (thrown) {
      // Another copy may have made it meanwhile.
      if ((await standing(path))?.is !== 'directory') throw localFailure(thrown, path)
    }
    return
  }
  if (before.is !== 'directory') throw inTheWay(path, before)
  await sweep(path)
}

export const inTheWay = (path: string, { is }: Standing): Failure =>
  new Failure('exists', `${path}: a ${is === 'other' ? 'special file' : is} stands here; move it away`)

/** Makes a link, or replaces one that leads elsewhere. @throws Failure */
export async function ensureLink(path: string, target: string, mtimeMs: number | undefined): Promise<void> {
  const before = await standing(path)
  if (before !== undefined && before.is !== 'link') throw inTheWay(path, before)
  if (before?.target === target) return
  const aside = temporaryName(dirname(path))
  try {
    await symlink(target, aside)
    if (mtimeMs !== undefined) await lutimes(aside, secondsOf(mtimeMs), secondsOf(mtimeMs))
    await rename(aside, path)
  } catch (thrown) {
    await rm(aside, { force: true })
    throw localFailure(thrown, path)
  }
}

/** Node cuts a fraction of seconds after its microseconds: half of one more keeps the millisecond. */
export const secondsOf = (milliseconds: number): number => (milliseconds + 0.000_5) / 1000

/** The time of a file or directory, without its bytes. @throws Failure */
export function setTime(path: string, mtimeMs: number): void {
  try {
    utimesSync(path, secondsOf(mtimeMs), secondsOf(mtimeMs))
  } catch (thrown) {
    throw localFailure(thrown, path)
  }
}

/** Opens a file that stands there, and no link. @throws Failure */
export async function openStanding(path: string): Promise<FileHandle> {
  return open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((thrown: unknown) => {
    throw localFailure(thrown, path)
  })
}

/** Names begin with a dot, say which process of which machine writes there, and are short, whatever the file is called. */
const prefix = `.calcfs-get-${createHash('sha256').update(hostname()).digest('hex').slice(0, 8)}`
let made = 0

export function temporaryName(directory: string): string {
  made += 1
  return join(directory, `${prefix}-${process.pid}-${made}`)
}

/** Removes what copies of this machine have left that were killed. */
async function sweep(directory: string): Promise<void> {
  const names = await readdir(directory).catch((thrown: unknown) => {
    throw localFailure(thrown, directory)
  })
  for (const name of names) {
    const [, pid] = name.startsWith(prefix) ? (/-(\d+)-\d+$/.exec(name) ?? []) : []
    if (pid === undefined || Number(pid) === process.pid || (await isProcessAlive(Number(pid)))) continue
    await rm(join(directory, name), { force: true })
  }
}
