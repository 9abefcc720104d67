// A shell in a mount namespace of its own: there /sbin has mount.calcfs, /etc/fstab is the test's, and no mount outlives the shell.
import { statSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join, relative } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Ran, run } from '../programs.js'

const installation = dirname(fileURLToPath(new URL('../../../../bin', import.meta.url)))
const bin = join(installation, 'bin')

export interface OwnMounts {
  /** A directory of the test; every path below it is the same inside and outside. */
  readonly directory: string
  /** Lines of the /etc/fstab that the shell sees. */
  readonly fstab?: readonly string[]
  readonly environment?: Readonly<Record<string, string>>
  /** Milliseconds. */
  readonly limit?: number
}

/**
 * Runs lines of bash there. mount(8) finds its helpers in /sbin only, so that a second layer lies over it; a /dev/fuse that every
 * user may open lies over the machine's, as udev makes it elsewhere. As an ordinary user it is root of a user namespace.
 */
export async function inOwnMounts(lines: string, given: OwnMounts): Promise<Ran> {
  const { directory, fstab = [], environment = {}, limit = 240_000 } = given
  const layer = join(directory, 'sbin')
  await mkdir(layer, { recursive: true })
  await writeFile(join(directory, 'fstab'), fstab.map(line => `${line}\n`).join(''))
  const prepared = [
    'set -e',
    ...(process.getuid?.() === 0 ? reachable([installation, dirname(dirname(process.execPath))]) : []),
    `ln -sf ${bin}/mount.calcfs ${layer}/mount.calcfs`,
    `ln -sf ${bin}/mount.calcfs ${layer}/mount.fuse.calcfs`,
    `mount -t overlay overlay -o lowerdir=${layer}:/usr/sbin /usr/sbin`,
    `mount --bind ${directory}/fstab /etc/fstab`,
    `if [ $(id -u) = 0 ] && mknod -m 666 ${directory}/fuse c 10 229; then mount --bind ${directory}/fuse /dev/fuse; fi`,
    'set +e',
    lines,
  ]
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const args = ['--mount', '--propagation', 'private', ...asRoot, 'bash', '-c', prepared.join('\n')]
  return run('unshare', args, { environment: { HOME: directory, ...environment }, limit })
}

/** Runs a line of bash where these drives alone are mounted: those of other tests are this user's, too, and one that hangs takes its time. */
export function whereOnly(
  drives: readonly string[],
  line: string,
  environment: Readonly<Record<string, string>>,
): Promise<Ran> {
  const own = drives.map(drive => `-e '${drive}'`).join(' ')
  const others = `grep fuse.calcfs /proc/mounts | cut -d' ' -f2 | grep -vxF ${own}`
  const asRoot = process.getuid?.() === 0 ? [] : ['--map-root-user']
  const lines = `cd /; ${others} | while read other; do umount -l "$other"; done; ${line}`
  const args = ['--mount', '--propagation', 'private', ...asRoot, 'bash', '-c', lines]
  return run('unshare', args, { environment, limit: 240_000 })
}

/** The directories stay where they are for every user of the shell, also below one that others may not enter, as root's home is. */
function reachable(directories: readonly string[]): readonly string[] {
  return [...new Set(directories.flatMap(shutAbove))].flatMap(shut => [
    `mount --bind ${shut} /mnt`,
    `mount -t tmpfs -o mode=755 tmpfs ${shut}`,
    ...directories
      .filter(path => path.startsWith(`${shut}/`))
      .map(path => `mkdir -p ${path}; mount --bind /mnt/${relative(shut, path)} ${path}`),
    'umount -l /mnt',
  ])
}

/** The topmost one, if any. */
function shutAbove(path: string): readonly string[] {
  if (path === '/') return []
  const above = dirname(path)
  const higher = shutAbove(above)
  return higher.length > 0 || (statSync(above).mode & 0o001) !== 0 ? higher : [above]
}
