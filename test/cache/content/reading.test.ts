// What a reader of contents may rely on while they arrive and after.
import fc from 'fast-check'
import t from 'tap'
import { bytesOf, fakeRemote, file, openCacheTestbed, requestContext } from './fake-remote.js'

t.setTimeout(240_000)

t.test('any read at any time gives the true bytes, however they arrive', async t => {
  const { open } = openCacheTestbed(t)
  let title = 0
  const pieces = fc.array(fc.integer({ min: 1, max: 90_000 }), { minLength: 1, maxLength: 40 })
  const reads = fc.array(
    fc.tuple(fc.double({ min: 0, max: 1.1, noNaN: true }), fc.integer({ min: 0, max: 300_000 })),
    {
      minLength: 1,
      maxLength: 12,
    },
  )
  await fc.assert(
    fc.asyncProperty(pieces, reads, fc.boolean(), async (lengths, places, saysLength) => {
      title += 1
      const total = lengths.reduce((sum, length) => sum + length, 0)
      const bytes = bytesOf(total, title)
      const cache = open(
        fakeRemote(() => ({ length: saysLength ? total : undefined, bytes: unevenly(bytes, lengths) })),
      )
      const results = await Promise.all(
        places.map(async ([place, length]) => {
          const offset = Math.floor(place * total)
          const into = Buffer.alloc(length)
          const count = await cache.read(file(`f${title}`), offset, into, requestContext())
          return into.subarray(0, count).equals(bytes.subarray(offset, offset + length))
        }),
      )
      await cache.close()
      return results.every(right => right)
    }),
    { numRuns: 60 },
  )
})

async function* unevenly(bytes: Uint8Array, lengths: readonly number[]): AsyncGenerator<Uint8Array> {
  let from = 0
  for (const length of lengths) {
    if (length % 3 === 0) await new Promise(setImmediate)
    yield bytes.subarray(from, from + length)
    from += length
  }
}
