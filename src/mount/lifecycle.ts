// The life of a mount: up, noticed when somebody else takes it down, and down in order.
import type { Drive } from '../drive/verbs.js'
import { CalcfsFuse, type KernelSettings, type LogFailure, operationsOf } from './fuse.js'
import { detach, mountedType, unmount } from './mount-point.js'

export interface Mounted {
  /** Resolves when the file system is no longer mounted, whoever unmounted it. */
  readonly gone: Promise<void>
  /** Unmounts; where a program still uses the drive it is taken out of the tree, and that program's files end with us. */
  unmount(): Promise<void>
}

/** The kernel tells nobody that a mount has ended; its list is read this often. In milliseconds. */
const watchEvery = 300

/** Mounts the drive at an absolute path. Rejects with the binding's words if the kernel or libfuse refuses. */
export async function mountDrive(
  path: string,
  { drive, logFailure }: { drive: Drive; logFailure: LogFailure },
  settings: KernelSettings,
): Promise<Mounted> {
  const fuse = new CalcfsFuse(path, operationsOf(drive, logFailure), settings)
  await new Promise<void>((mounted, failed) => {
    fuse.mount(error => (error === null ? mounted() : failed(error)))
  })
  return { gone: untilGone(path), unmount: () => takeDown(path) }
}

async function untilGone(path: string): Promise<void> {
  while ((await mountedType(path)) !== undefined) await new Promise(wake => setTimeout(wake, watchEvery))
}

async function takeDown(path: string): Promise<void> {
  if ((await mountedType(path)) === undefined) return
  try {
    await unmount(path)
  } catch {
    // A shell stands in it or a file is open. Who ends the daemon means it: out of the tree now.
    await detach(path)
  }
}
