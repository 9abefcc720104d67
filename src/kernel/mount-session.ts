// A mount that the session serves: from the device to its end.
import { closeSync, readSync, writeSync } from 'node:fs'
import { openPendingCalls } from '../mount/changes-in-progress.js'
import type { Mounted, MountedDrive } from '../mount/lifecycle.js'
import { type KernelSettings, mountAt, takeDown } from '../mount/mount-point.js'
import { mountDevice, pageBytes } from './mount-linux.js'
import { Session } from './session.js'
import { loadLibuv, whenReadable } from './wait.js'

/** @throws an Error with the words of mount(8), fusermount or koffi, where this machine does not allow it */
export async function mountSession(
  path: string,
  { drive, news, log, clock }: MountedDrive,
  settings: KernelSettings,
): Promise<Mounted> {
  const pending = openPendingCalls()
  // Before anything is mounted: what cannot be waited for must leave no mount behind.
  loadLibuv()
  const descriptor = await mountDevice(path, settings)
  const device = {
    read: (into: Buffer) => readSync(descriptor, into, 0, into.length, null),
    write: (message: Buffer) => void writeSync(descriptor, message),
    pageBytes: pageBytes(),
  }
  let isGone = (): void => {}
  const gone = new Promise<void>(resolve => {
    isGone = resolve
  })
  const { cacheSeconds: keptSeconds, xattrs } = settings
  let isOver = false
  const session = new Session(device, { drive, news, log, clock, pending, keptSeconds, xattrs }, () => {
    isOver = true
    stopWaiting()
    closeSync(descriptor)
    isGone()
  })
  const stopWaiting = whenReadable(descriptor, () => session.ready())
  const mount = await mountAt(path)
  return {
    device: mount?.device,
    gone,
    answered: pending.ended,
    async unmount() {
      // The number of a device that is gone is given to the next mount.
      if (isOver) return
      await takeDown(mount?.device)
      session.end()
    },
  }
}
