// Life of a mount through libfuse: mounting, noticing an unmount from outside, and an orderly unmount.
import type { Drive, KernelNews } from '../drive/interface/verbs.js'
import type { Clock } from '../remote/clock.js'
import { openPendingCalls } from './changes-in-progress.js'
import { CalcfsFuse, type CallLog, operationsOf } from './fuse.js'
import { inTurn, type KernelSettings, mountAt, placesOf, takeDown } from './mount-point.js'
import { pathDrive } from './path-drive.js'

export interface Mounted {
  /** The kernel's device number of the file system; undefined where the mount has ended at once. */
  readonly device: string | undefined
  /** Resolves when the file system is no longer mounted, by this process or any other. */
  readonly gone: Promise<void>
  /** Resolves when no program waits for the answer to a change any more; at the latest after so many milliseconds. */
  answered(limitMs: number): Promise<void>
  /** Unmounts; a mount still in use is detached (lazy unmount), and its open files end with this process. */
  unmount(): Promise<void>
}

/** The kernel sends no event when a mount ends, so its list is read this often. In milliseconds. */
const watchEvery = 300

export interface MountedDrive {
  readonly drive: Drive
  readonly news: KernelNews
  readonly log: CallLog
  readonly clock: Clock
}

/** Mounts the drive at an absolute path. Rejects with the binding's message if the mount is refused. */
export async function mountDrive(
  path: string,
  { drive, log }: Pick<MountedDrive, 'drive' | 'log'>,
  settings: KernelSettings,
): Promise<Mounted> {
  const pending = openPendingCalls()
  const fuse = new CalcfsFuse(path, operationsOf(pathDrive(drive), log, pending), settings)
  const begin = (): Promise<void> =>
    new Promise((mounted, failed) => fuse.mount(error => (error === null ? mounted() : failed(error))))
  // The binding looks at the mount point first, and would wait for this very mount.
  if (settings.onAutomount)
    throw new Error(
      'an automount point (autofs) cannot be mounted through libfuse: leave out --kernel libfuse',
    )
  await inTurn(begin)
  const device = (await mountAt(path))?.device
  return {
    device,
    gone: untilGone(device),
    answered: pending.ended,
    unmount: () => takeDown(device),
  }
}

async function untilGone(device: string | undefined): Promise<void> {
  const isThere = async (): Promise<boolean> => (await placesOf(device)).length > 0
  // Without a free descriptor the kernel's list cannot be read: the mount may still be there.
  while (await isThere().catch(() => true)) await new Promise(wake => setTimeout(wake, watchEvery))
}
