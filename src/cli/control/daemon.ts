// Daemon of a mounted drive: found without accessing the mount, called with a deadline, and the advice where it hangs.
import type { Control } from '../../drive/interface/control.js'
import { type Mount, mountAt, probeDaemon } from '../../mount/mount-point.js'
import { processAt } from '../../system/process.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { controlAt, type Listener } from './client.js'
import { listenerAt } from './socket.js'

/** A mount whose daemon has ended, or does not answer within three seconds. */
export class NoAnswer extends Stop {
  constructor(
    readonly daemon: 'dead' | 'silent',
    /** Undefined where it is dead, or where the system does not show it. */
    readonly pid: number | undefined,
    sentence: string,
  ) {
    super(daemon === 'dead' ? exitCodes.mountPoint : exitCodes.unreachable, sentence)
  }
}

/**
 * The daemon of the drive mounted exactly there.
 * @throws NoAnswer where it is dead or hangs, Stop where there is no drive, or another user's, or one that does not listen
 */
export async function daemonAt(path: string): Promise<Listener> {
  const mount = await mountAt(path)
  if (mount === undefined)
    throw new Stop(
      exitCodes.mountPoint,
      `nothing is mounted on ${path} any more; calcfs mount brings it up again.`,
    )
  const found = await listenerAt(path, mount.owner, process.env)
  if (found === undefined) throw await unheard(mount)
  return {
    socketPath: found.socket,
    device: mount.device,
    onSilence: () => noAnswer(mount, found.pid),
  }
}

/** The control of the drive that is mounted there. @throws as `daemonAt` */
export const driveAt = async (mountPoint: string): Promise<Control> => controlAt(await daemonAt(mountPoint))

/** True if the daemon of a mount has ended; one that hangs has not. */
export async function hasEnded(mount: Mount): Promise<boolean> {
  if ((await listenerAt(mount.path, mount.owner, process.env)) !== undefined) return false
  return (await probeDaemon(mount.path)) === 'dead'
}

/** Why nothing listens for this mount point; one whose directory was renamed is asked by no command. */
async function unheard(mount: Mount): Promise<Stop> {
  const { path, owner } = mount
  const state = await probeDaemon(path)
  if (state === 'silent') return noAnswer(mount, undefined)
  if (state === 'dead')
    return new NoAnswer(
      'dead',
      undefined,
      `the daemon of ${path} has died; calcfs unmount ${path} frees the mount point.`,
    )
  if (owner !== process.getuid?.())
    return new Stop(
      exitCodes.mountPoint,
      `the drive on ${path} belongs to ${await userPhrase(owner)}, who alone can ask it.`,
    )
  return new Stop(
    exitCodes.unreachable,
    `the daemon of this drive does not answer the command line, and its log says why; mount ${path} again when that is fixed, or where a directory above it was renamed.`,
  )
}

async function noAnswer({ path, owner }: Mount, pid: number | undefined): Promise<NoAnswer> {
  const met = pid === undefined ? undefined : await processAt(pid)
  // A process of another user only has the number that this daemon had.
  const known = met?.user !== undefined && met.user === owner ? pid : undefined
  const who = `the daemon of ${path}${known === undefined ? '' : ` (process ${known})`}`
  const away = `calcfs unmount --force ${path} takes the mount away.`
  if (known !== undefined && met?.isStopped === true)
    return new NoAnswer('silent', known, `${who} is stopped; kill -CONT ${known} resumes it, ${away}`)
  return new NoAnswer('silent', known, `${who} does not answer; try again, or ${away}`)
}
