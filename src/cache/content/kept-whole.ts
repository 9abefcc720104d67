// A kept file as it is handed to another process: a short one as it lies there, a longer one with every byte checked as for a read.
import type { KeptFile } from '../../kept-file.js'
import type { Blob } from './store/blob.js'
import { FileClosed } from './store/open-file.js'
import type { ShortMarks } from './store/short-files.js'

export interface KeptWholePorts {
  /** A short one, unchecked; undefined where it is not kept, or is longer, or the disk is slow. */
  short(): ShortMarks | undefined
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
  const { path } = ports
  const short = ports.short()
  if (short !== undefined) return { path, ...short }
  const blob = await ports.opened()
  if (blob !== undefined) return checked(blob, ports)
  if (!(await ports.bring())) return undefined
  const brought = ports.short()
  if (brought !== undefined) return { path, ...brought }
  const long = await ports.opened()
  return long && checked(long, ports)
}

async function checked(blob: Blob, { path, discard }: KeptWholePorts): Promise<KeptFile | undefined> {
  try {
    await blob.verify()
  } catch (error) {
    if (!(error instanceof FileClosed)) await discard(error)
    return undefined
  }
  return { path, length: blob.length, ...blob.marks() }
}
