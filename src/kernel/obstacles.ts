// Obstacles to the session on this machine, and their remedies: kernel, koffi, device, helpers.
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { release } from 'node:os'
import { join } from 'node:path'

export interface Obstacle {
  readonly found: string
  /** A line to type, or a thing to do. */
  readonly mend: string
}

/** Where a system has mount(8) and fusermount; a user's own PATH is not searched. */
export const helperPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** Debian's `fuse3` brings fusermount3, `fuse` fusermount; both speak alike. */
export const fusermounts = ['fusermount3', 'fusermount'] as const

/** The first of these programs that there is, with its path. */
export const helperAmong = (names: readonly string[]): string | undefined =>
  names
    .flatMap(name => helperPath.split(':').map(directory => join(directory, name)))
    .find(path => existsSync(path))

/** Undefined where nothing is found: whether mounting is allowed, as in a container, shows when it is tried. */
export async function sessionObstacle(): Promise<Obstacle | undefined> {
  return kernelObstacle() ?? deviceObstacle() ?? helperObstacle() ?? (await libraryObstacle())
}

const oldest = { major: 4, minor: 18 }

export function kernelObstacle(running = release()): Obstacle | undefined {
  const [major = 0, minor = 0] = running.split('.').map(Number)
  if (major > oldest.major || (major === oldest.major && minor >= oldest.minor)) return undefined
  return {
    found: `Linux ${running} is older than ${oldest.major}.${oldest.minor}`,
    mend: 'start a newer kernel, or go on through libfuse 2',
  }
}

/** fusermount opens it with the rights of its user. */
export function deviceObstacle(): Obstacle | undefined {
  if (!existsSync('/dev/fuse'))
    return {
      found: '/dev/fuse is missing',
      mend: 'modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN',
    }
  try {
    accessSync('/dev/fuse', constants.R_OK | constants.W_OK)
    return undefined
  } catch {
    return { found: 'you may not open /dev/fuse', mend: 'sudo chmod 666 /dev/fuse' }
  }
}

/** Root mounts by mount(8), other users by fusermount. */
export function helperObstacle(): Obstacle | undefined {
  if (process.getuid?.() !== 0)
    return helperAmong(fusermounts) === undefined
      ? { found: 'there is no fusermount3 and no fusermount', mend: 'sudo apt-get install fuse3' }
      : undefined
  if (helperAmong(['mount']) === undefined)
    return { found: 'there is no mount program', mend: 'apt-get install mount' }
  const rights = BigInt(`0x${/^CapEff:\s*(\w+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? 0}`)
  return (rights & mountRight) === 0n
    ? { found: 'CAP_SYS_ADMIN is missing', mend: 'in a container: --cap-add SYS_ADMIN --device /dev/fuse' }
    : undefined
}

const mountRight = 1n << 21n // CAP_SYS_ADMIN, capabilities(7)

export async function libraryObstacle(): Promise<Obstacle | undefined> {
  try {
    const { loadLibuv } = await import('./wait.js')
    loadLibuv()
    return undefined
  } catch {
    return {
      found: 'koffi, by which calcfs calls libuv, does not load',
      mend: 'install calcfs again: koffi comes with it, with a compiled part for this machine',
    }
  }
}
