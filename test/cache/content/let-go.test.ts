// Contents let go while they are read: a reader that meets the removal leaves nothing of the old version behind.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import {
  bytesOf,
  fakeRemote,
  file,
  inPieces,
  openCacheTestbed,
  readAll,
  requestContext,
  settled,
} from './fake-remote.js'

t.setTimeout(120_000)

/** Turns of the event loop by which the reads come before or after the removal. */
const apart = 4

t.test(
  'what another mount has found replaced is read from the service, also where a read meets its removal',
  async t => {
    const content = file('run.bin')
    // A short one is read at once, a long one in the background.
    for (const length of [20_000, 2_000_000])
      for (let round = 0; round < 60; round += 1) {
        const { open } = openCacheTestbed(t)
        let version = 1
        const remote = fakeRemote(() => {
          const bytes = bytesOf(length, version)
          return { length, bytes: inPieces(bytes, 70_001) }
        })
        const first = open(remote)
        await readAll(first, content)
        await settled(first)
        await first.close()
        // Nothing of it is open or in memory.
        const cache = open(remote)
        version = 2
        const turns = () => Math.floor(Math.random() * apart)
        const later = async <Value>(work: () => Promise<Value>): Promise<Value> => {
          for (let left = turns(); left > 0; left -= 1) await turn()
          return work()
        }
        const piece = Buffer.alloc(4_096)
        const reads = Array.from({ length: 6 }, () =>
          later(() => cache.read(content, 0, piece, requestContext())),
        )
        await Promise.all([later(() => cache.outdate(cache.nameOf(content))), Promise.allSettled(reads)])
        const found = await readAll(cache, content)
        if (!found.equals(bytesOf(length, 2))) t.fail(`an old version of ${length} bytes in round ${round}`)
        await cache.close()
      }
    t.pass('every round')
  },
)
