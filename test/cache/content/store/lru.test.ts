// The cache stays within its limit, drops what was used longest ago, and never gives a wrong byte while it does.
import { readdirSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { KeptTable } from '../../../../src/cache/content/store/kept-table.js'
import type { Content } from '../../../../src/remote/remote.js'
import { byteCount, instant } from '../../../../src/remote/remote.js'
import { until } from '../../../testbed/within.js'
import {
  bytesOf,
  type FakeRemote,
  fakeRemote,
  file,
  inPieces,
  openCacheTestbed,
  readAll,
  settled,
} from '../fake-remote.js'

t.setTimeout(240_000)

/** A service of many files, each with its own bytes. */
function library(bytesEach: number): FakeRemote {
  const service = fakeRemote(() => ({ bytes: inPieces(Buffer.alloc(0), 1) }))
  return {
    ...service,
    async content(content, start, question) {
      const bytes = bytesIn(content, bytesEach)
      const body = await service.content(content, start, question)
      return { ...body, length: byteCount(bytes.length), bytes: inPieces(bytes, 30_000) }
    },
  }
}
const bytesIn = (content: Content, length: number) => bytesOf(length, Number(content.title))

const onDisk = (directory: string) => {
  const kept = join(directory, 'content', 'kept')
  const bytes = (name: string) => statSync(join(kept, name), { throwIfNoEntry: false })?.size ?? 0
  return readdirSync(kept).reduce((sum, name) => sum + bytes(name), 0)
}

t.test('what was used longest ago goes first, over restarts too', async t => {
  const { open } = openCacheTestbed(t)
  const remote = library(100_000)
  let time = Date.now()
  const now = () => instant(time)
  const patient = () => ({ deadline: instant(time + 20_000), priority: 'user' as const })
  const first = open(remote, { limitBytes: 420_000, now })
  const touch = async (cache: typeof first, title: string) => {
    // Over a restart uses are known to the minute.
    time += 61_000
    await cache.read(file(title), 99_990, Buffer.alloc(100), patient())
  }
  for (const title of ['1', '2', '3', '4']) {
    await touch(first, title)
    await settled(first)
  }
  await touch(first, '1')
  await first.close()
  const second = open(remote, { limitBytes: 420_000, now })
  await second.maintain()
  await touch(second, '5')
  await settled(second)
  // Room is made behind the reader's back.
  await until(10_000, 'the oldest is gone', async () => second.cached(file('2')) === 0)
  t.equal(second.cached(file('1')), 1)
  t.equal(second.cached(file('3')), 1)
  t.equal(second.cached(file('5')), 1)
})

t.test('READ-1 what is on its way counts: kept files make room while it comes', async t => {
  const { open, directory } = openCacheTestbed(t)
  const each = 4 << 20
  const limitBytes = 17 << 20
  const unfinished = join(directory, 'content', 'unfinished')
  let most = 0
  const service = fakeRemote(() => ({ bytes: inPieces(Buffer.alloc(0), 1) }))
  const onTheWay = () =>
    readdirSync(unfinished).reduce(
      (sum, name) => sum + (statSync(join(unfinished, name), { throwIfNoEntry: false })?.blocks ?? 0) * 512,
      0,
    )
  const cache = open(
    {
      ...service,
      async content(content, start, question) {
        const body = await service.content(content, start, question)
        return {
          ...body,
          length: byteCount(each),
          bytes: (async function* () {
            for await (const piece of inPieces(bytesIn(content, each), 256 << 10)) {
              yield piece
              // The disk may be one step behind.
              await new Promise(wake => setTimeout(wake, 2))
              most = Math.max(most, onDisk(directory) + onTheWay())
            }
          })(),
        }
      },
    },
    { limitBytes },
  )
  for (let title = 1; title <= 12; title += 1) {
    t.ok((await readAll(cache, file(String(title)), 1 << 20)).equals(bytesIn(file(String(title)), each)))
    await settled(cache)
  }
  t.ok(most <= limitBytes + (2 << 20), `${most} bytes at most for a limit of ${limitBytes}`)
})

t.test('a file larger than the limit is read whole, drives nothing out and goes after its use', async t => {
  const { open } = openCacheTestbed(t)
  const remote = library(100_000)
  let time = Date.now()
  const cache = open(remote, { limitBytes: 150_000, now: () => instant(time) })
  const patient = () => ({ deadline: instant(time + 20_000), priority: 'user' as const })
  await cache.read(file('1'), 0, Buffer.alloc(100_001), patient())
  await settled(cache)
  const big = fakeRemote(() => ({ bytes: inPieces(bytesOf(4_000_000), 50_000) }))
  const content = remote.content
  remote.content = (wanted, start, question) =>
    wanted.title === 'big' ? big.content(wanted, start, question) : content(wanted, start, question)
  const into = Buffer.alloc(4_000_001)
  t.equal(await cache.read(file('big'), 0, into, patient()), 4_000_000)
  t.equal(await cache.read(file('big'), 0, into, patient()), 4_000_000)
  t.same(big.asked, ['get@0'])
  t.equal(cache.cached(file('1')), 1)
  await settled(cache)
  time += 61_000
  await cache.maintain()
  t.equal(cache.cached(file('big')), 0)
  t.equal(cache.cached(file('1')), 1)
})

t.test('the table of kept files is made again from the directory, and follows it', async t => {
  const { open, directory, ledger } = openCacheTestbed(t)
  const remote = library(50_000)
  let time = Date.now()
  const now = () => instant(time)
  const first = open(remote, { now })
  for (const title of ['1', '2', '3', '4', '5']) await readAll(first, file(title))
  await first.close()
  const { bytes } = first.stats()
  t.equal(bytes, onDisk(directory))
  const table = new KeptTable(ledger)
  const names = readdirSync(join(directory, 'content', 'kept'))

  // As after a kill before the last rows were written; the others were dropped once, but are kept again since then.
  table.write({ added: [], gone: names.map((name, at) => [name, instant(at < 2 ? time : 0)]), uses: [] })
  const second = open(remote, { now })
  t.match(second.stats(), { files: 3 })
  await second.count()
  t.match(second.stats(), { files: 5, bytes })

  for (const name of names.slice(0, 3)) rmSync(join(directory, 'content', 'kept', name))
  time += 61_000
  await second.count()
  t.match(second.stats(), { files: 2, bytes: onDisk(directory) })

  // The file of the table is new: nothing was counted in it.
  ledger.ask(database => database.exec('DELETE FROM kept; UPDATE kept_total SET counted = 0'))
  await open(remote, { now, limitBytes: 60_000 }).maintain()
  t.equal(readdirSync(join(directory, 'content', 'kept')).length, 1, 'and the limit holds')
})
