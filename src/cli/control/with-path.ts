// Access of a command to one path: a path means the drive it lies on, any other the drive that the command selects, mounted or not.
import { isAbsolute, join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Control, NamedDraft } from '../../drive/interface/control.js'
import { fixedNames } from '../../layout.js'
import { drives, innermost, mountPath } from '../../mount/mount-point.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { driveAt } from './find-daemon.js'
import { type DrivePath, drivePathOf } from './select-mount.js'
import { namedDrive, withDrive } from './with-drive.js'

/** Does the work with the drive of a path. `path` is the drive's, with a leading slash. */
export async function withPath<Result>(
  command: Command,
  given: string,
  work: (control: Control, path: string, isMounted: boolean) => Promise<Result>,
): Promise<Result> {
  if (!(await liesOnDrive(given))) {
    refuseElsewhere(given)
    return withDrive(command, (control, isMounted) => work(control, join('/', given), isMounted))
  }
  const { mountPoint, path } = await drivePathOf(given)
  return work(await driveAt(mountPoint), path, true)
}

/** The same for a draft, which may be named by its name in `.calcfs/drafts/` as well. */
export async function withDraft<Result>(
  command: Command,
  given: string,
  work: (control: Control, asked: NamedDraft) => Promise<Result>,
): Promise<Result> {
  const isPath = given.includes('/')
  const isMeant = isPath || command.opts()['mount'] === undefined
  if (isMeant && (await liesOnDrive(given))) {
    const { mountPoint, path } = await drivePathOf(given)
    return work(await driveAt(mountPoint), { name: given, path })
  }
  if (isPath) refuseElsewhere(given)
  return withDrive(command, control =>
    work(control, isPath ? { name: given, path: join('/', given) } : { name: given }),
  )
}

/** The place that a path means on a mounted drive. @throws Stop where it lies on none */
export async function mountedPath(command: Command, given: string): Promise<DrivePath> {
  if (!(await liesOnDrive(given))) refuseElsewhere(given)
  return drivePathOf(given, () => namedDrive(command))
}

const { projects, users, reports, numbers, own } = fixedNames
const tops = [projects, users, reports, numbers, own].map(name => `/${name}`)

/** An absolute path that lies on no drive may be the drive's own, `/projects/Dyes`; a file of this machine is none. @throws Stop */
export function refuseElsewhere(given: string): void {
  const isDrives = given === '/' || tops.some(top => given === top || given.startsWith(`${top}/`))
  if (!isAbsolute(given) || isDrives) return
  throw new Stop(
    exitCodes.mountPoint,
    `${given} is on no drive; calcfs mounts lists where yours are, and a path of the drive is written as reports/42.json.`,
  )
}

const liesOnDrive = async (given: string): Promise<boolean> =>
  innermost(await mountPath(resolve(given)), await drives()) !== undefined

/** How a command's help describes a path. */
export const pathHelp = 'a path below a mount, or of the drive: reports/42.json'
