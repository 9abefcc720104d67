// Which drive the paths of a command mean, and its reader: of the daemon that has it mounted, or assembled in this process.
import { join, posix, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import type { DriveReader } from '../../drive/interface/reader.js'
import { drives, innermost, mountPath } from '../../mount/mount-point.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { configured } from '../../terminal/settings.js'
import { daemonAt } from './find-daemon.js'
import { mountedDrive } from './with-drive.js'
import { refuseElsewhere } from './with-path.js'

/** A path of a command. */
export interface GivenPath {
  /** As it was typed. */
  readonly given: string
  /** On the drive, with a leading slash, without `.` and `..`. */
  readonly path: string
}

interface Located {
  readonly given: string
  /** On this machine, where it lies at or below a drive. */
  readonly below?: { readonly mountPoint: string; readonly local: string } | undefined
}

/**
 * Does the work with the reader of the drive that the paths mean. A path is one of this machine at or below a mount point,
 * else one of the drive.
 * @throws Stop where the paths lie on several drives, NoAnswer where a daemon is dead or hangs
 */
export async function withReader<Result>(
  command: Command,
  given: readonly string[],
  work: (reader: DriveReader, paths: readonly GivenPath[]) => Promise<Result>,
): Promise<Result> {
  const located = await Promise.all(given.map(locate))
  for (const { given, below } of located) if (below === undefined) refuseElsewhere(given)
  const mountPoint = oneMount(located) ?? (await mountedDrive(command))
  const paths = located.map(place => onDrive(place, mountPoint))
  if (mountPoint !== undefined) return work(await (await daemonAt(mountPoint)).reader(), paths)
  // Most of the program, which a command with a daemon need not load.
  const { readerWithoutDaemon } = await import('./without-daemon.js')
  return readerWithoutDaemon(configured(command), reader => work(reader, paths))
}

/** Nothing of a mount is touched: its daemon may hang. */
async function locate(given: string): Promise<Located> {
  const local = await mountPath(resolve(given))
  const above = innermost(local, await drives())
  return { given, below: above && { mountPoint: above.path, local } }
}

function oneMount(located: readonly Located[]): string | undefined {
  const mountPoints = [...new Set(located.flatMap(({ below }) => below?.mountPoint ?? []))]
  if (mountPoints.length < 2) return mountPoints[0]
  throw new Stop(
    exitCodes.usage,
    `the paths lie on several drives: ${mountPoints.join(', ')}; give those of one drive at a time.`,
  )
}

function onDrive({ given, below }: Located, mountPoint: string | undefined): GivenPath {
  if (below !== undefined) return { given, path: join('/', relative(mountPoint ?? '/', below.local)) }
  const path = posix.normalize(`/${given}`)
  return { given, path: path === '/' ? path : path.replace(/\/$/, '') }
}
