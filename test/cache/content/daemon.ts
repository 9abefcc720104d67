// A process to be killed by tests: it downloads contents into a cache directory and says so on its output.
import { readdirSync } from 'node:fs'
import { ContentCache } from '../../../src/cache/content/content.js'
import { Ledger } from '../../../src/cache/ledger/ledger.js'
import { clockOf } from '../../testbed/clocks.js'
import { until } from '../../testbed/within.js'
import { bytesOf, clock, fakeRemote, file, inPieces, requestContext, settled } from './fake-remote.js'

const [directory = '', task = ''] = process.argv.slice(2)
const log = () => {}
const ledger = new Ledger(directory, { clock: clockOf(clock), log })
const settings = { directory: `${directory}/content`, ledger, clock: clockOf(clock), log }

/** Sends half of a content, says so, and leaves it at that. */
async function hangHalfway(): Promise<void> {
  const bytes = bytesOf(3_000_000, 1)
  const remote = fakeRemote(() => ({
    length: bytes.length,
    bytes: (async function* () {
      yield bytes.subarray(0, 1_500_000)
      await new Promise(() => {})
    })(),
  }))
  const cache = new ContentCache({ ...settings, limitBytes: 1 << 30, remote })
  await cache.read(file('1'), 0, Buffer.alloc(1_500_000), requestContext())
  await until(5_000, 'a part is on disk', () => readdirSync(`${directory}/content/unfinished`).length > 0)
  process.stdout.write('halfway\n')
  setInterval(() => {}, 1_000)
}

/** Keeps one content after another as fast as it can, so that a kill meets any step of it. */
async function keepMany(): Promise<void> {
  for (let title = 0; ; title += 1) {
    const remote = fakeRemote(() => ({ bytes: inPieces(bytesOf(20_000 + title, title), 7_000) }))
    const cache = new ContentCache({ ...settings, limitBytes: 1 << 30, remote })
    await cache.size(file(String(title)), requestContext())
    await cache.read(file(String(title)), 0, Buffer.alloc(30_000), requestContext())
    ledger.flush()
    process.stdout.write(`${title}\n`)
    await cache.close()
  }
}

/** Reads a content larger than the disk allows this process to write; prints what came of it. */
async function readWithoutRoom(): Promise<void> {
  const bytes = bytesOf(3_000_000, 1)
  const remote = fakeRemote(start => ({ start, bytes: inPieces(bytes.subarray(start), 65_536) }))
  const cache = new ContentCache({ ...settings, limitBytes: 1 << 30, remote })
  const size = await cache.size(file('big'), requestContext())
  let right = 0
  for (const place of [0, 65_536, 1_000_000, 131_072, 2_900_000, 500]) {
    const into = Buffer.alloc(131_072)
    const count = await cache.read(file('big'), place, into, requestContext())
    if (into.subarray(0, count).equals(bytes.subarray(place, place + 131_072))) right += 1
  }
  // What is on its way counts as long as it is.
  await settled(cache)
  process.stdout.write(`${JSON.stringify({ size, right, kept: cache.stats().files })}\n`)
  await cache.close()
  ledger.close()
}

/** Streams a content of so many MiB to its end; prints how much memory that took at most. */
async function streamLong(): Promise<void> {
  const piece = bytesOf(65_536)
  const pieces = 16 * Number(process.argv[4])
  const before = process.memoryUsage().rss
  let most = before
  const remote = fakeRemote(() => ({
    length: piece.length * pieces,
    bytes: (async function* () {
      for (let sent = 0; sent < pieces; sent += 1) {
        if (sent % 64 === 0) most = Math.max(most, process.memoryUsage().rss)
        yield piece
      }
    })(),
  }))
  const cache = new ContentCache({ ...settings, limitBytes: 2 ** 31, remote })
  const into = Buffer.alloc(131_072)
  let read = 0
  for (;;) {
    const count = await cache.read(file('long'), read, into, requestContext(120_000))
    most = Math.max(most, process.memoryUsage().rss)
    if (count > 0 && !into.subarray(0, 65_536).equals(piece)) throw new Error(`wrong bytes at ${read}`)
    read += count
    if (count < into.length) break
  }
  process.stdout.write(`${JSON.stringify({ read, grownMiB: (most - before) / 2 ** 20 })}\n`)
  await cache.close()
  ledger.close()
}

const tasks: Record<string, () => Promise<void>> = {
  hangHalfway,
  keepMany,
  readWithoutRoom,
  streamLong,
}
await tasks[task]?.()
