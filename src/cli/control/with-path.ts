// Access of a command to one path: of the drive it lies in, mounted or not.
import { existsSync } from 'node:fs'
import { isAbsolute, join, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { statesOf } from '../../config/places.js'
import type { Control, NamedDraft } from '../../drive/interface/control.js'
import { fixedNames } from '../../layout.js'
import { drives, innermost, mountPath } from '../../mount/mount-point.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { configured } from '../../terminal/settings.js'
import type { placeOfDraft } from './draft-place.js'
import { driveAt } from './find-daemon.js'
import { type DrivePath, drivePathOf, liveMounts } from './select-mount.js'
import { namedDrive, namesOneDrive, namesService, withDrive } from './with-drive.js'

/**
 * Does the work with the drive of a path: the one that the path lies in, else the one that the command selects, mounted or
 * not. `path` is the drive's, with a leading slash.
 */
export async function withPath<Result>(
  command: Command,
  given: string,
  work: (control: Control, path: string, isMounted: boolean) => Promise<Result>,
): Promise<Result> {
  if (!(await liesOnDrive(given))) {
    await refuseOtherPlaces(command, given)
    return withDrive(command, (control, isMounted) => work(control, join('/', given), isMounted))
  }
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
  const isInside = await liesOnDrive(given)
  if (isPath && !isInside) await refuseUnmounted(command, given)
  if (!isInside || (!isPath && command.opts()['mount'] !== undefined)) {
    const asked = isPath ? { name: given, path: join('/', given) } : { name: given }
    const within = (await namesOneDrive(command)) ? undefined : await onlyPlace(command, given)
    return within === undefined
      ? withDrive(command, control => work(control, asked))
      : within(control => work(control, asked))
  }
  const { mountPoint, path } = await drivePathOf(given)
  return work(await driveAt(mountPoint), { name: given, path })
}

async function onlyPlace(command: Command, given: string): ReturnType<typeof placeOfDraft> {
  const { placeOfDraft } = await import('./draft-place.js')
  return placeOfDraft(given, configured(command))
}

/** The place that a path means on a mounted drive. @throws Stop where it is below a directory on which nothing is mounted any more */
export async function mountedPath(command: Command, given: string): Promise<DrivePath> {
  if (!(await liesOnDrive(given))) await refuseOtherPlaces(command, given)
  return drivePathOf(given, () => namedDrive(command))
}

/** An absolute path may be the drive's own, `/projects/Dyes`; what is unmounted, and a file of this machine, is none. @throws Stop */
async function refuseOtherPlaces(command: Command, given: string): Promise<void> {
  await refuseUnmounted(command, given)
  if (!isAbsolute(given) || isDrivePath(given) || !existsSync(given)) return
  throw new Stop(
    exitCodes.mountPoint,
    `${given} is on no drive; calcfs mounts lists where yours are, and a path of the drive is written as reports/42.json.`,
  )
}

const { projects, users, reports, numbers, own } = fixedNames
const tops = [projects, users, reports, numbers, own].map(name => `/${name}`)
const isDrivePath = (path: string): boolean =>
  path === '/' || tops.some(top => path === top || path.startsWith(`${top}/`))

const liesOnDrive = async (given: string): Promise<boolean> =>
  innermost(await mountPath(resolve(given)), await drives()) !== undefined

/**
 * Refuses a path below a directory on which a drive was mounted and none is now: it is not a path of another drive. A relative path
 * may be one of the drive that the command names, or, where none is mounted, of the configured service.
 * @throws Stop
 */
export async function refuseUnmounted(command: Command, given: string): Promise<void> {
  // Whose names and notes the directories of accounts are: a path on a drive need not load it.
  const { formerMountAbove } = await import('../../app/account/mount-notes.js')
  const { config, sources } = configured(command)
  const local = await mountPath(resolve(given))
  const former = formerMountAbove(local, statesOf(config, sources.environment))
  if (former === undefined || (!isAbsolute(given) && (await isOfNamedDrive(command)))) return
  const path = relative(former, local)
  const orOf = path === '' ? '' : `; of another drive the path is ${path}, with --mount`
  throw new Stop(
    exitCodes.mountPoint,
    `nothing is mounted on ${former} any more, so ${local} is on no drive; calcfs mount brings it up again${orOf}.`,
  )
}

async function isOfNamedDrive(command: Command): Promise<boolean> {
  const { mount } = command.optsWithGlobals()
  return mount !== undefined || namesService(command) || (await liveMounts()).length === 0
}

/** How a command's help describes a path. */
export const pathHelp = 'a path below a mount, or of the drive: reports/42.json'
