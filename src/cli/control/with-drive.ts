// Access of a command to a drive or to one path of it: a path means the drive it lies on; else the drive that is selected, mounted or assembled in this process.

import { isAbsolute, join } from 'node:path'
import { Command, Option } from 'commander'
import type { Control, NamedDraft } from '../../drive/interface/control.js'
import { fixedNames } from '../../layout.js'
import { drives, innermost, mountAt, sourceOf } from '../../mount/mount-point.js'
import { standingIn } from '../../system/home.js'
import { exitCodes, Stop, sentenceOf } from '../../terminal/exit.js'
import { complain } from '../../terminal/print.js'
import { configured, withSettings } from '../../terminal/settings.js'
import { daemonAt, driveAt } from './find-daemon.js'
import {
  chosenMount,
  chosenMounts,
  type DrivePath,
  type LastName,
  liveMounts,
  mountFlag,
  neededMount,
  pathAt,
  placeOn,
} from './select-mount.js'

/** A command for a mounted drive, and without one for the drafts of the configured service. */
export function driveCommand(name: string): Command {
  const command = new Command(name).addOption(new Option(...mountFlag).conflicts('url'))
  return withSettings(command, 'service')
}

/** Does the work with the drive that a command selects, mounted or not. */
export async function withDrive<Result>(
  command: Command,
  work: (control: Control, isMounted: boolean) => Promise<Result>,
): Promise<Result> {
  const mountPoint = await mountedDrive(command)
  if (mountPoint !== undefined) return work(await driveAt(mountPoint), true)
  // Most of the program, which a command with a daemon need not load.
  const { withoutDaemon } = await import('./without-daemon.js')
  return withoutDaemon(configured(command), ({ control }) => work(control, false))
}

/** A drive on which a command works; undefined mount point where it is assembled in this process. */
export interface SelectedDrive {
  readonly control: Control
  readonly mountPoint: string | undefined
  /** One of several: what is said of it needs a heading. */
  readonly isOneOfSeveral: boolean
}

/**
 * The same with every drive of this user, one after another, where the command selects none. One that does not answer does not
 * keep the work from the others.
 * @throws the first failure of them, after all
 */
export async function withDrives(
  command: Command,
  work: (drive: SelectedDrive) => Promise<void>,
): Promise<void> {
  const { mount } = command.optsWithGlobals()
  const isNamed = mount === undefined && namesService(command)
  const all = isNamed ? [] : await chosenMounts(mount)
  if (all.length < 2) {
    const [mountPoint = isNamed ? await mountedDrive(command) : undefined] = all
    return withDrive(command, control => work({ control, mountPoint, isOneOfSeveral: false }))
  }
  const failed: unknown[] = []
  for (const mountPoint of all) {
    try {
      await work({ control: await driveAt(mountPoint), mountPoint, isOneOfSeveral: true })
    } catch (thrown) {
      // It was unmounted since the list was made.
      if ((await mountAt(mountPoint)) === undefined) continue
      failed.push(thrown)
      if (failed.length > 1) complain(sentenceOf(thrown))
    }
  }
  if (failed.length > 0) throw failed[0]
}

/** Whether the command is about one drive: named, of a service that is named, or the one in which the shell stands. */
export async function namesOneDrive(command: Command): Promise<boolean> {
  if (command.optsWithGlobals()['mount'] !== undefined || namesService(command)) return true
  return innermost(standingIn() ?? '/', await drives()) !== undefined
}

/** With these a user names a service, or who is signed in to it; what stands in a file, and who by a variable, is a default. */
const namingFlags = ['url', 'profile', 'user']
const namingVariables = ['CALCFS_URL', 'CALCFS_PROFILE']

/** Whether the command is about a certain service, whatever is mounted. */
export function namesService(command: Command): boolean {
  const flags: Readonly<Record<string, unknown>> = command.optsWithGlobals()
  return (
    namingFlags.some(name => flags[name] !== undefined) ||
    namingVariables.some(name => (process.env[name] ?? '') !== '')
  )
}

/**
 * The drive named with --mount, else a mounted one of the service that the user names; a command that would do its work on
 * another one ends.
 * @throws Stop where the service that is named is not mounted
 */
export async function namedDrive(command: Command): Promise<string | undefined> {
  const { mount } = command.optsWithGlobals()
  if (mount !== undefined || !namesService(command)) return mount
  const found = await mountedDrive(command)
  if (found !== undefined) return found
  throw new Stop(
    exitCodes.mountPoint,
    'no drive of the service and user that you name is mounted; calcfs mounts lists yours.',
  )
}

/** A service that the user names is selected, mounted or not; else the mount goes before the configuration. */
export async function mountedDrive(command: Command): Promise<string | undefined> {
  const { mount } = command.optsWithGlobals()
  if (mount !== undefined || !namesService(command)) return chosenMount(mount)
  const { config } = configured(command)
  const { serviceBase } = await import('../../app/connect.js')
  const base = serviceBase(config).href
  const mounts = await liveMounts(({ source }) => source !== '' && sourceOf(base).startsWith(source))
  const all = await Promise.all(mounts.map(async ({ path }) => (await daemonAt(path)).status()))
  return all.find(
    ({ service, user }) => service === base && (config.user === undefined || user === config.user),
  )?.mountPoint
}

/** Does the work with the drive of a path. `path` is the drive's, with a leading slash. */
export async function withPath<Result>(
  command: Command,
  given: string,
  work: (control: Control, path: string, isMounted: boolean) => Promise<Result>,
): Promise<Result> {
  const place = await placeOn(given)
  if (place === undefined) {
    refuseElsewhere(given)
    return withDrive(command, (control, isMounted) => work(control, join('/', given), isMounted))
  }
  const { mountPoint, path } = await pathAt(place)
  return work(await driveAt(mountPoint), path, true)
}

/** The same for a draft, which may be named by its name in `.calcfs/drafts/` as well. */
export async function withDraft<Result>(
  command: Command,
  given: string,
  work: (control: Control, asked: NamedDraft) => Promise<Result>,
): Promise<Result> {
  const isPath = given.includes('/')
  const isOfDrive = command.opts()['mount'] === undefined && (await placeOn(given)) !== undefined
  if (isPath || isOfDrive)
    return withPath(command, given, (control, path) => work(control, { name: given, path }))
  return withDrive(command, control => work(control, { name: given }))
}

/** The place that a path means on a mounted drive. @throws Stop where it lies on none */
export async function mountedPath(
  command: Command,
  given: string,
  lastName: LastName = 'followed',
): Promise<DrivePath> {
  const place = await placeOn(given)
  if (place !== undefined) return pathAt(place, lastName)
  refuseElsewhere(given)
  const mountPoint = await neededMount(await namedDrive(command))
  return pathAt({ mountPoint, local: join(mountPoint, given) }, lastName)
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

/** How a command's help describes a path. */
export const pathHelp = 'a path below a mount, or of the drive: reports/42.json'
