// Whether this machine can mount: FUSE device, programs, libraries, kernel, directories, indexers.
import { execFileSync } from 'node:child_process'
import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { platform, release } from 'node:os'
import { delimiter, join } from 'node:path'
import { nearestThere, networkFileSystem } from '../../app/own-places.js'
import { homeOf } from '../../system/home.js'
import { isNameless, mayAllowOthers, namelessUser, othersNotAllowed } from '../../system/user-name.js'
import { bad, type Finding, good, poor } from './finding.js'

export function fuseDevice(): Finding {
  const check = 'FUSE device'
  if (!existsSync('/dev/fuse')) {
    return bad(
      check,
      '/dev/fuse is missing',
      'modprobe fuse; in a container: --device /dev/fuse --cap-add SYS_ADMIN',
    )
  }
  return may('/dev/fuse', constants.R_OK | constants.W_OK)
    ? good(check, '/dev/fuse can be opened')
    : bad(check, 'you may not open /dev/fuse', 'sudo chmod 666 /dev/fuse')
}

export function fusermount(searchPath: string | undefined): Finding {
  const check = 'fusermount'
  const place = (searchPath ?? '')
    .split(delimiter)
    .find(directory => existsSync(join(directory, 'fusermount')))
  if (place === undefined)
    return bad(check, 'there is no fusermount on the PATH', 'sudo apt-get install fuse')
  const program = join(place, 'fusermount')
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

export function libfuse(): Finding {
  const check = 'libfuse 2'
  const ldconfig = ['/sbin/ldconfig', '/usr/sbin/ldconfig'].find(place => existsSync(place))
  if (ldconfig === undefined) {
    return poor(check, 'there is no ldconfig to ask', 'see to it that libfuse.so.2 is installed')
  }
  return execFileSync(ldconfig, ['-p'], { encoding: 'utf8' }).includes('libfuse.so.2')
    ? good(check, 'libfuse.so.2 is installed')
    : bad(
        check,
        'libfuse.so.2 is missing',
        'sudo apt-get install libfuse2t64 || sudo apt-get install libfuse2',
      )
}

export function kernel(): Finding {
  const check = 'kernel'
  const known = readFileSync('/proc/filesystems', 'utf8').split('\n')
  const how = takesEpochs()
    ? 'and can be told of changes'
    : 'and asks again each second: from 6.16 on it is told of changes'
  return known.some(line => line.endsWith('\tfuse'))
    ? good(check, `Linux ${release()} knows fuse, ${how}`)
    : bad(check, `Linux ${release()} does not know fuse`, 'sudo modprobe fuse')
}

/** mount(8) looks nowhere else. */
export function mountHelper(): Finding {
  const check = 'mount(8)'
  const place = '/sbin/mount.calcfs'
  return existsSync(place)
    ? good(check, place)
    : good(check, `for /etc/fstab: sudo ln -s "$(command -v mount.calcfs)" ${place}`)
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

/** @param flag the flag that names another directory */
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

/** Whether a file system in user space may tell the kernel that names have changed, without any lock (FUSE_NOTIFY_INC_EPOCH). */
function takesEpochs(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  return platform() === 'linux' && (major > 6 || (major === 6 && minor >= 16))
}
