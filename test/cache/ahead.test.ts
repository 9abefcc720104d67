// Reading far ahead of what has arrived: by Range where the service honours it, by waiting where it does not.
import t from 'tap'
import { Failure } from '../../src/failure.js'
import { instant } from '../../src/remote/remote.js'
import { ask, bytesOf, file, ground, imitation, inPieces, kindOf, readAll } from './imitation.js'

t.setTimeout(60_000)
const total = 20 << 20
const bytes = bytesOf(total)

/** Sends the first MiB of a whole body, then nothing more. */
async function* stuck(): AsyncGenerator<Uint8Array> {
  yield bytes.subarray(0, 1 << 20)
  await new Promise(() => {})
}

t.test('the end of a big file is read without the rest of it', async t => {
  const { open } = ground(t)
  const remote = imitation(
    start => ({ start, bytes: start === 0 ? stuck() : inPieces(bytes.subarray(start), 65_536) }),
    () => total,
  )
  const cache = open(remote)
  await cache.size(file('log'), ask())
  const reads = [total - 70_000, total - 100, total - 1_100_000].map(async offset => {
    const into = Buffer.alloc(131_072)
    const count = await cache.read(file('log'), offset, into, ask())
    return into.subarray(0, count).equals(bytes.subarray(offset, offset + 131_072))
  })
  t.same(await Promise.all(reads), [true, true, true])
  t.same(remote.asked, ['size', `get@${total - (1 << 20)}`, `get@${total - (2 << 20)}`])
  const head = Buffer.alloc(4_096)
  t.equal(await cache.read(file('log'), 0, head, ask()), 4_096)
  const middle = Buffer.alloc(4_096)
  t.equal(await cache.read(file('log'), 10 << 20, middle, ask()), 4_096, 'also beside a download')
  t.ok(middle.equals(bytes.subarray(10 << 20, (10 << 20) + 4_096)))
})

t.test('who reads much by stretches gets the download too', async t => {
  const { open } = ground(t)
  const remote = imitation(
    start => ({ start, bytes: inPieces(bytes.subarray(start), 65_536) }),
    () => total,
  )
  const cache = open(remote)
  await cache.size(file('log'), ask())
  const into = Buffer.alloc(1 << 20)
  for (let place = 19; place >= 5; place -= 1) await cache.read(file('log'), place << 20, into, ask())
  t.equal(cache.stats().downloads, 1)
})

t.test('without Range a reader waits to his deadline, and the service is tried once', async t => {
  const { open } = ground(t)
  const remote = imitation(
    () => ({ bytes: stuck() }),
    () => total,
  )
  const cache = open(remote)
  await cache.size(file('log'), ask())
  const into = Buffer.alloc(4_096)
  t.equal(await kindOf(cache.read(file('log'), total - 100, into, ask(50))), 'timeout')
  t.equal(await kindOf(cache.read(file('log'), total - 100, into, ask(50))), 'timeout')
  t.same(remote.asked, ['size', `get@${19 << 20}`, 'get@0'])
})

t.test('a stretch shorter than the told size allows is broken', async t => {
  const { open } = ground(t)
  const cache = open(
    imitation(
      start => ({ start, bytes: inPieces(bytes.subarray(start, total - 5_000), 65_536) }),
      () => total,
    ),
  )
  await cache.size(file('log'), ask())
  t.equal(await kindOf(cache.read(file('log'), total - 100, Buffer.alloc(100), ask())), 'broken')
})

t.test('a download that stands still for a minute is ended', async t => {
  const { open } = ground(t)
  let time = Date.now()
  const cache = open(
    imitation(() => ({ bytes: stuck() })),
    { now: () => instant(time) },
  )
  const reading = cache.read(file('log'), 2 << 20, Buffer.alloc(10), {
    deadline: instant(time + 500_000),
    lane: 'user',
  })
  const kind = kindOf(reading)
  await cache.read(file('log'), 0, Buffer.alloc(10), { deadline: instant(time + 20_000), lane: 'user' })
  time += 61_000
  await cache.tend()
  t.equal(await kind, 'timeout')
})

t.test('a download whose connection breaks goes on where it broke', async t => {
  const { open } = ground(t)
  const half = total / 2
  const remote = imitation(start => ({
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
