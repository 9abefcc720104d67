// Which mounted drive a command is about: the one its path or the shell lies in, the one that is named, or the only one.
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { fileSystemType, isDead, mountPath, mountsOf } from '../mount/mount-point.js'
import { exitCodes, Stop } from './exit.js'

/** A path of the drive, with a leading slash, and where that drive is mounted. */
export interface Place {
  readonly mountPoint: string
  readonly path: string
}

/** How a command's help describes its choice. */
export const mountFlag = [
  '--mount <directory>',
  'the drive that is meant; default: the one you stand in, or the only one',
] as const

/** This user's drives whose daemons live. */
export async function liveMounts(): Promise<readonly string[]> {
  const all = await mountsOf(fileSystemType)
  const dead = await Promise.all(all.map(isDead))
  return all.filter((_, at) => dead[at] === false)
}

/**
 * The mount that is meant where no path says it; undefined where none is there.
 * @throws Stop where several are, or where the one named is none
 */
export async function chosenMount(named: string | undefined): Promise<string | undefined> {
  const mounts = await liveMounts()
  if (named !== undefined) return namedMount(named, mounts)
  const here = mountAbove(process.cwd(), mounts)
  if (here !== undefined || mounts.length < 2) return here ?? mounts[0]
  throw new Stop(
    exitCodes.usage,
    `several drives are mounted: ${mounts.join(', ')}; name one with --mount, or change into it.`,
  )
}

async function namedMount(named: string, mounts: readonly string[]): Promise<string> {
  const path = await mountPath(resolve(named))
  const found = mountAbove(path, mounts)
  if (found !== undefined) return found
  throw new Stop(exitCodes.mountPoint, `${path} is no drive of yours; calcfs status lists them.`)
}

/**
 * What a path means: below a mount, also from a directory of it, else a path of the drive that is meant.
 * @throws Stop where no drive is mounted
 */
export async function placeOf(given: string, named: string | undefined): Promise<Place> {
  const mounts = await liveMounts()
  const local = await withoutLinks(resolve(given), mounts)
  const above = mountAbove(local, mounts)
  if (above !== undefined) return { mountPoint: above, path: drivePath(above, local) }
  await refuseDead(local, mounts)
  const mountPoint = await chosenMount(named)
  if (mountPoint === undefined) {
    throw new Stop(exitCodes.mountPoint, 'no drive is mounted; calcfs mount brings one up.')
  }
  const onDrive = await withoutLinks(join(mountPoint, given), mounts)
  const isBelow = mountAbove(onDrive, mounts) === mountPoint
  return { mountPoint, path: isBelow ? drivePath(mountPoint, onDrive) : join('/', given) }
}

/** As the drive's own failures are noted: no link on the way. What is not there keeps its name. */
async function withoutLinks(path: string, mounts: readonly string[]): Promise<string> {
  if (mounts.includes(path)) return path
  try {
    return await realpath(path)
  } catch {
    // It may be absent, or refuse to be looked at: that is what the command is asked about.
    return dirname(path) === path ? path : join(await withoutLinks(dirname(path), mounts), basename(path))
  }
}

async function refuseDead(path: string, live: readonly string[]): Promise<void> {
  const dead = (await mountsOf(fileSystemType)).filter(mount => !live.includes(mount))
  const above = mountAbove(path, dead)
  if (above === undefined) return
  throw new Stop(
    exitCodes.mountPoint,
    `the daemon of ${above} has died; calcfs unmount ${above} frees the mount point.`,
  )
}

/** The innermost mount in which a path lies. */
function mountAbove(path: string, mounts: readonly string[]): string | undefined {
  const above = mounts.filter(mount => path === mount || path.startsWith(`${mount}/`))
  return above.toSorted((one, other) => other.length - one.length)[0]
}

const drivePath = (mount: string, path: string): string => join('/', relative(mount, path))
