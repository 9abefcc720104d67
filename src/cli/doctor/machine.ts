// The needs of a mount on this machine: FUSE device, programs, libraries, kernel, directories, indexers.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
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
import { homeOf, isNameless, mayAllowOthers, namelessUser, othersNotAllowed } from '../../system/user-name.js'
import { bad, type Finding, good, poor } from './finding.js'

/** True if calcfs can speak to the kernel by itself here; what libfuse needs as well has lines of its own. */
export async function session(wanted: KernelWay['way']): Promise<Finding> {
  const check = 'session'
  if (wanted === 'libfuse') return good(check, 'is switched off: the setting kernel is libfuse')
  const obstacle = kernelObstacle() ?? (await libraryObstacle())
  if (obstacle === undefined) return good(check, 'koffi loads: calcfs speaks to the kernel by itself')
  const tell = hasLibfuse() ? poor : bad
  return tell(check, `${obstacle.found}, so that libfuse 2 is needed`, obstacle.mend)
}

export function fuseDevice(): Finding {
  const check = 'FUSE device'
  const obstacle = deviceObstacle()
  return obstacle === undefined
    ? good(check, '/dev/fuse is there')
    : bad(check, obstacle.found, obstacle.mend)
}

export function fusermount(): Finding {
  const check = 'fusermount'
  const obstacle = helperObstacle()
  if (obstacle !== undefined) return bad(check, obstacle.found, obstacle.mend)
  const program = helperAmong(fusermounts)
  if (program === undefined) return good(check, 'is not needed: root mounts without it')
  return process.getuid?.() !== 0 && isNameless()
    ? bad(check, `${program}: ${namelessUser.found}`, namelessUser.mend)
    : good(check, program)
}

/** Where fusermount looks whether a drive is the user's that unmounts it; a bare container has none. */
export function mountTable(): Finding {
  const check = 'mtab'
  if (existsSync('/etc/mtab')) return good(check, '/etc/mtab')
  const mend = 'sudo ln -s /proc/self/mounts /etc/mtab'
  return bad(check, '/etc/mtab is missing, without which only root can unmount a drive', mend)
}

export function libfuse(isNeeded: boolean): Finding {
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

export function kernel(): Finding {
  const check = 'kernel'
  const known = readFileSync('/proc/filesystems', 'utf8').split('\n')
  return known.some(line => line.endsWith('\tfuse'))
    ? good(check, `Linux ${release()} knows fuse`)
    : bad(check, `Linux ${release()} does not know fuse`, 'sudo modprobe fuse')
}

/** @param isWanted whether a setting asks for it: elsewhere it is told as something that could be had */
export function allowOther(isWanted: boolean): Finding {
  const check = 'allow-other'
  const { found, mend } = othersNotAllowed
  if (mayAllowOthers()) return good(check, 'the drive may be opened to other users')
  return isWanted
    ? bad(check, found, mend)
    : good(check, `is not used; ${found} yet, and this would: ${mend}`)
}

export function directory(check: string, path: string, flag: string): Finding {
  if (!may(nearestThere(path), constants.W_OK)) {
    return bad(check, `${path} cannot be written`, writableBy(path, flag))
  }
  const network = networkFileSystem(path)
  return network === undefined
    ? good(check, path)
    : poor(check, `${path} lies on ${network}`, `${flag} DIR, on a local disk`)
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
export function indexers(): Finding {
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

function may(path: string, mode: number): boolean {
  try {
    accessSync(path, mode)
    return true
  } catch {
    return false
  }
}
