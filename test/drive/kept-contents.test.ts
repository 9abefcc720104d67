// Contents on this disk: which bytes are asked for, what of them is kept and for how long, and that harm to a kept file is never served.
import { pbkdf2 } from 'node:crypto'
import { closeSync, openSync, writeSync } from 'node:fs'
import { appendFile, readdir, readFile, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import t, { type Test } from 'tap'
import { storedBytes } from '../../src/cache/content/store/checksum.js'
import { opcodes } from '../../src/kernel/protocol.js'
import { smallDisk } from '../testbed/disk/small-disk.js'
import { type InProcessTestbed, inProcess } from '../testbed/in-process.js'
import { entryAt, halves, numberAt, text, words } from '../testbed/kernel/bytes.js'
import { ids } from '../testbed/sample-data.js'
import { outcome } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

t.jobs = 3

const derived = promisify(pbkdf2)
const mebibyte = 1 << 20
const block = 131_072
const folder = `by-id/calculation/9000`

/** Bytes that tell where they stand, so that a wrong one shows. */
function bytesOf(length: number, seed = 1): Buffer {
  const bytes = Buffer.alloc(length)
  for (let at = 0; at < length; at += 1) bytes[at] = (at * 31 + (at >> 8) * 7 + seed * 13) & 0xff
  return bytes
}

interface File {
  readonly bytes: Buffer
  /** The length that HEAD tells, where that is another one. */
  readonly told?: number
  /** Where a part is asked for: all of it comes, or a part that does not say the length of all. */
  readonly isWhole?: boolean
  readonly total?: '*'
  /** Nothing tells its length. */
  readonly isUntold?: boolean
  /** The status of each answer to a GET. */
  status?: number
  /** Bytes after which the next answer breaks. */
  breaksAfter?: number | undefined
  /** Bytes after which every answer stands still, until the drive ends it. */
  readonly standsAfter?: number
}

/** A drive with one calculation that has these files. */
async function holding(
  t: Test,
  files: ReadonlyMap<string, File>,
  settings: Readonly<Record<string, string>> = {},
) {
  const testbed = await inProcess(t, {
    settings: { deadlineRead: '60s', ...settings },
    adds(seed) {
      const named = Object.fromEntries([...files.keys()].map(name => [name, '']))
      seed.addCalculation({ id: '9000', name: 'Held', project: ids.water, files: named })
    },
  })
  const sent: { name: string; bytes: number }[] = []
  const open = new Set<string>()
  testbed.service.intercept(/bitstream\?id=9000&/, async (response, { heard, headers }) => {
    const name = new URL(heard.path, 'http://here').searchParams.get('fileId') ?? ''
    const file = files.get(name)
    if (file === undefined) return void response.writeHead(404).end()
    const { bytes, isWhole, breaksAfter, status, total = bytes.length } = file
    if (heard.method === 'GET') {
      if (status !== undefined) return void response.writeHead(status).end()
      open.add(name)
      response.once('close', () => open.delete(name))
    }
    const [, from, to] = (isWhole ? undefined : /^bytes=(\d+)-(\d*)$/.exec(String(headers?.range))) ?? []
    const part = bytes.subarray(Number(from ?? 0), to ? Number(to) + 1 : undefined)
    if (from !== undefined)
      response.setHeader('content-range', `bytes ${from}-${Number(from) + part.length - 1}/${total}`)
    response.setHeader('etag', `"${name}"`)
    const { isUntold = false, told = bytes.length } = file
    if (heard.method === 'HEAD')
      return void response.writeHead(isUntold ? 405 : 200, { 'content-length': told }).end()
    response.writeHead(from === undefined ? 200 : 206, isUntold ? {} : { 'content-length': part.length })
    sent.push({ name, bytes: Math.min(part.length, breaksAfter ?? part.length) })
    if (file.standsAfter !== undefined) return void response.write(part.subarray(0, file.standsAfter))
    if (breaksAfter === undefined || breaksAfter >= part.length) return void response.end(part)
    file.breaksAfter = undefined
    response.write(part.subarray(0, breaksAfter), () => setTimeout(() => response.destroy(), 50))
  })
  return { testbed, sent, open, sentBytes: () => sent.reduce((sum, { bytes }) => sum + bytes, 0) }
}

/** Reads as the kernel does that has kept no page. */
async function reading(testbed: InProcessTestbed, name: string) {
  const device = testbed.device()
  const nodes = [1]
  for (const part of `${folder}/${name}`.split('/'))
    nodes.push(entryAt(await device.ask(opcodes.lookup, nodes.at(-1) ?? 1, text(part))).node)
  const node = nodes.at(-1) ?? 1
  const handle = numberAt(await device.ask(opcodes.open, node, halves(0, 0)), 0)
  const read = (at: number, length = 4096) => device.ask(opcodes.read, node, words(handle, at, length, 0, 0))
  return {
    read,
    async all() {
      const pieces: Buffer[] = []
      for (let at = 0; ; at += block) {
        const piece = await read(at, block)
        pieces.push(piece)
        if (piece.length < block) return Buffer.concat(pieces)
      }
    },
    async close() {
      await device.ask(opcodes.release, node, words(handle, 0, 0))
      for (const one of nodes.slice(1)) device.send(opcodes.forget, one, words(1))
    },
  }
}

async function readAll(testbed: InProcessTestbed, name: string): Promise<Buffer> {
  const file = await reading(testbed, name)
  return file.all().finally(() => file.close())
}

const room = ({ cache }: InProcessTestbed, name: 'kept' | 'unfinished') => join(cache, 'content', name)
const keptIn = async (testbed: InProcessTestbed) =>
  (await readdir(room(testbed, 'kept'))).map(name => join(room(testbed, 'kept'), name))
/** What the files of a room take on the disk. */
async function bytesIn(directory: string): Promise<number> {
  const all = (await readdir(directory)).map(name => stat(join(directory, name)).catch(() => undefined))
  return (await Promise.all(all)).reduce((sum, one) => sum + (one?.blocks ?? 0) * 512, 0)
}

const big = bytesOf(20 * mebibyte)

t.test('READ-9 of a big file only what is read is asked for, and each byte once', async t => {
  const { testbed, sentBytes } = await holding(t, new Map([['log', { bytes: big }]]))
  const file = await reading(testbed, 'log')
  const isRight = async (at: number) =>
    t.ok((await file.read(at)).equals(big.subarray(at, at + 4096)), `at ${at}`)
  await Promise.all([big.length - 4_096, big.length - 70_000, big.length - 100].map(isRight))
  t.ok(sentBytes() <= 256 << 10, `${sentBytes()} bytes for its end`)
  for (const at of [11_000_000, 7 << 20, 0, 11_100_000]) await isRight(at)
  t.ok(sentBytes() < 3 * mebibyte, `${sentBytes()} bytes for five places`)
  t.ok((await file.all()).equals(big))
  await file.close()
  await testbed.remount()
  t.ok((await readAll(testbed, 'log')).equals(big), 'the whole was kept')
  t.equal(sentBytes(), big.length)
})

const harms: Readonly<Record<string, (path: string) => Promise<unknown>>> = {
  'a changed byte': path => flip(path, 1_500_000),
  'the last byte of the content changed': path => flip(path, 2_499_999),
  'a changed checksum': path => flip(path, 2_500_010),
  'a changed last byte': async path => flip(path, (await stat(path)).size - 1),
  'a cut': path => truncate(path, 1_000_000),
  'a cut to nothing': path => truncate(path, 0),
  'a cut of one byte': async path => truncate(path, (await stat(path)).size - 1),
  'a longer file': path => appendFile(path, 'more'),
}

async function flip(path: string, at: number): Promise<void> {
  const bytes = await readFile(path)
  bytes[at] = (bytes[at] ?? 0) ^ 1
  await writeFile(path, bytes)
}

t.test('READ-21 a kept file that another program has harmed is never served', async t => {
  const bytes = bytesOf(2_500_000)
  const { testbed, sent } = await holding(t, new Map([['log', { bytes }]]))
  const kept = async (): Promise<string> => {
    const [path = ''] = await keptIn(testbed)
    return (await stat(path).catch(() => undefined))?.size === storedBytes(bytes.length) ? path : ''
  }
  const readWell = async (what: string) => {
    t.ok((await readAll(testbed, 'log')).equals(bytes), what)
    await until(5_000, 'it is kept', async () => (await kept()) !== '')
    // The kernel's times move each few milliseconds.
    await new Promise(wake => setTimeout(wake, 20))
  }
  await readWell('as the service has it')
  for (const [what, harm] of Object.entries(harms)) {
    await harm(await kept())
    t.ok((await readAll(testbed, 'log')).equals(bytes), `${what} while it is mounted`)
    // What follows the content is looked at by the next daemon.
    await testbed.remount()
    await readWell('after a restart')
    const asked = sent.length
    await testbed.remount()
    await readWell('once more')
    t.equal(sent.length, asked, `${what}: it is kept again`)
  }
})

t.test('READ-21 harm to a file that is still coming is not served once it is kept', async t => {
  const { testbed } = await holding(t, new Map([['log', { bytes: big }]]))
  const file = await reading(testbed, 'log')
  await file.read(0)
  const begun = room(testbed, 'unfinished')
  await until(5_000, 'its beginning is on the disk', async () => (await bytesIn(begun)) > block)
  await flip(join(begun, (await readdir(begun))[0] ?? ''), 100)
  for (let at = block; at < big.length; at += block) await file.read(at, block)
  await until(5_000, 'it is kept', async () => (await keptIn(testbed)).length > 0)
  t.ok((await file.read(0)).equals(big.subarray(0, 4096)))
  await file.close()
  t.ok((await readAll(testbed, 'log')).equals(big))
})

t.test('READ-21 what is written between the look at a kept file and the read is not served', async t => {
  const bytes = bytesOf(2_500_000)
  const { testbed } = await holding(t, new Map([['log', { bytes }]]))
  await readAll(testbed, 'log')
  await until(5_000, 'it is kept', async () => (await keptIn(testbed)).length > 0)
  await testbed.remount()
  const file = await reading(testbed, 'log')
  t.ok((await file.all()).equals(bytes), 'it was checked')
  await testbed.pass(31_000)
  const [path = ''] = await keptIn(testbed)
  const kept = openSync(path, 'r+')
  t.teardown(() => closeSync(kept))
  // Every thread is busy: the read has to wait for one.
  const busy = Array.from({ length: 16 }, () => derived('', '', 100_000, 64, 'sha512'))
  const read = file.read(0)
  await new Promise(wake => setTimeout(wake, 10))
  writeSync(kept, 'harm', 100)
  await Promise.all(busy)
  t.ok((await read).equals(bytes.subarray(0, 4096)))
  await file.close()
})

t.test(
  'READ-1 what was used longest ago goes first, over restarts too; what is on its way counts',
  async t => {
    const [each, limit] = [4 * mebibyte, 17 * mebibyte]
    const names = Array.from({ length: 9 }, (_, at) => `f${at}`)
    const files = new Map(names.map((name, at) => [name, { bytes: bytesOf(each, at) }]))
    files.set('huge', { bytes: big })
    const { testbed, sent } = await holding(t, files, { cacheSize: String(limit) })
    let most = 0
    const watch = setInterval(async () => {
      const [kept, onTheWay] = await Promise.all([
        bytesIn(room(testbed, 'kept')),
        bytesIn(room(testbed, 'unfinished')),
      ])
      most = Math.max(most, kept + onTheWay)
    }, 5)
    t.teardown(() => clearInterval(watch))
    const read = async (name: string) => {
      t.ok((await readAll(testbed, name)).equals(files.get(name)?.bytes ?? big), name)
      // Over a restart uses are known to the minute.
      await testbed.pass(61_000)
    }
    for (const name of names) await read(name)
    t.ok(most <= limit + each, `${most} bytes at most for a limit of ${limit}`)
    const asked = async (...wanted: string[]) => {
      const before = sent.length
      for (const name of wanted) await read(name)
      return [...new Set(sent.slice(before).map(({ name }) => name))]
    }
    t.same(await asked('f6', 'f8', 'f7'), [], 'the last ones are here')
    await testbed.remount()
    t.same(await asked('f0', 'f1', 'f7'), ['f0', 'f1'])
    t.same(await asked('f6'), ['f6'], 'it was used longest ago')
    await asked('huge')
    t.same(await asked('f6'), [], 'one that is larger than the limit drives nothing out')
    t.ok(most <= limit + each + big.length, `${most} bytes with one that is larger than the limit`)
  },
)

t.test(
  'READ-20 of some 600 files only the beginning lies here, and what went is asked for again',
  async t => {
    const names = Array.from({ length: 700 }, (_, at) => `log-${at}`)
    const { testbed } = await holding(t, new Map(names.map(name => [name, { bytes: big }])))
    const isRight = async (name: string, length: number) => {
      const file = await reading(testbed, name)
      t.ok((await file.read(0, length)).equals(big.subarray(0, length)), name)
      await file.close()
    }
    for (const name of names) await isRight(name, 100)
    const lying = async () => (await readdir(room(testbed, 'unfinished'))).length
    await until(5_000, 'the oldest to go', async () => (await lying()) <= 600)
    for (const at of [0, 350, 699]) await isRight(`log-${at}`, block)
  },
)

t.test(
  'READ-9 a download that breaks goes on there; where all is sent for a part, no part is asked for',
  async t => {
    const files = new Map<string, File>([
      ['broken', { bytes: big, breaksAfter: 5 * mebibyte }],
      ['whole', { bytes: big, isWhole: true }],
      ['untold', { bytes: big, total: '*' }],
      ['short', { bytes: big.subarray(0, 300_000), breaksAfter: 100_000, isWhole: true }],
    ])
    const { testbed, sent, sentBytes } = await holding(t, files)
    t.ok((await readAll(testbed, 'broken')).equals(big))
    t.ok(sentBytes() < big.length + mebibyte, `${sentBytes()} bytes`)
    for (const name of ['whole', 'untold']) t.ok((await readAll(testbed, name)).equals(big), name)
    t.ok((await readAll(testbed, 'short')).equals(big.subarray(0, 300_000)))
    t.equal(sent.filter(({ name }) => name === 'whole').length, 1)
  },
)

if (process.platform === 'linux' && process.getuid?.() === 0)
  t.test('AVAIL-1 on a full disk a file read in part holds up no other, and each read hears why', async t => {
    const disk = await smallDisk(t)
    const log: File = { bytes: big }
    const files = new Map(['a', 'b', 'c'].map(name => [name, log]))
    const { testbed, open } = await holding(t, files, { cacheDir: disk.directory, maxRequests: '2' })
    await disk.leave(0)
    for (const name of files.keys()) {
      const file = await reading(testbed, name)
      for (let at = 0; at < 2 * mebibyte; at += block) await file.read(at, block)
      await file.close()
      await testbed.pass(7_000)
      await until(5_000, 'its request ends', () => open.size === 0)
    }
    const file = await reading(testbed, 'a')
    await file.read(0, block)
    log.status = 410
    const reads = Array.from({ length: 10 }, (_, at) => outcome(file.read((at + 5) * mebibyte, block)))
    t.same(await Promise.all(reads), Array(10).fill('ENOENT'))
    await file.close()
  })

t.test('READ-9 a file that is refused with 400 says nothing about the parts of others', async t => {
  const files = { bad: { bytes: big, status: 400 }, log: { bytes: big } }
  const { testbed, sentBytes } = await holding(t, new Map(Object.entries(files)))
  const bad = await reading(testbed, 'bad')
  for (const at of [5, 10, 15, 5]) t.equal(await outcome(bad.read(at * mebibyte, block)), 'EINVAL')
  await bad.close()
  const file = await reading(testbed, 'log')
  await file.read(15 * mebibyte, block)
  await file.close()
  t.ok(sentBytes() < 10 * mebibyte, 'only a part is asked for')
})

t.test('READ-10 a length of 0 counts only where the body is empty, too', async t => {
  const files = { wrong: { bytes: bytesOf(100), told: 0 }, right: { bytes: bytesOf(0) } }
  const { testbed } = await holding(t, new Map(Object.entries(files)))
  for (const [name, { bytes }] of Object.entries(files)) {
    t.equal((await testbed.files.lstat(`${folder}/${name}`)).size, bytes.length, name)
    t.ok((await readAll(testbed, name)).equals(bytes), name)
  }
})

t.test('READ-10 a MiB whose length nothing tells stays what it is while others come', async t => {
  const untold = { isUntold: true, isWhole: true }
  const files = new Map([1, 2, 3].map(seed => [`f${seed}`, { bytes: bytesOf(mebibyte, seed), ...untold }]))
  const { testbed } = await holding(t, files)
  const open = await Promise.all([...files.keys()].map(name => reading(testbed, name)))
  for (const file of open) await file.read(0)
  for (const [at, { bytes }] of [...files.values()].entries()) t.ok((await open[at]?.all())?.equals(bytes))
  for (const file of open) await file.close()
})

t.test('READ-9 nothing comes behind a reader who has left, nor of a body that stands still', async t => {
  const files = new Map([
    ['left', { bytes: big, standsAfter: 4 * mebibyte, isWhole: true }],
    ['still', { bytes: big, standsAfter: mebibyte, isWhole: true }],
  ])
  const { testbed, open } = await holding(t, files, { deadlineRead: '10m' })
  const left = await reading(testbed, 'left')
  t.ok((await left.read(mebibyte)).equals(big.subarray(mebibyte, mebibyte + 4096)))
  await left.close()
  t.ok(open.has('left'))
  await testbed.pass(61_000)
  await until(5_000, 'its end', () => !open.has('left'))
  const still = await reading(testbed, 'still')
  const waiting = outcome(still.read(2 * mebibyte))
  await until(5_000, 'it is asked for', () => open.has('still'))
  await testbed.pass(61_000)
  t.equal(await waiting, 'ETIMEDOUT')
  await still.close()
})
