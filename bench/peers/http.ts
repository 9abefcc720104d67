// The peers that read plain HTTP listings or WebDAV: rclone in its modes, httpdirfs, davfs2.
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import { isMounted, unmount } from '../processes/mounts.js'
import {
  type Doors,
  ended,
  lastWords,
  type Mounted,
  mountWith,
  needs,
  type Peer,
  type Place,
  patienceSeconds,
  startProgram,
} from './peers.js'

type Mode = 'off' | 'full'
type Door = 'http' | 'webdav'

/** What its own manual recommends for a read-only mount whose far side rarely changes. */
const rcloneOptions =
  '--read-only --dir-cache-time 10m --attr-timeout 10m --buffer-size 16M --use-mmap'.split(' ')
const rcloneFull = '--vfs-cache-max-age 24h --vfs-fast-fingerprint --vfs-read-ahead 128M'.split(' ')

/** rclone on one of the two doors, with one of its two cache modes. */
export function rclone(door: Door, mode: Mode): Peer {
  const more = mode === 'full' ? rcloneFull : []
  const url = (doors: Doors): string => (door === 'http' ? doors.files : doors.dav)
  return {
    name: `rclone ${door}${mode === 'full' ? ' full' : ''}`,
    options: `--vfs-cache-mode ${[mode, ...rcloneOptions, ...more].join(' ')}`,
    counted: true,
    lacks: needs('rclone'),
    mount: (doors, place) =>
      mountWith(
        {
          command: 'rclone',
          args: [
            ...['mount', `:${door}:`, place.mountPoint, `--${door}-url`, url(doors), '--config', '/dev/null'],
            ...['--cache-dir', place.cache, '--vfs-cache-mode', mode, ...rcloneOptions, ...more],
          ],
        },
        place,
      ),
  }
}

/** httpdirfs with its cache. */
export const httpdirfs: Peer = {
  name: 'httpdirfs',
  options: '--cache --max-conns 16 -o kernel_cache,attr_timeout=600,entry_timeout=600',
  counted: true,
  lacks: needs('httpdirfs'),
  mount: (doors, place) =>
    mountWith(
      {
        command: 'httpdirfs',
        args: [
          ...['-f', '--cache', '--cache-location', place.cache, '--max-conns', '16'],
          ...['-o', 'kernel_cache,attr_timeout=600,entry_timeout=600', doors.files, place.mountPoint],
        ],
        environment: { HOME: place.cache },
      },
      place,
    ),
}

const davSettings = (place: Place): string => `
cache_dir ${join(place.cache, 'dav')}
secrets ${join(place.cache, 'secrets')}
ask_auth 0
use_locks 0
buf_size 1024
cache_size 8192
table_size 16384
dir_refresh 600
file_refresh 600
gui_optimize 1
delay_upload 0
`

/** As root it gives up its rights to a user of its own, which then wants to write to /dev/null. */
function davLacks(): string | undefined {
  const missing = needs('mount.davfs')()
  if (missing !== undefined) return missing
  if (process.getuid?.() !== 0) return 'only root may mount it'
  return (statSync('/dev/null').mode & 0o002) === 0 ? 'its user may not write to /dev/null here' : undefined
}

/** davfs2, which only root may mount without an entry in /etc/fstab. */
export const davfs2: Peer = {
  name: 'davfs2',
  options:
    'ro, cache_size 8192, table_size 16384, dir_refresh 600, file_refresh 600, gui_optimize 1, use_locks 0',
  counted: true,
  lacks: davLacks,
  async mount(doors, place) {
    mkdirSync(join(place.cache, 'dav'), { recursive: true })
    // davfs2 gives up root's rights and then wants to write here.
    chmodSync(join(place.cache, 'dav'), 0o777)
    chmodSync(place.cache, 0o755)
    writeFileSync(join(place.cache, 'secrets'), '', { mode: 0o600 })
    writeFileSync(join(place.cache, 'conf'), davSettings(place))
    const args = [doors.dav, place.mountPoint, '-o', `ro,conf=${join(place.cache, 'conf')},uid=root,gid=root`]
    const status = await statusOf('mount.davfs', args, place)
    if (status !== 0 || !(await isMounted(place.mountPoint)))
      throw new Error(`mount.davfs ended with ${status}: ${lastWords(place.log)}`)
    return davMounted(place)
  },
}

function statusOf(command: string, args: readonly string[], place: Place): Promise<number | null> {
  return new Promise((resolve, reject) => {
    const child = startProgram({ command, args }, place.log)
    const late = setTimeout(() => child.kill('SIGKILL'), patienceSeconds * 1000)
    child.once('exit', () => clearTimeout(late))
    child.once('exit', resolve).once('error', reject)
  })
}

/** It goes to the background by itself, and a moment later notes its process under the name of the mount point. */
async function davMounted(place: Place): Promise<Mounted> {
  const note = join('/run/mount.davfs', `${place.mountPoint.slice(1).replaceAll('/', '-')}.pid`)
  for (let attempt = 0; !existsSync(note) && attempt < 500; attempt++) await wait(20)
  if (!existsSync(note)) {
    await unmount(place.mountPoint)
    throw new Error(`davfs2 did not note its process in ${note}: ${lastWords(place.log)}`)
  }
  const pid = Number(readFileSync(note, 'utf8'))
  return {
    root: place.mountPoint,
    processes: [pid],
    async unmount() {
      await unmount(place.mountPoint)
      await ended(pid)
      // A note that outlives its process forbids the next mount.
      rmSync(note, { force: true })
    },
  }
}
