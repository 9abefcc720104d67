// Mount points as the kernel lists them: what is mounted where, what is dead, and how it is taken away.
import { execFile } from 'node:child_process'
import { readdir, readFile, realpath, stat, statfs } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** Milliseconds fusermount may take; it waits for nobody. */
const fusermountLimit = 10_000

/** Why a directory cannot be mounted on. */
export type Unfit = 'missing' | 'not-a-directory' | 'not-empty' | 'in-use' | 'not-allowed'

/** The file system type shown by `mount`, from the subtype option. */
export const fileSystemType = 'fuse.calcfs'

/** The path as the kernel lists it. The last part is not touched: a dead mount point answers nothing. */
export async function mountPath(directory: string): Promise<string> {
  const path = resolve(directory)
  if (path === '/') return path
  try {
    return join(await realpath(dirname(path)), basename(path))
  } catch {
    // The parent is missing too: checking the mount point will say so.
    return path
  }
}

interface MountLine {
  readonly path: string
  readonly type: string
  /** Who mounted a FUSE file system, and alone may look into it unless he said otherwise. */
  readonly owner: number | undefined
}

/** What is mounted, proc_pid_mountinfo(5); of two mounts on one path the later one counts. */
async function mounts(): Promise<MountLine[]> {
  const lines = (await readFile('/proc/self/mountinfo', 'utf8')).trimEnd().split('\n')
  return lines.map(line => {
    const [before = '', after = ''] = line.split(' - ')
    const owner = /\buser_id=(\d+)/.exec(after)?.[1]
    return {
      path: unescaped(before.split(' ')[4] ?? ''),
      type: after.split(' ')[0] ?? '',
      owner: owner === undefined ? undefined : Number(owner),
    }
  })
}

/** The file system type mounted exactly here; undefined for none. */
export async function mountedType(path: string): Promise<string | undefined> {
  return (await mounts()).findLast(mount => mount.path === path)?.type
}

/** Where this user has mounted file systems of this type. */
export async function mountsOf(type: string): Promise<string[]> {
  const own = (await mounts()).filter(mount => mount.type === type && mount.owner === process.getuid?.())
  return own.map(mount => mount.path)
}

/** Whether a mount's process has died: everything there answers ENOTCONN until it is unmounted. */
export async function isDead(path: string): Promise<boolean> {
  try {
    // A stat would be answered from the kernel's cache for a second after the death; statfs always reaches the daemon.
    await statfs(path)
    return false
  } catch (thrown) {
    return codeOf(thrown) === 'ENOTCONN'
  }
}

/** Undefined where the directory can be mounted on; a dead mount of ours is taken away first. */
export async function fitness(path: string): Promise<Unfit | undefined> {
  const type = await mountedType(path)
  if (type?.startsWith('fuse') && (await isDead(path))) await detach(path)
  else if (type !== undefined) return 'in-use'
  try {
    if (!(await stat(path)).isDirectory()) return 'not-a-directory'
    return (await readdir(path)).length > 0 ? 'not-empty' : undefined
  } catch (thrown) {
    if (codeOf(thrown) === 'EACCES') return 'not-allowed'
    if (codeOf(thrown) === 'ENOENT' || codeOf(thrown) === 'ENOTDIR') return 'missing'
    throw thrown
  }
}

/** Unmounts; throws with fusermount's words while a program still uses it. */
export async function unmount(path: string): Promise<void> {
  await fusermount(['-u', path])
}

/** Takes the mount out of the tree at once; programs that still use it keep what they have open. */
export async function detach(path: string): Promise<void> {
  await fusermount(['-u', '-z', path])
}

/** Debian's `fuse` brings fusermount, `fuse3` may bring only fusermount3. */
async function fusermount(args: readonly string[]): Promise<void> {
  try {
    await run('fusermount', args, { timeout: fusermountLimit })
  } catch (thrown) {
    if (codeOf(thrown) !== 'ENOENT') throw thrown
    await run('fusermount3', args, { timeout: fusermountLimit })
  }
}

/** Blanks and backslashes are written as octal numbers there. */
const unescaped = (text: string): string =>
  text.replace(/(?:\\[0-7]{3})+/g, codes =>
    Buffer.from([...codes.matchAll(/[0-7]{3}/g)].map(([code]) => Number.parseInt(code, 8))).toString(),
  )

function codeOf(thrown: unknown): unknown {
  return thrown instanceof Error && 'code' in thrown ? thrown.code : undefined
}
