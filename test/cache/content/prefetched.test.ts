// Prefetched contents: only what is short enough, only while it is wanted, and never twice.
import t from 'tap'
import { until } from '../../testbed/within.js'
import {
  bytesOf,
  fakeRemote,
  file,
  gate,
  inPieces,
  kindOf,
  openCacheTestbed,
  readAll,
  requestContext,
} from './fake-remote.js'

t.setTimeout(120_000)
const bytes = bytesOf(300_000)

t.test('a body that is refused unread lets go of its connection', async t => {
  const { open } = openCacheTestbed(t)
  const remote = fakeRemote(() => ({ length: bytes.length, bytes: inPieces(bytes, 65_536) }))
  let cancelled = 0
  const cache = open({
    ...remote,
    async content(...asked) {
      const body = await remote.content(...asked)
      const cancel = () => {
        cancelled += 1
        body.cancel()
      }
      return { ...body, cancel }
    },
  })
  await cache.prefetch(file('a'), requestContext(), 200_000)
  t.ok(cancelled > 0)
})

t.test('a new reader joins the guess, and then it cannot be cancelled', async t => {
  const { open } = openCacheTestbed(t)
  const rest = gate()
  const remote = fakeRemote(() => ({
    length: bytes.length,
    bytes: (async function* () {
      yield bytes.subarray(0, 100_000)
      await rest.opened
      yield bytes.subarray(100_000)
    })(),
  }))
  const cache = open(remote)
  const calledOff = new AbortController()
  const guess = cache.prefetch(file('a'), requestContext(), 1 << 20, calledOff.signal)
  const into = Buffer.alloc(bytes.length)
  const reading = cache.read(file('a'), 0, into, requestContext())
  await until(5_000, 'the beginning has arrived', () => cache.cached(file('a')) > 0)
  calledOff.abort()
  rest.open()
  t.equal(await reading, bytes.length)
  t.ok(into.equals(bytes))
  t.equal(await guess, bytes.length)
  t.same(remote.asked, ['get@0'])
})

t.test('a guess without a reader is cancelled, and a later reader begins again', async t => {
  const { open } = openCacheTestbed(t)
  let stuck = true
  const remote = fakeRemote(() => ({
    length: bytes.length,
    bytes: (async function* () {
      yield bytes.subarray(0, 100_000)
      if (stuck) await new Promise(() => {})
      yield bytes.subarray(100_000)
    })(),
  }))
  const cache = open(remote)
  const calledOff = new AbortController()
  const guess = kindOf(cache.prefetch(file('a'), requestContext(), 1 << 20, calledOff.signal))
  await until(5_000, 'the beginning has arrived', () => cache.cached(file('a')) > 0)
  stuck = false
  calledOff.abort()
  const reading = readAll(cache, file('a'))
  t.equal(await guess, 'timeout')
  t.ok((await reading).equals(bytes))
  t.equal(await kindOf(cache.prefetch(file('b'), requestContext(), 1 << 20, calledOff.signal)), 'timeout')
  t.equal(remote.asked.length, 2)
})
