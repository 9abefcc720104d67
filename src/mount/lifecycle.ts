// Life of a mount: mounting, noticing an unmount from outside, and an orderly unmount.
import { readdir, readlink } from 'node:fs/promises'
import { join } from 'node:path'
import type { Drive } from '../drive/interface/verbs.js'
import { openPendingCalls } from './changes-in-progress.js'
import { CalcfsFuse, type CallLog, type KernelSettings, operationsOf } from './fuse.js'
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
  /** Checks the kernel's mount list now. */
  isThere(): Promise<boolean>
  /** Resolves when no program waits for the answer to a change any more; at the latest after so many milliseconds. */
  answered(limitMs: number): Promise<void>
  /** Unmounts; a mount still in use is detached (lazy unmount), and its open files end with this process. */
  unmount(): Promise<void>
}

/** The kernel sends no event when a mount ends, so its list is read this often. In milliseconds. */
const watchEvery = 300

/** Milliseconds for which the kernel caches attributes, plus the time of an answer in transit. */
const keptMs = ({ cacheSeconds }: KernelSettings): number => cacheSeconds * 1000 + 500

/** Mounts the drive at an absolute path. Rejects with the binding's message if the mount is refused. */
export async function mountDrive(
  path: string,
  { drive, log }: { drive: Drive; log: CallLog },
  settings: KernelSettings,
): Promise<Mounted> {
  const pendingCalls = openPendingCalls()
  const fuse = new CalcfsFuse(
    path,
    operationsOf(
      withReportedSizes(withSettledPages(withOneVersion(drive)), keptMs(settings), () => performance.now()),
      log,
      pendingCalls,
    ),
    settings,
  )
  const before = new Set((await drives()).map(({ device }) => device))
  const mount = (): Promise<void> =>
    new Promise((mounted, failed) => fuse.mount(error => (error === null ? mounted() : failed(error))))
  await inTurn(mount)
  const own = await ownMount(path, before)
  return {
    device: own.device,
    gone: untilGone(own),
    isThere: () => isThere(own).catch(unknown),
    answered: pendingCalls.ended,
    unmount: () => takeDown(own),
  }
}

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
async function ownMount(path: string, before: ReadonlySet<string>): Promise<LiveMount> {
  const isNew = ({ device }: Mount): boolean => !before.has(device)
  const device = ((await mountAt(path)) ?? (await drivesOfUser()).find(isNew))?.device
  const ways = await waysToKernel()
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

/** The descriptors of /dev/fuse, as the links that name it; none where the system does not show them. */
async function waysToKernel(): Promise<readonly string[]> {
  const all = (await readdir(descriptors).catch(noneShown)).map(number => join(descriptors, number))
  const leads = await Promise.all(all.map(leadsToKernel))
  return all.filter((_, at) => leads[at])
}

const descriptors = '/proc/self/fd'

async function leadsToKernel(descriptor: string): Promise<boolean> {
  return (await readlink(descriptor).catch(ignoreClosed)) === '/dev/fuse'
}

const noneShown = (): string[] => []
function ignoreClosed(): undefined {}

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
