// Mount points from the kernel's list: what is mounted where, which mounts are dead or silent, and how to unmount them.
import { execFile, spawn } from 'node:child_process'
import { access, constants, readdir, readFile, readlink, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'
import pLimit from 'p-limit'
import { codeOf } from '../system/error-code.js'

const run = promisify(execFile)

/** Milliseconds fusermount may take; it never waits for a program. */
const fusermountLimit = 10_000

/** Why a directory cannot be mounted on. */
export type Unfit =
  | 'missing'
  | 'not-a-directory'
  | 'not-empty'
  | 'in-use'
  | 'in-drive'
  | 'silent'
  | 'not-allowed'

export const fileSystemType = 'fuse.calcfs'

/** The address of a service as a mount's source field shows it. */
export const sourceOf = (address: string): string => address.replace(/[,\\\s]/g, '_')

export interface KernelSettings {
  /** Shown as the source in `mount` and `df`. */
  readonly source: string
  readonly readOnly: boolean
  readonly allowOther: boolean
  /** The mount point is an automount point, which libfuse must not look into. */
  readonly onAutomount?: boolean
  /** True if extended attributes are answered; else the kernel hears ENOSYS once, and asks for none any more. */
  readonly xattrs: boolean
  /** Seconds for which a kernel that is told of changes keeps names and attributes; libfuse's is not. */
  readonly cacheSeconds: number
  /** Milliseconds after which the binding answers by itself; above every deadline of the drive. */
  readonly timer: number
}

export const flagsOf = ({
  readOnly,
  allowOther,
}: Pick<KernelSettings, 'readOnly' | 'allowOther'>): string[] => [
  'default_permissions',
  // A service never sends a device or a program.
  'nosuid',
  'nodev',
  'noexec',
  ...(readOnly ? ['ro'] : []),
  ...(allowOther ? ['allow_other'] : []),
]

export interface Mount {
  /** The kernel's device number of the file system; reused once this one has ended. */
  readonly device: string
  readonly path: string
  readonly type: string
  /** The source: of a drive the address of its service, as far as mount options can hold it. */
  readonly source: string
  /** The user that mounted a FUSE file system; other users cannot look into it without `allow_other`. */
  readonly owner: number | undefined
}

/** More links on one path are a loop, as for the kernel (ELOOP). */
const longestChain = 40

/**
 * The path as the kernel lists it: links resolved as far as the path exists. Nothing at or below a drive is accessed, because a dead
 * or stopped daemon does not answer.
 */
export async function mountPath(directory: string): Promise<string> {
  const drives = (await mounts()).filter(({ type }) => type === fileSystemType)
  const follow = async (path: string, links: number): Promise<string> => {
    if (dirname(path) === path) return path
    const parent = await follow(dirname(path), links)
    const here = join(parent, basename(path))
    if (links === 0 || innermost(here, drives) !== undefined) return here
    // Not a link, absent, or not accessible: the name stands for itself.
    const target = await readlink(here).catch(() => undefined)
    return target === undefined ? here : follow(resolve(parent, target), links - 1)
  }
  return follow(resolve(directory), longestChain)
}

export function innermost<Place extends { readonly path: string }>(
  path: string,
  places: readonly Place[],
): Place | undefined {
  const above = places.filter(place => path === place.path || path.startsWith(`${place.path}/`))
  return above.toSorted((one, other) => other.path.length - one.path.length)[0]
}

/** The mounts of proc_pid_mountinfo(5); of two mounts on one path the later one counts. */
async function mounts(): Promise<Mount[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trimEnd().split('\n')
  return lines.map(line => {
    const [before = '', after = ''] = line.split(' - ')
    const owner = /\buser_id=(\d+)/.exec(after)?.[1]
    const [type = '', source = ''] = after.split(' ')
    const [, , device = '', , path = ''] = before.split(' ')
    return {
      device,
      path: unescaped(path),
      type,
      source: unescaped(source),
      owner: owner === undefined ? undefined : Number(owner),
    }
  })
}

export async function mountAt(path: string): Promise<Mount | undefined> {
  return (await mounts()).findLast(mount => mount.path === path)
}

/** Where this file system is mounted: a directory above it may have been renamed, and a bind mount is a second place. */
export async function placesOf(device: string | undefined): Promise<readonly Mount[]> {
  return device === undefined ? [] : (await mounts()).filter(mount => mount.device === device)
}

/** Every mounted drive, other users' too; of two on one path the later one. */
export async function drives(): Promise<Mount[]> {
  const all = (await mounts()).filter(({ type }) => type === fileSystemType)
  return [...new Map(all.map(mount => [mount.path, mount])).values()]
}

/** The same of this user. */
export const drivesOfUser = async (): Promise<Mount[]> =>
  (await drives()).filter(({ owner }) => owner === process.getuid?.())

/** Undefined where the directory can be mounted on; a dead mount of calcfs is unmounted first. */
export async function fitness(path: string): Promise<Unfit | undefined> {
  const type = (await mountAt(path))?.type
  if (type?.startsWith('fuse')) {
    const found = await probeDaemon(path)
    if (found === 'silent') return 'silent'
    if (found !== 'dead') return 'in-use'
    await detach(path)
  } else if (type === automountType) return undefined
  else if (type !== undefined) return 'in-use'
  if (innermost(path, await drives()) !== undefined) return 'in-drive'
  try {
    if (!(await stat(path)).isDirectory()) return 'not-a-directory'
    return (await readdir(path)).length > 0 ? 'not-empty' : undefined
  } catch (thrown) {
    if (codeOf(thrown) === 'EACCES') return 'not-allowed'
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return 'missing'
    throw thrown
  }
}

/** The bit with which only the owner of a directory mounts there. */
const sticky = 0o1000

/** True if fusermount refuses the directory to this user. Asked once it did: who may mount without it is not asked. */
export async function isDenied(path: string): Promise<boolean> {
  const user = process.getuid?.()
  if (user === 0) return false
  const { mode, uid } = await stat(path)
  if ((mode & sticky) !== 0 && uid !== user) return true
  return access(path, constants.W_OK).then(
    () => false,
    () => true,
  )
}

/** Unmounts it wherever it is by now. One that a shell has as its working directory, or with open files, is detached: the daemon must end. */
export async function takeDown(device: string | undefined): Promise<void> {
  for (const { path } of await placesOf(device)) await unmount(path).catch(() => detach(path))
}

/** Detaches the mount at once (lazy unmount); programs keep their open files. */
export async function detach(path: string): Promise<void> {
  try {
    await unmount(path, 'lazily')
  } catch (thrown) {
    // It may have been unmounted by another in this moment.
    if ((await mountAt(path)) !== undefined) throw thrown
  }
}

/**
 * Mounts and unmounts of this process, one after the other, so that no child ends while libfuse cancels its threads.
 * Cancellation in the midst of libuv's handler of SIGCHLD leaves libuv's lock taken, and the process hangs at its next signal.
 */
export const inTurn = pLimit(1)

/**
 * The child outlives the unmount by a tenth of a second: within it the threads of libfuse end. Debian's `fuse` brings
 * fusermount, `fuse3` may bring only fusermount3; root needs neither.
 */
const takeAwayThenWait = `
  if program=$(command -v fusermount || command -v fusermount3); then "$program" -u \${2:+-z} "$1"
  else umount -ic \${2:+-l} "$1"; fi && sleep 0.1`

/** Unmounts; throws with the helper's message while a program still uses it, unless lazily. */
export async function unmount(path: string, ...lazily: readonly 'lazily'[]): Promise<void> {
  const args = ['-c', takeAwayThenWait, 'sh', path, ...lazily]
  await inTurn(() => run('sh', args, { timeout: fusermountLimit }))
}

/** Blanks and backslashes are written as octal numbers there. */
const unescaped = (text: string): string =>
  text.replace(/(?:\\[0-7]{3})+/g, codes =>
    Buffer.from([...codes.matchAll(/[0-7]{3}/g)].map(([code]) => Number.parseInt(code, 8))).toString(),
  )

export const automountType = 'autofs'

/** `dead`: the daemon has ended. `silent`: no answer in time. */
type DaemonState = 'answers' | 'dead' | 'silent'

/** Milliseconds in which a mounted file system has to prove that its daemon lives, and in which a busy machine starts the child that asks. */
const pulseLimit = 2000
const startLimit = 20_000

// SIGUSR1 opens Node's debugger in this child as in any other.
const program = `
process.on('SIGUSR1', () => {})
const fs = require('node:fs')
const asked = { statfs: path => { fs.statfsSync(path) }, readFile: path => fs.readFileSync(path, 'utf8') }
const [, question, path] = process.argv
process.stdout.write(' ')
const answer = () => { try { return { value: asked[question](path) } } catch ({ code, message }) { return { code: code ?? message } } }
process.stdout.write(JSON.stringify(answer()))
`

type ProbeAnswer = { readonly value?: string; readonly code?: string }

/** The state of a mount's daemon. A stat may be answered from the kernel's cache; statfs always reaches the daemon. */
export async function probeDaemon(path: string): Promise<DaemonState> {
  const answer = await askChild('statfs', path)
  if (answer === undefined) return 'silent'
  // macFUSE says ENXIO.
  return answer.code === 'ENOTCONN' || answer.code === 'ENXIO' ? 'dead' : 'answers'
}

/** The text of a file on a mount; undefined where there is no answer in time, or another error. */
export async function textAt(path: string): Promise<string | 'forbidden' | undefined> {
  const answer = await askChild('readFile', path)
  // The mount is another user's, without allow_other; only statfs is answered then.
  return answer?.code === 'EACCES' ? 'forbidden' : answer?.value
}

/** No call of this process waits in the kernel: a child asks, and is left alone where it hangs. */
async function askChild(question: 'statfs' | 'readFile', path: string): Promise<ProbeAnswer | undefined> {
  // The working directory of this process may be inside the mount.
  const child = spawn(process.execPath, ['-e', program, question, path], {
    cwd: '/',
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  const output = await new Promise<string>(done => {
    let told = ''
    const giveUp = (): void => {
      // It ends when the kernel returns; it is not waited for.
      child.kill('SIGKILL')
      child.stdout.destroy()
      child.unref()
      done('')
    }
    let timer = setTimeout(giveUp, startLimit)
    child.stdout.on('data', piece => {
      clearTimeout(timer)
      if (told === '') timer = setTimeout(giveUp, pulseLimit)
      told += piece
    })
    for (const event of ['error', 'close'])
      child.once(event, () => {
        clearTimeout(timer)
        done(told)
      })
  })
  // Nothing in time, or where another process killed the child.
  return output.trim() === '' ? undefined : JSON.parse(output)
}
