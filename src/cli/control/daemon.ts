// Daemon of a mounted drive: found without accessing the mount, called with a deadline, and the advice where it hangs.
import { join } from 'node:path'
import * as z from 'zod'
import type { Control, Status } from '../../drive/interface/control.js'
import { fixedNames } from '../../layout.js'
import { type Mount, mountAt, probeDaemon, textAt } from '../../mount/mount-point.js'
import { processAt } from '../../system/process.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { controlAt, type Listener } from './client.js'
import { isListening, listenerAt } from './socket.js'

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

/** Of the drive mounted exactly there. @throws NoAnswer where it is dead or hangs, Stop where there is no drive, or another user's, or one that does not listen */
export async function daemonAt(path: string): Promise<Listener> {
  const mount = await mountAt(path)
  if (mount === undefined)
    throw new Stop(
      exitCodes.mountPoint,
      `nothing is mounted on ${path} any more; calcfs mount brings it up again.`,
    )
  const found = (await listenerAt(mount)) ?? (await namedSocket(mount))
  return {
    socketPath: found.socket,
    device: mount.device,
    isBusy: async () => found.pid !== undefined && (await processAt(found.pid))?.isBusy === true,
    onSilence: () => noAnswer(mount, found.pid),
  }
}

export const driveAt = async (mountPoint: string): Promise<Control> => controlAt(await daemonAt(mountPoint))

/** One drive that hangs does not hide the others. */
export const askEach = <Answer>(
  mountPoints: readonly string[],
  ask: (drive: Control) => Promise<Answer>,
): Promise<readonly PromiseSettledResult<Answer>[]> =>
  Promise.allSettled(mountPoints.map(async path => ask(await driveAt(path))))

export const settled = <Answer>(all: readonly PromiseSettledResult<Answer>[]) => ({
  answers: all.flatMap(one => (one.status === 'fulfilled' ? [one.value] : [])),
  problems: all.flatMap((one): unknown[] => (one.status === 'rejected' ? [one.reason] : [])),
})

/** One that does not answer is left out. */
export const statusOfEach = async (mountPoints: readonly string[]): Promise<readonly Status[]> =>
  settled(await askEach(mountPoints, drive => drive.status({}))).answers

/** True if the daemon of a mount has ended; one that hangs has not. */
export async function hasEnded(mount: Mount): Promise<boolean> {
  if ((await listenerAt(mount)) !== undefined) return false
  return (await probeDaemon(mount.path)) === 'dead'
}

/** Of a drive whose directory was renamed since, or that is mounted a second time under another path, its status names the socket. */
const socketForm = z.object({ control: z.string().optional(), pid: z.number() })

async function namedSocket(mount: Mount): Promise<{ readonly socket: string; readonly pid: number }> {
  const { path, owner } = mount
  const state = await probeDaemon(path)
  if (state === 'dead')
    throw new NoAnswer(
      'dead',
      undefined,
      `the daemon of ${path} has died; calcfs unmount ${path} frees the mount point. Edits are kept: the next mount shows them.`,
    )
  const text = state === 'silent' ? undefined : await textAt(join(path, fixedNames.own, fixedNames.status))
  if (text === undefined) throw await noAnswer(mount, undefined)
  if (text === 'forbidden')
    throw new Stop(
      exitCodes.mountPoint,
      `the drive on ${path} belongs to ${await userPhrase(owner)}, who alone can ask it.`,
    )
  const { control, pid } = socketForm.parse(JSON.parse(text))
  if (control !== undefined && (await isListening(control))) return { socket: control, pid }
  throw new Stop(
    exitCodes.unreachable,
    `the daemon of this drive does not answer the command line (${control ?? 'it has no socket'}), and its log says why; mount ${path} again when that is fixed.`,
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
