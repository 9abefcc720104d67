// What a reader of contents may rely on while they arrive and after.
import fc from 'fast-check'
import t from 'tap'
import {
  bytesOf,
  fakeRemote,
  file,
  gate,
  inPieces,
  openCacheTestbed,
  readAll,
  requestContext,
  xyz,
} from './fake-remote.js'

t.setTimeout(240_000)

t.test('a read is answered as soon as its own bytes are there', async t => {
  const { open } = openCacheTestbed(t)
  const rest = gate()
  const bytes = bytesOf(200_000)
  const cache = open(
    fakeRemote(() => ({
      length: bytes.length,
      bytes: (async function* () {
        yield bytes.subarray(0, 100_000)
        await rest.opened
        yield bytes.subarray(100_000)
      })(),
    })),
  )
  const early = Buffer.alloc(50_000)
  t.equal(await cache.read(file('a'), 50_000, early, requestContext()), 50_000)
  t.ok(early.equals(bytes.subarray(50_000, 100_000)))
  t.equal(cache.cached(file('a')), 0.5)
  const late = Buffer.alloc(50_000)
  const waiting = cache.read(file('a'), 150_000, late, requestContext())
  rest.open()
  t.equal(await waiting, 50_000)
  t.ok(late.equals(bytes.subarray(150_000)))
  t.equal(await cache.read(file('a'), 200_000, late, requestContext()), 0, 'nothing at the end')
  t.equal(await cache.read(file('a'), 900_000, late, requestContext()), 0, 'nothing behind it')
  t.equal(await cache.read(file('a'), 190_000, late, requestContext()), 10_000, 'less at the end')
})

t.test('contents with hostile names never share bytes', async t => {
  const { open } = openCacheTestbed(t)
  const titles = [
    '../../etc/passwd',
    'a\0b',
    'a',
    '',
    '\ud800',
    '\ud801',
    'x'.repeat(5_000),
    '7\0a',
    'ä',
    'a\u0308',
  ]
  let sent = 0
  const cache = open(
    fakeRemote(() => {
      sent += 1
      return { bytes: inPieces(Buffer.from(`body ${sent}`), 100) }
    }),
  )
  const bodies = new Set<string>()
  for (const title of titles) bodies.add((await readAll(cache, file(title))).toString())
  bodies.add((await readAll(cache, xyz('7'))).toString())
  t.equal(bodies.size, titles.length + 1)
})

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
