// A disk of one megabyte in memory, of which all but a few pages can be taken.
import { mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { printed } from '../programs.js'
import { outcome, type TestLifetime } from '../testbed.js'

const pageBytes = 4096

export type Disk = Awaited<ReturnType<typeof smallDisk>>

export async function smallDisk(t: TestLifetime) {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-small-'))
  await printed('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', directory])
  t.teardown(async () => {
    await printed('umount', ['-l', directory])
    await rmdir(directory)
  })
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
      while ((await outcome(file.write(Buffer.alloc(pageBytes, 'x'), 0, pageBytes, size))) === 'done')
        size += pageBytes
      await file.truncate(size - pages * pageBytes)
      await file.close()
    },
  }
}
