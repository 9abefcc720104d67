// Free space for df: that of the disk on which drafts are kept, because an editor asks before it saves.
import { statfs } from 'node:fs/promises'
import type { Space } from './interface/verbs.js'

/** The space of the file system that this directory lies on; the binding carries counts of 32 bits. */
export async function spaceOf(directory: string): Promise<Space> {
  const { bsize, blocks, bfree, bavail, files, ffree } = await statfs(directory)
  const small = (count: number): number => Math.min(count, 0xffff_ffff)
  return {
    bsize,
    frsize: bsize,
    blocks: small(blocks),
    bfree: small(bfree),
    bavail: small(bavail),
    files: small(files),
    ffree: small(ffree),
    favail: small(ffree),
    namemax: 255,
  }
}
