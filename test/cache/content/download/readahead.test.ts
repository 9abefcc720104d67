// Reading far ahead of what has arrived: by Range where the service honours it, by waiting where it does not.
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Failure } from '../../../../src/failure.js'
import { instant } from '../../../../src/remote/remote.js'
import { gate, until } from '../../../testbed/within.js'
import {
  bytesOf,
  type FakeRemote,
  fakeRemote,
  file,
  inPieces,
  kindOf,
  openCacheTestbed,
  readAll,
  requestContext,
  settled,
} from '../fake-remote.js'

t.setTimeout(120_000)
const total = 20 << 20
const bytes = bytesOf(total)

/** Sends the first MiB of a whole body, then nothing more. */
async function* stuck(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 1 << 20)
  await new Promise(() => {})
}

/** A service that honours every Range, and counts each byte it sends. */
function exact(sent: { bytes: number }): FakeRemote {
  return fakeRemote(
    (start, end = total) => ({
      start,
      end: end < total ? end : undefined,
      bytes: (async function* () {
        for await (const piece of inPieces(bytes.subarray(start, end), 65_536)) {
          sent.bytes += piece.length
          yield piece
        }
      })(),
    }),
    () => total,
  )
}

/** A cache that knows the size of the file. */
async function sized(t: Test) {
  const { open } = openCacheTestbed(t)
  const sent = { bytes: 0 }
  const remote = exact(sent)
  const cache = open(remote)
  await cache.size(file('log'), requestContext())
  return { open, sent, remote, cache }
}

async function isRight(
  cache: { read: ReturnType<ReturnType<typeof openCacheTestbed>['open']>['read'] },
  offset: number,
  length = 4_096,
): Promise<boolean> {
  const into = Buffer.alloc(length)
  const count = await cache.read(file('log'), offset, into, requestContext())
  return into.subarray(0, count).equals(bytes.subarray(offset, offset + length))
}

t.test('READ-9 the end of a big file is read by one small request', async t => {
  const { sent, remote, cache } = await sized(t)
  const places = [total - 4_096, total - 70_000, total - 100]
  t.same(await Promise.all(places.map(place => isRight(cache, place))), [true, true, true])
  t.equal(remote.asked.length, 2, 'its size and its end')
  t.ok(sent.bytes <= 128 << 10, `${sent.bytes} bytes`)
  await settled(cache)
  t.ok(sent.bytes <= 128 << 10, 'and nothing goes on behind it')
})

t.test('READ-9 a reader of the end, the middle and then everything is sent each byte once', async t => {
  const { open, sent, remote, cache } = await sized(t)
  for (const place of [total - 4_096, 11_000_000, 7 << 20, 0, 11_100_000]) t.ok(await isRight(cache, place))
  t.ok(sent.bytes < 3 << 20, `${sent.bytes} bytes for five places`)
  t.ok((await readAll(cache, file('log'), 131_072)).equals(bytes))
  await settled(cache)
  t.equal(sent.bytes, total)
  await cache.close()
  t.ok((await readAll(open(remote), file('log'))).equals(bytes), 'and the whole was kept')
  t.equal(sent.bytes, total)
})

t.test(
  'READ-20 of so many files at most only the beginning lies here, and what went is asked for again',
  async t => {
    const { open, directory } = openCacheTestbed(t)
    const remote = exact({ bytes: 0 })
    const cache = open(remote)
    for (let place = 0; place < 700; place += 1) {
      await cache.size(file(`log-${place}`), requestContext())
      const into = Buffer.alloc(100)
      t.equal(await cache.read(file(`log-${place}`), 0, into, requestContext()), 100)
      if (!into.equals(bytes.subarray(0, 100))) t.fail('wrong bytes')
    }
    const lying = () => readdirSync(join(directory, 'content', 'unfinished')).length
    await until(5_000, 'the oldest to go', () => lying() <= 600)
    for (const place of [0, 350, 699]) {
      const into = Buffer.alloc(200_000)
      t.equal(await cache.read(file(`log-${place}`), 0, into, requestContext()), into.length)
      t.ok(into.equals(bytes.subarray(0, into.length)))
    }
  },
)

t.test('a big download without a reader stops soon, and goes on from where it stopped', async t => {
  const { open } = openCacheTestbed(t)
  const half = gate()
  const begun = gate()
  let time = Date.now()
  const remote = fakeRemote((start, end = total) => ({
    start,
    end: end < total ? end : undefined,
    // No source stated the size before: the first body is the whole one.
    length: total,
    bytes: (async function* () {
      yield* inPieces(bytes.subarray(start, Math.min(end, start + (4 << 20))), 65_536)
      if (start === 0) begun.open()
      if (start === 0) await half.opened
      yield* inPieces(bytes.subarray(Math.min(end, start + (4 << 20)), end), 65_536)
    })(),
  }))
  const cache = open(remote, { now: () => instant(time) })
  const patient = () => ({ deadline: instant(time + 20_000), priority: 'user' as const })
  await cache.read(file('log'), 0, Buffer.alloc(10), patient())
  await begun.opened
  t.equal(cache.stats().downloads, 1)
  time += 6_000
  await cache.maintain()
  await settled(cache)
  t.equal(cache.stats().downloads, 0)
  const into = Buffer.alloc(total)
  t.equal(await cache.read(file('log'), 0, into, patient()), total)
  t.ok(into.equals(bytes))
  t.equal(remote.asked[0], 'get@0')
  t.equal(remote.asked[1]?.startsWith(`get@${4 << 20}`), true, `${remote.asked}`)
  half.open()
})

t.test('what waits for its readers counts for the limit, and goes before it is passed', async t => {
  const { open, directory } = openCacheTestbed(t)
  const remote = exact({ bytes: 0 })
  let time = Date.now()
  const cache = open(remote, { limitBytes: 2 << 20, now: () => instant(time) })
  const patient = () => ({ deadline: instant(time + 20_000), priority: 'user' as const })
  for (const title of ['a', 'b', 'c', 'd']) {
    await cache.size(file(title), patient())
    await cache.read(file(title), 0, Buffer.alloc(10), patient())
    await settled(cache)
    time += 1_000
    await cache.maintain()
  }
  t.ok(cache.stats().bytes <= 2 << 20, `${cache.stats().bytes} bytes`)
  const left = join(directory, 'content', 'unfinished')
  const sizeOf = (name: string) => statSync(join(left, name), { throwIfNoEntry: false })?.size ?? 0
  const onDisk = () => readdirSync(left).reduce((sum, name) => sum + sizeOf(name), 0)
  await until(5_000, 'the disk is advised to forget', () => onDisk() <= 2 << 20)
  const into = Buffer.alloc(10)
  await cache.read(file('a'), 0, into, patient())
  t.ok(into.equals(bytes.subarray(0, 10)), 'what went is asked for again')
})

t.test('without Range a reader waits to its deadline, and the body that came is the download', async t => {
  const { open } = openCacheTestbed(t)
  const remote = fakeRemote(
    () => ({ bytes: stuck() }),
    () => total,
  )
  const cache = open(remote)
  await cache.size(file('log'), requestContext())
  const into = Buffer.alloc(4_096)
  t.equal(await kindOf(cache.read(file('log'), total - 100, into, requestContext(50))), 'timeout')
  t.equal(await kindOf(cache.read(file('log'), total - 100, into, requestContext(50))), 'timeout')
  t.equal(await cache.read(file('log'), 0, into, requestContext()), 4_096)
  t.same(remote.asked, ['size', `get@${total - (128 << 10)}`])
})

t.test('a service that sends all when asked for the beginning is asked for no parts', async t => {
  const { open } = openCacheTestbed(t)
  const remote = fakeRemote(
    () => ({ length: total, bytes: inPieces(bytes, 65_536) }),
    () => total,
  )
  const cache = open(remote)
  await cache.size(file('log'), requestContext())
  t.ok((await readAll(cache, file('log'))).equals(bytes))
  t.equal(remote.asked.length, 2)
})

t.test('a download that stands still for a minute is ended', async t => {
  const { open } = openCacheTestbed(t)
  let time = Date.now()
  const cache = open(
    fakeRemote(() => ({ length: total, bytes: stuck() })),
    { now: () => instant(time) },
  )
  const reading = cache.read(file('log'), 2 << 20, Buffer.alloc(10), {
    deadline: instant(time + 500_000),
    priority: 'user',
  })
  const kind = kindOf(reading)
  await cache.read(file('log'), 0, Buffer.alloc(10), { deadline: instant(time + 20_000), priority: 'user' })
  time += 61_000
  await cache.maintain()
  t.equal(await kind, 'timeout')
})

t.test('a download whose connection breaks goes on where it broke', async t => {
  const { open } = openCacheTestbed(t)
  const half = total / 2
  const remote = fakeRemote(start => ({
    start,
    length: start === 0 ? total : undefined,
    bytes: (async function* () {
      yield* inPieces(bytes.subarray(start, start + half / 2), 65_536)
      if (start < half) throw new Failure('unreachable', 'the connection was lost')
      yield* inPieces(bytes.subarray(start + half / 2), 65_536)
    })(),
  }))
  const cache = open(remote)
  t.ok((await readAll(cache, file('log'))).equals(bytes))
  t.same(remote.asked, ['get@0', `get@${half / 2}`, `get@${half}`])
})
