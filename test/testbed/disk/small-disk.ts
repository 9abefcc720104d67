// A disk of one megabyte, or a few, in memory, of which all but some pages can be taken.
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printed } from '../programs.js'
import { outcome, type TestLifetime } from '../testbed.js'

const pageBytes = 4096

export type Disk = Awaited<ReturnType<typeof smallDisk>>

export async function smallDisk(t: TestLifetime, mebibytes = 1) {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-small-'))
  await printed('mount', ['-t', 'tmpfs', '-o', `size=${mebibytes}m`, 'tmpfs', directory])
  t.teardown(async () => {
    await printed('umount', ['-l', directory])
    await rmdir(directory)
  })
  const block = Buffer.alloc(64 * pageBytes, 'x')
  const filler = join(directory, 'filler')
  const makeRoom = () => rm(filler, { force: true })
  return {
    directory,
    makeRoom,
    /** Takes all but so many pages. */
    async leave(pages: number): Promise<void> {
      await makeRoom()
      const file = await open(filler, 'w')
      let size = 0
      const fill = async () => {
        size += (await file.write(block, 0, block.length, size)).bytesWritten
      }
      let end = 'done'
      while (end === 'done') end = await outcome(fill())
      await file.truncate(size - pages * pageBytes)
      await file.close()
    },
  }
}
