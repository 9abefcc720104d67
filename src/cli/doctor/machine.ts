// The needs of a mount on this machine: FUSE device, programs, libraries, kernel, directories, indexers.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync, statfsSync } from 'node:fs'
import { release } from 'node:os'
import type { KernelWay } from '../../activity/activity.js'
import { nearestThere, networkFileSystem } from '../../app/own-places.js'
import {
  deviceObstacle,
  fusermounts,
  helperAmong,
  helperObstacle,
  kernelObstacle,
  libraryObstacle,
} from '../../kernel/obstacles.js'
import { mostOfAnswer } from '../../remote/http/answer.js'
import { codeOf } from '../../system/error-code.js'
import { homeOf, isNameless, mayAllowOthers, namelessUser, othersNotAllowed } from '../../system/user-name.js'
import { bytesText } from '../../terminal/amount.js'
import { bad, type Finding, good, poor, unless } from './finding.js'

export async function onLinux(wanted: KernelWay['way']): Promise<readonly Finding[]> {
  const way = await session(wanted)
  const isLibfuseNeeded = wanted === 'libfuse' || way.state !== 'good'
  return [
    kernel(),
    unless('FUSE device', deviceObstacle(), '/dev/fuse is there'),
    fusermount(),
    way,
    libfuse(isLibfuseNeeded),
    mountTable(),
    indexers(),
  ]
}

function kernel(): Finding {
  const knowsFuse = /\tfuse$/m.test(readFileSync('/proc/filesystems', 'utf8'))
  const missing = { found: `Linux ${release()} does not know fuse`, mend: 'sudo modprobe fuse' }
  return unless('kernel', knowsFuse ? undefined : missing, `Linux ${release()} knows fuse`)
}

function fusermount(): Finding {
  const program = helperAmong(fusermounts)
  const obstacle = helperObstacle()
  const isRefused = obstacle === undefined && process.getuid?.() !== 0 && isNameless()
  const { found, mend } = namelessUser
  const nameless = isRefused ? { found: `${program}: ${found}`, mend } : undefined
  return unless('fusermount', obstacle ?? nameless, program ?? 'is not needed: root mounts without it')
}

/** True if calcfs can speak to the kernel by itself here; what libfuse needs as well has lines of its own. */
async function session(wanted: KernelWay['way']): Promise<Finding> {
  const check = 'session'
  if (wanted === 'libfuse') return good(check, 'is switched off: the setting kernel is libfuse')
  const obstacle = kernelObstacle() ?? (await libraryObstacle())
  if (obstacle === undefined) return good(check, 'koffi loads: calcfs speaks to the kernel by itself')
  const tell = hasLibfuse() ? poor : bad
  return tell(check, `${obstacle.found}, so that libfuse 2 is needed`, obstacle.mend)
}

/** Where fusermount looks whether a drive is the user's that unmounts it; a bare container has none. */
function mountTable(): Finding {
  const missing = {
    found: '/etc/mtab is missing, without which only root can unmount a drive',
    mend: 'sudo ln -s /proc/self/mounts /etc/mtab',
  }
  return unless('mtab', existsSync('/etc/mtab') ? undefined : missing, '/etc/mtab')
}

function libfuse(isNeeded: boolean): Finding {
  const check = 'libfuse 2'
  if (hasLibfuse()) return good(check, 'libfuse.so.2 is installed')
  if (!isNeeded) return good(check, 'is not needed: calcfs speaks to the kernel by itself')
  const mend = 'sudo apt-get install libfuse2t64 || sudo apt-get install libfuse2'
  return bad(check, 'libfuse.so.2 is missing', mend)
}

/** Where there is no ldconfig to ask, it is not known to be there. */
function hasLibfuse(): boolean {
  const ldconfig = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find(place => existsSync(place))
  return (
    ldconfig !== undefined && execFileSync(ldconfig, ['-p'], { encoding: 'utf8' }).includes('libfuse.so.2')
  )
}

/** @param isWanted whether a setting asks for it: elsewhere it is told as something that could be had */
export function allowOther(isWanted: boolean): Finding {
  const check = 'allow-other'
  const { found, mend } = othersNotAllowed
  if (mayAllowOthers()) return good(check, 'the drive may be opened to other users')
  return isWanted
    ? bad(check, found, mend)
    : good(check, `is not asked for, nothing to do; who wants it: ${mend}`)
}

export function directory(check: string, path: string, flag: string): Finding {
  try {
    accessSync(nearestThere(path), constants.W_OK)
  } catch (thrown) {
    const isFixed = codeOf(thrown) === 'EROFS'
    const found = isFixed ? `${path} lies on a read-only disk` : `${path} cannot be written`
    return bad(check, found, isFixed ? `${flag} DIR, elsewhere` : writableBy(path, flag))
  }
  const network = networkFileSystem(path)
  if (network !== undefined) return poor(check, `${path} lies on ${network}`, `${flag} DIR, on a local disk`)
  const { bavail, bsize, files, ffree } = statfsSync(nearestThere(path))
  const left = files > 0 && ffree === 0 ? 0 : bavail * bsize
  if (left >= mostOfAnswer) return good(check, path)
  const found = `${path} has ${bytesText(left)} left, of ${bytesText(mostOfAnswer)} that a text may need`
  return (left === 0 ? bad : poor)(
    check,
    found,
    `make room${check === 'cache' ? ' (calcfs cache clear)' : ''}, or ${flag} DIR`,
  )
}

/** Below the home directory alone something gets another owner: what lies above it is not the user's to take. */
function writableBy(path: string, flag: string): string {
  const there = nearestThere(path)
  const elsewhere = `${flag} DIR`
  const home = homeOf(process.env)
  if (home !== undefined && there.startsWith(`${home}/`))
    return `sudo chown -R "$USER" ${there}, or ${elsewhere}`
  return there === path ? elsewhere : `sudo install -d -o "$USER" -m 700 ${path}, or ${elsewhere}`
}

/** An indexer that walks the drive every night would download all of it. */
function indexers(): Finding {
  const check = 'indexers'
  const file = '/etc/updatedb.conf'
  if (!existsSync(file)) return good(check, 'no updatedb is set up')
  const pruned = /^\s*PRUNEFS\s*=\s*"([^"]*)"/m.exec(readFileSync(file, 'utf8'))?.[1] ?? ''
  return pruned.split(/\s+/).includes('fuse.calcfs')
    ? good(check, 'updatedb leaves calcfs drives alone')
    : poor(
        check,
        'updatedb walks every drive at night',
        `sudo sed -i 's/^ *PRUNEFS *= *"/&fuse.calcfs /' ${file}`,
      )
}
