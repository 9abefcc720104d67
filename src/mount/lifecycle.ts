// Life of a mount: mounting, noticing an unmount from outside, and an orderly unmount.
import { errnoOf } from '../drive/interface/errno.js'
import type { KernelNews } from '../drive/interface/kernel-news.js'
import { pathDrive } from '../drive/interface/path-drive.js'
import type { Drive } from '../drive/interface/verbs.js'
import { asFailure } from '../failure.js'
import type { Clock } from '../remote/clock.js'
import { withoutLooking } from './automount-point.js'
import { openPendingCalls, type PendingCalls } from './changes-in-progress.js'
import { withoutForgottenTargets } from './forgotten-names.js'
import { CalcfsFuse, type CallLog, forgottenAfterMs, type KernelSettings, operationsOf } from './fuse.js'
import { type KeptByKernel, openKeptByKernel } from './kept-by-kernel.js'
import { fuseDescriptors, leadsToKernel, withHighDescriptor } from './kernel-descriptor.js'
import { type KernelEpoch, openKernelEpoch } from './kernel-epoch.js'
import { withReportedSizes } from './kernel-sizes.js'
import {
  detach,
  drives,
  drivesOfUser,
  inTurn,
  type Mount,
  mountAt,
  placesOf,
  unmount,
} from './mount-point.js'
import { withOneVersion } from './one-version.js'
import { withSettledPages } from './settled-pages.js'

export interface Mounted {
  /** The kernel's device number of the file system; undefined where the mount has ended at once. */
  readonly device: string | undefined
  /** Resolves when the file system is no longer mounted, by this process or any other. */
  readonly gone: Promise<void>
  /** Whether the kernel takes notifications, and so keeps names for longer than a second. */
  readonly isTold: boolean
  /** Resolves when no program waits for the answer to a change any more; at the latest after so many milliseconds. */
  answered(limitMs: number): Promise<void>
  /** Unmounts; a mount still in use is detached (lazy unmount), and its open files end with this process. */
  unmount(): Promise<void>
}

/** The kernel sends no event when a mount ends, so its list is read this often. In milliseconds. */
const watchEvery = 300

/** Milliseconds for which the kernel caches attributes, plus the time of an answer in transit. */
const keptMs = (cacheSeconds: number): number => cacheSeconds * 1000 + 500

/** What a mount serves. */
export interface MountedDrive {
  readonly drive: Drive
  readonly news: KernelNews
  readonly log: CallLog
  readonly clock: Clock
}

/**
 * Mounts the drive at an absolute path. Rejects with the binding's message if the mount is refused. Where the kernel cannot
 * be told of changes, it keeps names and attributes for a second only.
 */
export async function mountDrive(
  path: string,
  served: MountedDrive,
  settings: KernelSettings,
): Promise<Mounted> {
  if (settings.cacheSeconds > untoldSeconds) {
    const told = await mountOnce(path, served, settings)
    if (told.isTold) return told
    await told.unmount()
  }
  return mountOnce(path, served, {
    ...settings,
    cacheSeconds: Math.min(settings.cacheSeconds, untoldSeconds),
  })
}

/** The operations that the kernel is served with, behind what the binding needs, and what they note of the kernel's names. */
export function servedOperations(
  { drive, news, log, clock }: MountedDrive,
  epoch: Pick<KernelEpoch, 'advance' | 'told'>,
  cacheSeconds: number,
  pendingCalls?: PendingCalls,
): { readonly operations: ReturnType<typeof operationsOf>; readonly kept: KeptByKernel } {
  const isLong = cacheSeconds > untoldSeconds
  const now = (): number => performance.now()
  const kept = openKeptByKernel(epoch, news, { clock, keptMs: keptMs(cacheSeconds) })
  const sized = withReportedSizes(
    withSettledPages(withOneVersion(isLong ? kept.noting(pathDrive(drive)) : pathDrive(drive))),
    keptMs(cacheSeconds),
    now,
  )
  const whole = isLong ? withoutForgottenTargets(sized, forgottenAfterMs, now) : sized
  return { operations: operationsOf(whole, tellingWhatIsStale(log, news), pendingCalls), kept }
}

async function mountOnce(path: string, served: MountedDrive, settings: KernelSettings): Promise<Mounted> {
  const pendingCalls = openPendingCalls()
  const isLong = settings.cacheSeconds > untoldSeconds
  const epoch = openKernelEpoch(cause => served.log.failed('notify', path, cause))
  const { operations, kept } = servedOperations(served, epoch, settings.cacheSeconds, pendingCalls)
  const fuse = new CalcfsFuse(path, operations, settings)
  const before = new Set((await drives()).map(({ device }) => device))
  const begin = (): Promise<void> =>
    new Promise((mounted, failed) => fuse.mount(error => (error === null ? mounted() : failed(error))))
  const mount = settings.onAutomount ? () => withoutLooking(path, begin) : begin
  // Only what is told needs a number that no file gets.
  const descriptor = await inTurn(() => (isLong ? withHighDescriptor(mount) : mount().then(() => undefined)))
  const own = await ownMount(path, before, descriptor)
  const isTold = descriptor !== undefined && epoch.begin(descriptor)
  function endTelling(): void {
    epoch.end()
    kept.end()
  }
  if (!isTold) endTelling()
  return {
    device: own.device,
    isTold,
    gone: untilGone(own).finally(endTelling),
    answered: pendingCalls.ended,
    unmount() {
      endTelling()
      return takeDown(own)
    },
  }
}

/** What was refused because it is another thing now is asked for again by every program, at its next call. */
const tellingWhatIsStale = (log: CallLog, news: KernelNews): CallLog => ({
  ...log,
  failed(verb, path, thrown) {
    log.failed(verb, path, thrown)
    if (errnoOf(asFailure(thrown).kind) === 'ESTALE') news.tell('all')
  },
})

/** Seconds for which the kernel keeps a name where it cannot be told that it is another thing now. */
const untoldSeconds = 1

/**
 * One mount for as long as it lasts. While a daemon was suspended its mount may have been removed, and another one may have its
 * mount point and even its kernel number; but then its own connection to the kernel is closed.
 */
interface LiveMount {
  readonly device: string | undefined
  /** The paths at which it is mounted now; none once it is gone. */
  places(): Promise<readonly string[]>
}

/** A directory above the path may have been renamed in this very moment: then it is the drive that was not there before. */
async function ownMount(
  path: string,
  before: ReadonlySet<string>,
  descriptor: number | undefined,
): Promise<LiveMount> {
  const isNew = ({ device }: Mount): boolean => !before.has(device)
  const device = ((await mountAt(path)) ?? (await drivesOfUser()).find(isNew))?.device
  const ways = descriptor === undefined ? await fuseDescriptors() : [descriptor]
  return {
    device,
    async places() {
      const found = device === undefined ? [] : await placesOf(device)
      if (found.length > 0 && ways.length > 0 && !(await Promise.all(ways.map(leadsToKernel))).includes(true))
        return []
      return found.map(mount => mount.path)
    },
  }
}

const isThere = async (own: LiveMount): Promise<boolean> => (await own.places()).length > 0

async function untilGone(own: LiveMount): Promise<void> {
  while (await isThere(own).catch(unknown)) await new Promise(wake => setTimeout(wake, watchEvery))
}

/** Without a free descriptor the kernel's list cannot be read: the mount may still be there. */
const unknown = (): boolean => true

/** Where another daemon has mounted since, its mount stays. */
async function takeDown(own: LiveMount): Promise<void> {
  for (const path of await own.places()) {
    try {
      await unmount(path)
    } catch {
      // A shell has it as its working directory or a file is open. The daemon must end: detach the mount now.
      await detach(path)
    }
  }
}
