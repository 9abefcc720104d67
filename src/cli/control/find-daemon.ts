// Daemon of a mounted drive: found without accessing the mount, called with a deadline, and the advice where it hangs.

import { join } from 'node:path'
import * as z from 'zod'
import type { Control } from '../../drive/interface/control.js'
import type { DriveReader } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { type Mount, mountAt } from '../../mount/mount-point.js'
import { probeDaemon, textAt } from '../../mount/probe.js'
import { processAt } from '../../system/process.js'
import { userPhrase } from '../../system/user-name.js'
import { exitCodes, Stop } from '../../terminal/exit.js'
import { type Listener, readerAt } from '../stream/stream-client.js'
import { controlAt } from './client.js'
import { isListening, listenerAt } from './socket.js'

/** A drive's status, as a command reads it: from another process, and perhaps another version. */
const statusForm = z.looseObject({
  service: z.string(),
  user: z.string(),
  mountPoint: z.string(),
  access: z.string(),
  pid: z.number(),
  /** The socket for the command line. */
  control: z.string().optional(),
  at: z.string(),
  since: z.string(),
  top: z.string(),
  answers: z.boolean(),
  awaySince: z.string().optional(),
  awayBecause: z.string().optional(),
  signedIn: z.boolean().optional(),
  signedOutSince: z.string().optional(),
  signedOutBecause: z.string().optional(),
  /** The end of the token, and whether a password renews it. */
  signedInUntil: z.string().optional(),
  signInRenewed: z.boolean().optional(),
  /** Operations that the instance is known to lack. */
  lacking: z.array(z.string()),
  requests: z.number(),
  /** Response time of the user request. */
  answersInMs: z.number().optional(),
  /** `session` or `libfuse`, and why not by the session. */
  kernel: z.string().optional(),
  kernelBecause: z.string().optional(),
  /** The longest pause of the last minutes in which no program was answered. */
  pausedMs: z.number().optional(),
  pausedAt: z.string().optional(),
  /** Absent where the drive shares nothing. */
  fleet: z
    .looseObject({
      address: z.string(),
      mounts: z.number(),
      saved: z.number(),
      asked: z.number(),
      passedByBecause: z.string().optional(),
    })
    .optional(),
  /** The number of ids that stand for other things than before. */
  otherThings: z.number().optional(),
  unsent: z.array(
    z.looseObject({
      name: z.string().optional(),
      record: z.string(),
      path: z.string().optional(),
      state: z.string(),
      why: z.string().optional(),
      whatToDo: z.string().optional(),
    }),
  ),
  /** Deletions that wait. */
  deleting: z.array(z.looseObject({ path: z.string(), what: z.string(), since: z.string() })),
  /** Files among the reports that never reach the service. */
  keptHere: z.array(z.string()),
  removedInVain: z.array(z.string()),
  /** Problems with the drive's own directories. */
  places: z.array(z.string()),
  /** What is kept whole on this disk. */
  pins: z.array(
    z.looseObject({
      path: z.string(),
      state: z.string(),
      because: z.string().optional(),
      files: z.number(),
      filesKept: z.number(),
      bytes: z.number(),
      bytesKept: z.number(),
    }),
  ),
  state: z.string(),
})
export type Status = z.infer<typeof statusForm>

/** @throws Failure 'broken' for an invalid status */
function statusIn(text: string): Status {
  try {
    return statusForm.parse(JSON.parse(text))
  } catch (cause) {
    throw new Failure(
      'broken',
      'the drive reports its status in another form than this version of calcfs expects; unmount and mount it again',
      { cause },
    )
  }
}

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

/** Every call rejects with NoAnswer where the daemon hangs. */
export interface Daemon {
  /** `check` sends a request to the service first, where the daemon listens. */
  status(check?: boolean): Promise<Status>
  /** All other operations. @throws Stop where it does not listen */
  control(): Promise<Control>
  /** Its trees and files. @throws Stop where it does not listen */
  reader(): Promise<DriveReader>
}

/** Milliseconds in which a daemon without a known socket answers the kernel. */
const pulseLimit = 2500

/**
 * The daemon of the drive mounted exactly there.
 * @throws NoAnswer where it is dead or hangs, Stop where there is no drive, or another user's
 */
export async function daemonAt(path: string): Promise<Daemon> {
  const mount = await mountAt(path)
  if (mount === undefined)
    throw new Stop(
      exitCodes.mountPoint,
      `nothing is mounted on ${path} any more; calcfs mount brings it up again.`,
    )
  const listener = await listenerAt(path, mount.owner, process.env)
  if (listener === undefined) return withoutSocket(mount)
  const place = listening(mount, listener.socket, listener.pid)
  const control = controlAt(place)
  return {
    status: async check => statusIn((await control.status({ check })).text),
    control: async () => control,
    reader: async () => readerAt(place),
  }
}

/** The drive that is mounted there. @throws NoAnswer where its daemon is dead or hangs */
export async function driveAt(mountPoint: string): Promise<Control> {
  return (await daemonAt(mountPoint)).control()
}

/** Whether the daemon of a mount has ended; one that hangs has not. */
export async function hasEnded(mount: Mount): Promise<boolean> {
  if ((await listenerAt(mount.path, mount.owner, process.env)) !== undefined) return false
  return (await probeDaemon(mount.path, pulseLimit)) === 'dead'
}

/** A drive without a socket, or mounted a second time under another path, shows its status as a file. */
async function withoutSocket(mount: Mount): Promise<Daemon> {
  const { path } = mount
  switch (await probeDaemon(path, pulseLimit)) {
    case 'silent':
      throw await noAnswerFailure(mount, undefined)
    case 'dead':
      throw new NoAnswer(
        'dead',
        undefined,
        `the daemon of ${path} has died; calcfs unmount ${path} frees the mount point.`,
      )
    case 'answers':
      return {
        status: () => statusFile(mount),
        control: async () => controlAt(await namedSocket(mount)),
        reader: async () => readerAt(await namedSocket(mount)),
      }
  }
}

async function statusFile(mount: Mount): Promise<Status> {
  const text = await textAt(join(mount.path, fixedNames.own, fixedNames.status), pulseLimit)
  if (text === undefined) throw await noAnswerFailure(mount, undefined)
  if (text === 'forbidden') {
    throw new Stop(
      exitCodes.mountPoint,
      `the drive on ${mount.path} belongs to ${await userPhrase(mount.owner)}, who alone can ask it.`,
    )
  }
  return statusIn(text)
}

/** The socket that the drive's own status names. */
async function namedSocket(mount: Mount): Promise<Listener> {
  const { control, pid } = await statusFile(mount)
  if (control !== undefined && (await isListening(control))) return listening(mount, control, pid)
  throw new Stop(
    exitCodes.unreachable,
    `the daemon of this drive does not answer the command line (${control ?? 'it has no socket'}), and its log says why; mount ${mount.path} again when that is fixed.`,
  )
}

const listening = (mount: Mount, socketPath: string, pid: number | undefined): Listener => ({
  socketPath,
  device: mount.device,
  onSilence: () => noAnswerFailure(mount, pid),
})

async function noAnswerFailure({ path, owner }: Mount, pid: number | undefined): Promise<NoAnswer> {
  const met = pid === undefined ? undefined : await processAt(pid)
  // A process of another user only has the number that this daemon had.
  const known = met?.user !== undefined && met.user === owner ? pid : undefined
  const who = `the daemon of ${path}${known === undefined ? '' : ` (process ${known})`}`
  const away = `calcfs unmount --force ${path} takes the mount away.`
  if (known !== undefined && met?.isStopped === true)
    return new NoAnswer('silent', known, `${who} is stopped; kill -CONT ${known} resumes it, ${away}`)
  return new NoAnswer('silent', known, `${who} does not answer; try again, or ${away}`)
}
