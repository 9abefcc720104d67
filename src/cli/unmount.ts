// `calcfs unmount DIR`: takes a drive down, a dead one too, waits for its daemon, and says what was not saved.
import { readFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { Command } from 'commander'
import { detach, fileSystemType, isDead, mountedType, mountPath, unmount } from '../mount/mount-point.js'
import { exitCodes, Stop } from './exit.js'
import { readStatus } from './status.js'

interface Flags {
  readonly force?: true
}

/** Milliseconds a daemon may take to finish what it is doing. */
const endLimit = 30_000

export function unmountCommand(): Command {
  return new Command('unmount')
    .description('unmount the drive and wait until its daemon has ended')
    .argument('<directory>', 'where it is mounted')
    .option('--force', 'take it away although a program still uses it')
    .action((directory: string, flags: Flags) => takeAway(directory, flags))
}

async function takeAway(directory: string, flags: Flags): Promise<void> {
  const path = await mountPath(resolve(directory))
  const type = await mountedType(path)
  if (type === undefined) throw new Stop(exitCodes.mountPoint, `nothing is mounted on ${path}.`)
  if (type !== fileSystemType)
    throw new Stop(exitCodes.mountPoint, `${path} is a ${type} mount and none of calcfs.`)
  if (await isDead(path)) {
    await detach(path)
    console.log(`${path}: its daemon had died; the mount point is free again.`)
    return
  }
  const status = await readStatus(path)
  await (flags.force === true ? detach(path) : unmountIdle(path))
  await ended(status.pid)
  if (status.unsent.length === 0) return
  throw new Stop(
    exitCodes.unsent,
    `unmounted, but not saved on the service: ${status.unsent.map(draft => draft.record).join(', ')}; the texts are kept in ${join(status.state, 'drafts')} and shown at the next mount.`,
  )
}

async function unmountIdle(path: string): Promise<void> {
  try {
    await unmount(path)
  } catch (cause) {
    throw new Stop(
      exitCodes.mountPoint,
      `${path} is in use; close what uses it (fuser -vm ${path} names it), or add --force.`,
      { cause },
    )
  }
}

async function ended(pid: number): Promise<void> {
  const limit = Date.now() + endLimit
  while (Date.now() < limit) {
    if (!(await runs(pid))) return
    await new Promise(wake => setTimeout(wake, 100))
  }
  throw new Stop(exitCodes.failed, `unmounted, but its daemon (process ${pid}) is still busy.`)
}

/** A zombie has ended; whoever started it has only not asked yet. */
async function runs(pid: number): Promise<boolean> {
  try {
    return !/^State:\s+[ZX]/m.test(await readFile(`/proc/${pid}/status`, 'utf8'))
  } catch {
    // No such process, which is what was asked.
    return false
  }
}
