// `calcfs unmount DIR`: unmounts a drive, a dead one too, waits for its daemon, and reports unsaved edits.
import { join, resolve } from 'node:path'
import type { Command } from 'commander'
import type { Status } from '../../drive/interface/control.js'
import { leftDraftFacts } from '../../drive/records/draft-files.js'
import { readLeftDrafts } from '../../edit/journal/drafts.js'
import { detach, fileSystemType, type Mount, mountAt, mountPath, unmount } from '../../mount/mount-point.js'
import { systemClock } from '../../remote/clock.js'
import { programWords } from '../../system/error-code.js'
import { isProcessAlive } from '../../system/process.js'
import { userPhrase } from '../../system/user-name.js'
import { CliCommand } from '../../terminal/command.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type JsonFlag, jsonFlag, printJson, printLine, tell } from '../../terminal/print.js'
import { onDrive } from '../control/choose.js'
import { driveAt, NoAnswer } from '../control/daemon.js'

type Flags = JsonFlag & { readonly force?: true }

/** Milliseconds a daemon may take to finish its work. */
const endLimit = 30_000

export const unmountCommand = (): Command =>
  new CliCommand('unmount')
    .description('unmount the drive and wait until its daemon has ended')
    .argument('[drive]', 'where it is mounted')
    .option('--force', 'unmount it although a program still uses it')
    .addOption(jsonFlag('{"mountPoint", "unsaved", "keptIn"}'))
    .action((directory: string | undefined, flags: Flags) => takeAway(directory, flags))
    .examples(
      ['calcfs unmount ~/lab', 'exit code 7 where an edit is not saved; its text is kept'],
      ['calcfs unmount --force ~/lab', 'also while a program uses it, or its daemon hangs'],
    )

async function takeAway(directory: string | undefined, flags: Flags): Promise<void> {
  const path = await mountPath(resolve(directory ?? '.'))
  const mount = directory === undefined ? undefined : await mountAt(path)
  if (mount === undefined) throw await noMountPoint(path, directory)
  if (mount.type !== fileSystemType)
    throw new Stop(
      exitCodes.mountPoint,
      `${path} is a ${mount.type} mount and none of calcfs; umount ${path} takes it away.`,
    )
  await refuseStranger(mount)
  const asked = await lastStatus(path, flags)
  if (asked instanceof NoAnswer) return takeAwaySilent(path, asked, flags)
  await (flags.force === true ? detach(path) : unmountIdle(path))
  if (asked !== undefined) await ended(asked.pid, flags)
  const unsent = asked === undefined ? [] : await unsentAfter(asked)
  if (flags.json === true)
    printJson({ mountPoint: path, unsaved: unsent, keptIn: asked && join(asked.state, 'drafts') })
  if (asked === undefined || unsent.length === 0) return
  throw new Stop(
    exitCodes.unsent,
    `unmounted, but not saved on the service: ${unsent.join(', ')}; the texts are kept in ${join(asked.state, 'drafts')} and shown at the next mount.`,
  )
}

/** A shell in a drive keeps it in use, and a path below it may be a slip. */
async function noMountPoint(path: string, given: string | undefined): Promise<Stop> {
  const inside = (await onDrive(path))?.mountPoint
  if (inside !== undefined)
    return new Stop(
      exitCodes.mountPoint,
      `${path} is in a drive: leave it (cd), then calcfs unmount ${inside}.`,
    )
  if (given === undefined)
    return new Stop(exitCodes.usage, 'name the drive: calcfs unmount ~/lab; calcfs status lists yours.')
  return new Stop(exitCodes.mountPoint, `nothing is mounted on ${path}; calcfs status lists your drives.`)
}

/** Read from the disk once the daemon has ended: it finishes running saves, and programs may save until then. */
async function unsentAfter({ state, unsent }: Status): Promise<readonly string[]> {
  try {
    const { left, damaged } = await readLeftDrafts(state, systemClock.now)
    const texts = leftDraftFacts(left).map(({ name, record, path }) => (path === undefined ? name : record))
    return [...texts, ...damaged.map(({ directory }) => `a text that cannot be read, ${directory}`)]
  } catch {
    // The directory cannot be read: the daemon's last status is used.
    return unsent.map(({ record }) => record)
  }
}

async function refuseStranger({ path, owner }: Mount): Promise<void> {
  const user = process.getuid?.()
  if (user === 0 || user === owner) return
  throw new Stop(
    exitCodes.mountPoint,
    `the drive on ${path} belongs to ${await userPhrase(owner)}; that user or root can unmount it.`,
  )
}

/** Undefined where a drive that does not listen has none, or with --force none can be had. */
async function lastStatus(path: string, flags: Flags): Promise<Status | NoAnswer | undefined> {
  try {
    return await (await driveAt(path)).status({})
  } catch (thrown) {
    if (thrown instanceof NoAnswer) return thrown
    if (flags.force === true || thrown instanceof Stop) return undefined
    throw thrown
  }
}

/** Texts that it had written are in the journal, and the next mount shows them. */
async function takeAwaySilent(path: string, met: NoAnswer, flags: Flags): Promise<void> {
  if (met.daemon === 'silent' && flags.force !== true) throw met
  await detach(path)
  const say = flags.json === true ? tell : printLine
  if (flags.json === true) printJson({ mountPoint: path, daemon: met.daemon, pid: met.pid })
  if (met.daemon === 'dead') return say(`${path}: its daemon had died; the mount point is free again.`)
  const who = met.pid === undefined ? '' : ` (process ${met.pid}; kill -9 ${met.pid} ends it)`
  say(
    `${path}: the mount point is free again, but its daemon${who} did not answer and still runs. What was not saved is kept, and shown by a mount after its end.`,
  )
}

async function unmountIdle(path: string): Promise<void> {
  try {
    await unmount(path)
  } catch (cause) {
    // It is not always that a program uses the drive.
    throw new Stop(
      exitCodes.mountPoint,
      `${path} stays mounted (${programWords(cause)}). Where it is in use, close what uses it (fuser -vm ${path} names it; a shell: cd), or add --force.`,
      { cause },
    )
  }
}

/** A daemon whose drive is in use goes on for those programs, unless it is forced. */
async function ended(pid: number, { force }: Flags): Promise<void> {
  const limit = Date.now() + endLimit
  while (Date.now() < limit) {
    if (!(await isProcessAlive(pid))) return
    try {
      if (force === true) process.kill(pid)
    } catch {
      // It has ended in this moment.
    }
    await new Promise(wake => setTimeout(wake, 100))
  }
  throw new Stop(exitCodes.failed, `unmounted, but its daemon (process ${pid}) works on, and ends by itself.`)
}
