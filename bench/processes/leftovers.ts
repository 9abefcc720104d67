// What a run may leave behind: found by the run's own directories, which nothing else on the machine knows, and taken away.
import { readdir, readFile, readlink, rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import { mountsBelow, unmount } from './mounts.js'

/** Milliseconds in which a program has to end after its mount went, and after it was asked to. */
const patience = 2_500

/** Ends what works in these directories, unmounts what is mounted there, ends what serves them, and removes them. */
export async function clear(directories: readonly string[]): Promise<void> {
  for (const pid of await processes(directories, works)) signal(pid, 'SIGKILL')
  for (const directory of directories)
    for (const mountPoint of await mountsBelow(directory)) await unmount(mountPoint)
  for (const name of ['SIGTERM', 'SIGKILL'] as const) {
    if (await areGone(directories)) break
    for (const pid of await processes(directories, serves)) signal(pid, name)
  }
  await areGone(directories)
  for (const directory of directories) {
    // Behind a mount lie the files of others.
    if ((await mountsBelow(directory)).length > 0) continue
    await rm(directory, { recursive: true, force: true, maxRetries: 3 })
  }
}

async function areGone(directories: readonly string[]): Promise<boolean> {
  const limit = Date.now() + patience
  while (Date.now() < limit) {
    if ((await processes(directories, serves)).length === 0) return true
    await wait(50)
  }
  return false
}

/** What a process tells of itself in /proc. */
type Finder = (pid: number) => Promise<readonly string[]>

/** Its working directory; the kernel tells it without asking the mount. */
const works: Finder = async pid => [await readlink(`/proc/${pid}/cwd`)]
/** Its words. */
const serves: Finder = async pid => (await readFile(`/proc/${pid}/cmdline`, 'utf8')).split(/[\0\s=:,]/)

/** The processes that have to do with these directories, but for this one. */
async function processes(directories: readonly string[], tell: Finder): Promise<readonly number[]> {
  const pids = (await readdir('/proc')).filter(name => /^\d+$/.test(name)).map(Number)
  const isOne = (path: string): boolean =>
    directories.some(directory => path === directory || path.startsWith(`${directory}/`))
  const found = pids.map(async pid => {
    // A process that has ended meanwhile tells nothing.
    const told = await tell(pid).catch(() => [])
    return pid !== process.pid && told.some(isOne) && !(await isKeeper(pid)) ? [pid] : []
  })
  return (await Promise.all(found)).flat()
}

/** The keeper of a run names its directories, too, and ends by itself. */
const isKeeper = async (pid: number): Promise<boolean> =>
  (await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')).includes('/processes/keeper.js\0')

function signal(pid: number, name: NodeJS.Signals): void {
  try {
    process.kill(pid, name)
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'ESRCH')) throw thrown
  }
}
