// What a promise of the drive is tested on: a service, files as a program sees them, and the passing of time.
import { constants } from 'node:os'
import type { Test } from 'tap'
import type { Seed } from '../../src/service/seed.js'
import type { ServiceOptions } from '../../src/service/store/options.js'
import type { TestService } from './service.js'

/** How a test wants its drive: what the service holds and lacks, and the settings of the mount by their names. */
export interface TestbedOptions {
  /** In the place of the sample data. */
  readonly fill?: (seed: Seed) => void
  /** On top of that. */
  readonly adds?: (seed: Seed) => void
  readonly service?: Partial<ServiceOptions>
  readonly settings?: Readonly<Record<string, string | readonly string[]>>
  readonly password?: string
  /** How many times faster, or slower, waits between two tries are over; without a kernel only. Deadlines stay. */
  readonly speedup?: number
  /** A module that the daemon of a real mount loads before anything else. */
  readonly preload?: URL
  /** On a mount extended attributes are answered, because most promises are told by them, too; off: as a mount is by itself. */
  readonly xattrs?: 'off'
  /** More variables of the daemon of a real mount, over the usual ones. */
  readonly environment?: Readonly<Record<string, string>>
}

/** Deadlines of a drive that is not about deadlines: a machine that is busy with other tests is no slow service. */
export const roomy = { deadlineMetadata: '1m', deadlineSave: '1m' } as const

/** What a ground's life is bound to: a test, or a process of a test's own. */
export type TestLifetime = Pick<Test, 'teardown'>

export type OpenTestbed = (t: Test, wish?: TestbedOptions) => Promise<Testbed>

export interface Testbed {
  readonly name: 'in-process' | 'mount'
  readonly service: TestService
  readonly files: DriveFiles
  /** The daemon ends in order and comes up again with the caches and the state it has kept. */
  remount(): Promise<void>
  /** Lets so many milliseconds pass for the drive and for the kernel's caches. */
  pass(milliseconds: number): Promise<void>
}

export type FileKind = 'directory' | 'file' | 'link'

export interface FileStat {
  readonly kind: FileKind
  /** Permission bits. */
  readonly mode: number
  readonly size: number
  readonly mtimeMs: number
}

/** The part of node:fs/promises that promises are about. Paths are below the drive's root; errors carry `code`. */
export interface DriveFiles {
  /** Names and kinds as readdir tells them (d_type). */
  readdir(path: string): Promise<ReadonlyMap<string, FileKind>>
  lstat(path: string): Promise<FileStat>
  stat(path: string): Promise<FileStat>
  readFile(path: string): Promise<Buffer>
  readlink(path: string): Promise<string>
  open(path: string, how: 'r' | 'r+' | 'w' | 'a'): Promise<OpenedFile>
  truncate(path: string, size: number): Promise<void>
  rename(from: string, to: string): Promise<void>
  unlink(path: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  /** As `touch` does. */
  touch(path: string): Promise<void>
  chmod(path: string, mode: number): Promise<void>
  statfs(): Promise<{ readonly bsize: number; readonly blocks: number }>
  /** The value of an extended attribute; undefined where there is none. */
  xattr(path: string, name: string): Promise<string | undefined>
  xattrs(path: string): Promise<readonly string[]>
}

export interface OpenedFile {
  read(length: number, position: number): Promise<Buffer>
  write(text: string, position: number): Promise<void>
  truncate(size: number): Promise<void>
  sync(): Promise<void>
  /** Ends with the answer of the save, as close(2) does. */
  close(): Promise<void>
}

/** The text of a file. */
export const textOf = async ({ files }: Pick<Testbed, 'files'>, path: string): Promise<string> =>
  (await files.readFile(path)).toString()

/** All of a file, piece by piece up to its end, as `cat` reads it. */
export async function readToEnd({ files }: Pick<Testbed, 'files'>, path: string): Promise<Buffer> {
  const file = await files.open(path, 'r')
  try {
    const pieces: Buffer[] = []
    for (let position = 0; ; ) {
      const piece = await file.read(128 << 10, position)
      pieces.push(piece)
      position += piece.length
      if (piece.length === 0) return Buffer.concat(pieces)
    }
  } finally {
    await file.close()
  }
}

export const isThere = async ({ files }: Pick<Testbed, 'files'>, path: string): Promise<boolean> =>
  (await outcome(files.lstat(path))) === 'done'

/** The names in a directory, sorted. */
export const namesOf = async ({ files }: Pick<Testbed, 'files'>, path: string): Promise<string[]> =>
  [...(await files.readdir(path)).keys()].sort()

/** Opens, empties, writes and closes, as a shell's `>` does; with `r+` it is written over in its place, and then cut. */
export async function overwrite(
  { files }: Pick<Testbed, 'files'>,
  path: string,
  text: string,
  how: 'w' | 'r+' = 'w',
): Promise<void> {
  const file = await files.open(path, how)
  try {
    await file.write(text, 0)
    if (how === 'r+') await file.truncate(Buffer.byteLength(text))
  } catch (thrown) {
    await file.close().catch(() => {})
    throw thrown
  }
  await file.close()
}

/** The errno that something ends with, or 'done'. */
export async function outcome(work: Promise<unknown>): Promise<string> {
  try {
    await work
    return 'done'
  } catch (thrown) {
    const errno = errnoOf(thrown)
    if (errno !== undefined) return errno
    if (thrown instanceof Error && 'code' in thrown) return String(thrown.code)
    throw thrown
  }
}

/** The name of a kernel's error, undefined for any other one. Node names few of them: ESTALE is an unknown one to it. */
export function errnoOf(thrown: unknown): string | undefined {
  if (!(thrown instanceof Error) || !('errno' in thrown)) return undefined
  const number = -Number(thrown.errno)
  return Object.entries(constants.errno).find(([, one]) => one === number)?.[0] ?? `errno ${number}`
}
