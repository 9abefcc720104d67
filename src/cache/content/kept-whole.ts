// A kept file as it is handed to another process: there, and every byte of it checked as for a read.
import type { KeptFile } from '../../kept-file.js'
import type { Blob } from './store/blob.js'
import { FileClosed } from './store/open-file.js'

export interface KeptWholePorts {
  /** Undefined where it is not kept, or not yet. */
  opened(): Promise<Blob | undefined>
  /** Downloads it, unless that takes long; false where it is not kept after that. */
  bring(): Promise<boolean>
  /** It is not what was kept, and goes. */
  discard(error: unknown): Promise<void>
  readonly path: string
}

/** Undefined where it has to be read: a read downloads again what was damaged, and says what cannot be had. */
export async function keptWhole(ports: KeptWholePorts): Promise<KeptFile | undefined> {
  const blob = (await ports.opened()) ?? ((await ports.bring()) ? await ports.opened() : undefined)
  if (blob === undefined) return undefined
  try {
    await blob.verify()
  } catch (error) {
    if (!(error instanceof FileClosed)) await ports.discard(error)
    return undefined
  }
  return { path: ports.path, length: blob.length, ...blob.marks() }
}
