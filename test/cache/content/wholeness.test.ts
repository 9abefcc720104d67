// Nothing read is ever wrong: cut bodies, wrong lengths, unproven ends, damaged and truncated files.
import { appendFileSync, readdirSync, readFileSync, statSync, truncateSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import { Failure } from '../../../src/failure.js'
import {
  bytesOf,
  fakeRemote,
  file,
  inPieces,
  kindOf,
  openCacheTestbed,
  readAll,
  requestContext,
  settled,
} from './fake-remote.js'

t.setTimeout(240_000)

const keptIn = (directory: string) => {
  const kept = join(directory, 'content', 'kept')
  return readdirSync(kept).map(name => join(kept, name))
}
const unfinishedIn = (directory: string) => readdirSync(join(directory, 'content', 'unfinished'))

t.test('READ-10 a size of 0 counts only where the body is empty, too', async t => {
  const { open } = openCacheTestbed(t)
  let bytes = bytesOf(100)
  const remote = fakeRemote(
    () => ({ length: bytes.length, bytes: inPieces(bytes, 7) }),
    () => 0,
  )
  const cache = open(remote)
  t.equal(await cache.size(file('a'), requestContext()), 100)
  t.ok((await readAll(cache, file('a'))).equals(bytes))
  bytes = bytesOf(0)
  t.equal(await cache.size(file('b'), requestContext()), 0)
  t.equal((await readAll(cache, file('b'))).length, 0)
})

t.test('READ-12 refresh requests all of it again', async t => {
  const { open, directory } = openCacheTestbed(t)
  let bytes = bytesOf(100)
  let said = 100
  let away = false
  const cache = open(
    fakeRemote(
      () => ({ length: bytes.length, bytes: inPieces(bytes, 7) }),
      () => {
        if (away) throw new Failure('unreachable', 'no connection')
        return said
      },
    ),
  )
  await cache.size(file('a'), requestContext())
  t.ok((await readAll(cache, file('a'))).equals(bytes))
  bytes = bytesOf(90)
  said = 90
  t.equal((await readAll(cache, file('a'))).length, 100, 'kept for ever by itself')
  away = true
  t.equal(await kindOf(cache.renew(file('a'), requestContext())), 'unreachable')
  t.equal((await readAll(cache, file('a'))).length, 100, 'a service that is away takes nothing')
  away = false
  await cache.renew(file('a'), requestContext())
  t.same(keptIn(directory), [])
  t.ok(cache.replacedAt(file('a')) !== undefined, 'the kernel is to read it again')
  t.equal(await cache.size(file('a'), requestContext()), 90)
  t.ok((await readAll(cache, file('a'))).equals(bytes))
})

t.test('READ-12 refresh keeps what a validator proves to be the same', async t => {
  const { open } = openCacheTestbed(t)
  const version = { tag: '"1"', modified: undefined }
  const remote = fakeRemote(
    () => ({ length: 100, version, bytes: inPieces(bytesOf(100), 7) }),
    () => 100,
    () => version,
  )
  const cache = open(remote)
  await readAll(cache, file('a'))
  await settled(cache)
  await cache.renew(file('a'), requestContext())
  t.equal((await readAll(cache, file('a'))).length, 100)
  t.equal(remote.asked.filter(asked => asked.startsWith('get')).length, 1)
})

const damages: Record<string, (path: string) => void> = {
  'a changed byte': path => flip(path, 1_500_000),
  'the last byte of the content changed': path => flip(path, 2_499_999),
  'a changed hash': path => flip(path, 2_500_010),
  'a changed last byte': path => flip(path, statSync(path).size - 1),
  'a cut': path => truncateSync(path, 1_000_000),
  'a cut to nothing': path => truncateSync(path, 0),
  'a cut of one byte': path => truncateSync(path, statSync(path).size - 1),
  'a longer file': path => appendFileSync(path, 'more'),
}
for (const [what, damage] of Object.entries(damages)) {
  t.test(`${what} in a kept file between two runs is never served, and mended unseen`, async t => {
    const { open, directory } = openCacheTestbed(t)
    const bytes = bytesOf(2_500_000)
    const remote = fakeRemote(() => ({ bytes: inPieces(bytes, 100_000) }))
    const first = open(remote)
    await readAll(first, file('a'))
    await first.close()
    const [path = ''] = keptIn(directory)
    damage(path)
    const second = open(remote)
    t.ok((await readAll(second, file('a'), 131_072)).equals(bytes))
    t.same(remote.asked, ['get@0', 'get@0'])
    await second.close()
    t.ok((await readAll(open(remote), file('a'))).equals(bytes))
    t.equal(remote.asked.length, 2, 'kept again')
  })
}

for (const what of ['a changed byte', 'a cut', 'a cut to nothing']) {
  t.test(`READ-21 ${what} in a kept file that was read a moment ago is never served`, async t => {
    const { open, directory } = openCacheTestbed(t)
    const bytes = bytesOf(2_500_000)
    const remote = fakeRemote(() => ({ bytes: inPieces(bytes, 100_000) }))
    const cache = open(remote)
    for (let round = 1; round <= 3; round += 1) {
      t.ok((await readAll(cache, file('a'), 131_072)).equals(bytes))
      t.ok((await readAll(cache, file('a'), 131_072)).equals(bytes))
      t.equal(remote.asked.length, round)
      await settled(cache)
      // The kernel's times move each few milliseconds.
      await new Promise(wake => setTimeout(wake, 20))
      const [path = ''] = keptIn(directory)
      damages[what]?.(path)
    }
  })
}

t.test('scrubbing finds damage in unread contents, and what dead processes left', async t => {
  const { open, directory } = openCacheTestbed(t)
  const remote = fakeRemote(() => ({ bytes: inPieces(bytesOf(50_000), 9_000) }))
  const first = open(remote)
  for (const title of ['a', 'b', 'c']) await readAll(first, file(title))
  await first.close()
  const [path = ''] = keptIn(directory)
  flip(path, 40_000)
  const second = open(remote)
  await second.maintain()
  const left = join(directory, 'content', 'unfinished')
  writeFileSync(join(left, '4194304999-aa-1'), 'half')
  writeFileSync(join(left, `${process.pid}-of-an-earlier-boot-1`), 'half')
  writeFileSync(join(left, `${process.ppid}-aa-1`), 'of a living process')
  t.same(await second.scrub(), { checked: 3, dropped: 1, swept: 2 })
  t.same(unfinishedIn(directory), [`${process.ppid}-aa-1`])
  t.equal(second.stats().files, 2)
})

t.test('forgetting a content forgets its bytes and its size, even while it is downloaded', async t => {
  const { open, directory, ledger } = openCacheTestbed(t)
  const remote = fakeRemote(() => ({ bytes: inPieces(bytesOf(50_000), 1_000) }))
  const cache = open(remote)
  await readAll(cache, file('a'))
  t.equal(cache.cached(file('a')), 1)
  await cache.outdate(cache.nameOf(file('a')))
  t.equal(cache.cached(file('a')), 0)
  await cache.read(file('a'), 0, Buffer.alloc(10), requestContext())
  await cache.outdate(cache.nameOf(file('a')))
  t.same(keptIn(directory), [])
  t.equal(ledger.entries('size').size, 0)
  t.equal((await readAll(cache, file('a'))).length, 50_000)
  t.equal(remote.asked.length, 3)
})

t.test('directories are for their owner alone, files too', async t => {
  const { open, directory } = openCacheTestbed(t)
  const cache = open(fakeRemote(() => ({ bytes: inPieces(bytesOf(10), 10) })))
  await readAll(cache, file('a'))
  await cache.close()
  for (const path of ['content', 'content/kept', 'content/unfinished'])
    t.equal(statSync(join(directory, path)).mode & 0o777, 0o700, path)
  for (const path of keptIn(directory)) t.equal(statSync(path).mode & 0o777, 0o600)
  t.equal(statSync(join(directory, 'ledger.db')).mode & 0o777, 0o600)
})

function flip(path: string, place: number): void {
  const bytes = readFileSync(path)
  bytes[place] = (bytes[place] ?? 0) ^ 1
  writeFileSync(path, bytes)
}

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
