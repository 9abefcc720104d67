// Selects the drive of a command: the one its path or working directory is in, the named one, or the only one.
import { basename, dirname, join, relative, resolve } from 'node:path'
import { drives, drivesOfUser, innermost, type Mount, mountPath } from '../../mount/mount-point.js'
import { withoutLinks } from '../../mount/probe.js'
import { standingIn } from '../../system/home.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { driveAt, hasEnded } from './find-daemon.js'

/** A path of the drive, with a leading slash, and where that drive is mounted. */
export interface DrivePath {
  readonly mountPoint: string
  readonly path: string
}

/** Whether a link in the place of the last name stands for what it leads to, or for itself, as in `rm`. */
export type LastName = 'followed' | 'itself'

/** How a command's help describes its choice. */
export const mountFlag = [
  '--mount <drive>',
  'the drive that is meant; default: the one you stand in, or the only one',
] as const

/** This user's drives whose daemons have not ended, hanging ones included; all, or those of one source. */
export async function liveMounts(isMeant: (mount: Mount) => boolean = () => true): Promise<readonly Mount[]> {
  const all = (await drivesOfUser()).filter(isMeant)
  const ended = await Promise.all(all.map(hasEnded))
  return all.filter((_, at) => ended[at] === false)
}

/**
 * The selected mount where no path selects it; undefined where there is none.
 * @throws Stop where there are several, or where the named one is none
 */
export async function chosenMount(
  named: string | undefined,
  how = 'name one with --mount, or change into it',
): Promise<string | undefined> {
  const [chosen, ...others] = await chosenMounts(named)
  if (chosen === undefined || others.length === 0) return chosen
  throw new Stop(exitCodes.usage, `several drives are mounted: ${[chosen, ...others].join(', ')}; ${how}.`)
}

/** The same for a command that works on all drives of this user where none is selected. */
export async function chosenMounts(named: string | undefined): Promise<readonly string[]> {
  if (named !== undefined) return [await namedMount(named)]
  const here = innermost(standingIn() ?? '/', await drives())
  if (here !== undefined) return [here.path]
  return (await liveMounts()).map(({ path }) => path)
}

async function namedMount(named: string): Promise<string> {
  const path = await mountPath(resolve(named))
  const found = innermost(path, await drives())
  if (found !== undefined) return found.path
  throw new Stop(exitCodes.mountPoint, `${path} is no drive of yours; calcfs status lists them.`)
}

/** A path of this machine at or below a drive. */
export interface LocalPlace {
  readonly mountPoint: string
  readonly local: string
}

/** Undefined for a path that lies on no drive. Nothing of a mount is touched: its daemon may hang. */
export async function placeOn(given: string): Promise<LocalPlace | undefined> {
  const local = await mountPath(resolve(given))
  const above = innermost(local, await drives())
  return above && { mountPoint: above.path, local }
}

/** The selected mount where a command needs one. @throws Stop where no drive is mounted */
export async function neededMount(named: string | undefined, how?: string): Promise<string> {
  const mountPoint = await chosenMount(named, how)
  if (mountPoint !== undefined) return mountPoint
  throw new Stop(exitCodes.mountPoint, 'no drive is mounted; calcfs mount brings one up.')
}

/** Milliseconds in which the links of a path are resolved: an outage of the service makes it longer, and the command waits for its own question, too. */
const linksLimit = 1000

/** As the drive notes its own failures: without links on the way. */
export async function pathAt(
  { mountPoint, local }: LocalPlace,
  lastName: LastName = 'followed',
): Promise<DrivePath> {
  // Before the mount is accessed: a daemon that hangs ends the command.
  await (await driveAt(mountPoint)).drafts({})
  const path = local === mountPoint ? local : await withoutLinksTo(local, lastName)
  const isInside = path === mountPoint || path.startsWith(`${mountPoint}/`)
  return { mountPoint, path: join('/', relative(mountPoint, isInside ? path : local)) }
}

const withoutLinksTo = async (local: string, lastName: LastName): Promise<string> =>
  lastName === 'followed'
    ? withoutLinks(local, linksLimit)
    : join(await withoutLinks(dirname(local), linksLimit), basename(local))
