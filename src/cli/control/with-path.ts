// Access of a command to one path: of the drive it lies in, mounted or not.
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Control, NamedDraft } from '../../drive/interface/control.js'
import { drives, innermost, mountPath } from '../../mount/mount-point.js'
import { driveAt } from './find-daemon.js'
import { drivePathOf } from './select-mount.js'
import { withDrive } from './with-drive.js'

/**
 * Does the work with the drive of a path: the one that the path lies in, else the one that the command selects, mounted or
 * not. `path` is the drive's, with a leading slash.
 */
export async function withPath<Result>(
  command: Command,
  given: string,
  work: (control: Control, path: string, isMounted: boolean) => Promise<Result>,
): Promise<Result> {
  if (innermost(await mountPath(resolve(given)), await drives()) === undefined)
    return withDrive(command, (control, isMounted) => work(control, join('/', given), isMounted))
  const { mountPoint, path } = await drivePathOf(given)
  return work(await driveAt(mountPoint), path, true)
}

/**
 * The same for a draft, which may be named by its name in `.calcfs/drafts/` as well: on the drive that the command selects, where
 * what was written lies in none.
 */
export async function withDraft<Result>(
  command: Command,
  given: string,
  work: (control: Control, asked: NamedDraft) => Promise<Result>,
): Promise<Result> {
  const isPath = given.includes('/')
  const isInside = innermost(await mountPath(resolve(given)), await drives()) !== undefined
  if (!isInside || (!isPath && command.opts()['mount'] !== undefined))
    return withDrive(command, control =>
      work(control, isPath ? { name: given, path: join('/', given) } : { name: given }),
    )
  const { mountPoint, path } = await drivePathOf(given)
  return work(await driveAt(mountPoint), { name: given, path })
}

/** How a command's help describes a path. */
export const pathHelp = 'a path below a mount, or of the drive: reports/42.json'
