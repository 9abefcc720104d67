// The drive that a command means: the one its paths lie on; else the one that --mount names, or that of the service that is named, or the one in which the shell stands, or the only one.
import { existsSync } from 'node:fs'
import { isAbsolute, join, posix, relative, resolve } from 'node:path'
import type { Command } from 'commander'
import { adviceOn, typedFlags } from '../../advice.js'
import type { DraftLine } from '../../drive/interface/control.js'
import { fixedNames } from '../../layout.js'
import { drives, drivesOfUser, innermost, type Mount, mountPath, sourceOf } from '../../mount/mount-point.js'
import { standingIn } from '../../system/user-name.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type Configured, configured } from '../../terminal/settings.js'
import { driveAt, hasEnded, statusOfEach } from './daemon.js'

export const mountFlag = [
  '--mount <drive>',
  'the drive that is meant; default: the one you stand in, or the only one',
] as const

export const pathHelp = 'a path below a mount, or of the drive: reports/42.json'

export interface GivenPath {
  readonly given: string
  /** On the drive, with a leading slash, without `.` and `..`. */
  readonly path: string
}

interface Chosen {
  /** Undefined where no drive is mounted, or not that of the service that is named. */
  readonly mountPoint: string | undefined
  readonly paths: readonly GivenPath[]
}

/**
 * The drive of a command and of its paths, each one of this machine at or below a mount point, else one of the drive. Nothing of
 * a mount is touched: its daemon may hang.
 * @throws Stop where several could be meant, or a path lies on none
 */
export async function chosen(command: Command, given: readonly string[]): Promise<Chosen> {
  const places = await Promise.all(given.map(path => placeOf(path, command)))
  const [first, ...others] = new Set(places.flatMap(({ mountPoint }) => mountPoint ?? []))
  if (others.length > 0)
    throw new Stop(
      exitCodes.usage,
      `the paths lie on several drives: ${[first, ...others].join(', ')}; give those of one drive at a time.`,
    )
  return { mountPoint: first ?? (await namedDrive(command)), paths: places }
}

/** The same for a command that needs a mounted drive. @throws Stop where there is none, or it is of another service than is named */
export async function chosenMounted(
  command: Command,
  given: readonly string[],
): Promise<Chosen & { readonly mountPoint: string }> {
  const { mountPoint = noneMounted(namesService(command)), paths } = await chosen(command, given)
  const isContradicted = hasNamingFlag(command) && command.optsWithGlobals()['mount'] === undefined
  if (isContradicted && !(await drivesOfService(configured(command))).includes(mountPoint))
    throw new Stop(exitCodes.usage, `${mountPoint} is no drive of the service that you name.`)
  return { mountPoint, paths }
}

export function noneMounted(ofService = false): never {
  throw new Stop(
    exitCodes.mountPoint,
    ofService
      ? 'no drive of the service and user that you name is mounted; calcfs status lists yours.'
      : 'no drive of yours is mounted; calcfs mount brings one up.',
  )
}

interface Place extends GivenPath {
  readonly mountPoint: string | undefined
}

/** Where a path that was typed lies; of no drive it may be the drive's own, `/projects/Dyes`. @throws Stop for one of this machine */
async function placeOf(given: string, command: Command): Promise<Place> {
  const found = await onDrive(given)
  if (found !== undefined) return found
  if (/^https?:\/\//.test(given))
    throw new Stop(exitCodes.usage, `${given}: give the address with --url, and a path like projects/Dyes.`)
  const path = posix.normalize(`/${given}`).replace(/(?<=.)\/$/, '')
  const isDrives = path === '/' || tops.some(top => path === top || path.startsWith(`${top}/`))
  const isHere = isAbsolute(given) || existsSync(resolve(given))
  if (isDrives || !isHere) return { given, mountPoint: undefined, path }
  const mounted = (await drivesOfUser()).map(drive => drive.path).join(', ')
  const which = mounted === '' ? 'none is mounted; calcfs mount brings one up' : `mounted: ${mounted}`
  const copies = command.name() === 'get' ? ', and the place of the copies as --to DIRECTORY' : ''
  const sentence = `${given} is on no calcfs drive (${which}); a path of a drive is written as reports/42.json${copies}.`
  throw new Stop(exitCodes.mountPoint, sentence)
}

const tops = (['projects', 'users', 'reports', 'numbers', 'own'] as const).map(top => `/${fixedNames[top]}`)

export async function onDrive(given: string): Promise<Place | undefined> {
  const local = await mountPath(resolve(given))
  const mount = innermost(local, await drives())
  return mount && { given, mountPoint: mount.path, path: join('/', relative(mount.path, local)) }
}

/** A command that names no service means the only one that is mounted, as if it were typed. @throws Stop where there are several */
export async function meanMounted(command: Command): Promise<void> {
  const { config } = configured(command)
  const all = config.url === undefined ? await statusOfEach(await selectedDrives(undefined)) : []
  const named = all.map(({ service, user }) => ({ url: service, user: config.user ?? user }))
  const services = [...new Set(named.map(typedFlags))]
  if (services.length > 1)
    throw new Stop(exitCodes.usage, `several services are mounted; name one: ${services.join(', or ')}.`)
  for (const [flag, value] of Object.entries(named[0] ?? {})) command.setOptionValue(flag, value)
}

/** The drive of a command without a path; undefined where there is none. @throws Stop where several could be meant */
async function namedDrive(command: Command): Promise<string | undefined> {
  const { mount } = command.optsWithGlobals<{ mount?: string }>()
  const isNamed = mount === undefined && namesService(command)
  const all = isNamed ? [] : await selectedDrives(mount)
  if (!isNamed && all.length < 2) return all[0]
  // Of several, a configuration file that names a service chooses.
  const settings = configured(command)
  const isConfigured = isNamed || settings.config.url !== undefined
  const fitting = isConfigured ? await drivesOfService(settings) : all
  if (fitting.length < 2) return fitting[0]
  throw new Stop(
    exitCodes.usage,
    `several drives are mounted: ${fitting.join(', ')}; name one with --mount or ${isConfigured ? '--user' : '--url, or change into it'}.`,
  )
}

/** The advice of a drive: where there are several, its commands name it. */
export async function adviceOf(mountPoint: string): Promise<(advice: string) => string> {
  const { length } = await drivesOfUser()
  return advice => (length > 1 ? adviceOn({ mount: mountPoint }, advice) : advice)
}

/** Unsaved texts, their commands as they are typed. */
export const withAdvice =
  (advised: (advice: string) => string) =>
  (draft: DraftLine): DraftLine => ({
    ...draft,
    why: draft.why && advised(draft.why),
    whatToDo: draft.whatToDo && advised(draft.whatToDo),
  })

/** The advice of what is on no drive: its commands name the service as this one does. */
export function adviceLike(command: Command): (advice: string) => string {
  const flags = givenNames(command)
  return advice => (Object.keys(flags).length > 0 ? adviceOn(flags, advice) : advice)
}

/** The one that is named, or in which the shell stands, or all of this user, where one lives the dead ones too. @throws Stop where the named one is none */
export async function selectedDrives(named: string | undefined): Promise<readonly string[]> {
  const mounts = await drives()
  if (named === undefined) {
    const here = innermost(standingIn() ?? '/', mounts)
    if (here !== undefined) return [here.path]
    return (await liveMounts()).length === 0 ? [] : (await drivesOfUser()).map(({ path }) => path)
  }
  const path = await mountPath(resolve(named))
  const found = innermost(path, mounts)
  if (found !== undefined) return [found.path]
  throw new Stop(
    exitCodes.mountPoint,
    `${named} is no drive: give the directory on which it is mounted; calcfs status lists yours.`,
  )
}

/** This user's drives whose daemons have not ended, hanging ones included; all, or those of one source. */
export async function liveMounts(isMeant: (mount: Mount) => boolean = () => true): Promise<readonly Mount[]> {
  const all = (await drivesOfUser()).filter(isMeant)
  const ended = await Promise.all(all.map(hasEnded))
  return all.filter((_, at) => ended[at] === false)
}

async function drivesOfService({ config }: Configured): Promise<readonly string[]> {
  const { serviceBase } = await import('../../app/connect.js')
  const base = serviceBase(config).href
  const mounts = await liveMounts(({ source }) => source !== '' && sourceOf(base).startsWith(source))
  const all = await Promise.all(mounts.map(async ({ path }) => (await driveAt(path)).status({})))
  // Of one account any drive shows the same, drafts included: the first one.
  const ofUser = new Map<string, string>()
  for (const { service, user, mountPoint } of all)
    if (service === base && (config.user ?? user) === user) ofUser.set(user, ofUser.get(user) ?? mountPoint)
  return [...ofUser.values()]
}

/** With these a user names a service, or who is signed in to it; what stands in a file, and who by a variable, is a default. */
const namingFlags = ['url', 'profile', 'user']
const namingVariables = ['CALCFS_URL', 'CALCFS_PROFILE']

/** True if the command is about a certain service, whatever is mounted. */
export const namesService = (command: Command): boolean =>
  hasNamingFlag(command) || namingVariables.some(name => (process.env[name] ?? '') !== '')

function givenNames(command: Command): Readonly<Record<string, string>> {
  const flags: Readonly<Record<string, unknown>> = command.optsWithGlobals()
  const given = namingFlags.filter(name => flags[name] !== undefined)
  return Object.fromEntries(given.map(name => [name, String(flags[name])]))
}

export const hasNamingFlag = (command: Command): boolean => Object.keys(givenNames(command)).length > 0

/** True if the command is about one drive: named, of a service that is named, or the one in which the shell stands. */
export async function namesOneDrive(command: Command): Promise<boolean> {
  if (command.optsWithGlobals()['mount'] !== undefined || namesService(command)) return true
  return innermost(standingIn() ?? '/', await drives()) !== undefined
}
