// The ground of every measurement is fair: a file's bytes are the same through every door, and every question is counted once.
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import t, { type Test } from 'tap'
import {
  measureLimit,
  type Origin,
  startOrigin,
  startPassThrough,
  startRelay,
} from '../../bench/processes/start.js'
import { type Link, lineMegabits, openArena } from '../../bench/run/arena.js'
import { writeTree } from '../../bench/trees/disk.js'
import { treeOf } from '../../bench/trees/trees.js'
import { run } from '../testbed/programs.js'
import { within } from '../testbed/within.js'

/** Milliseconds for what takes one at most. */
const patience = 20_000

t.setTimeout(200_000)

async function openTestbed(t: Test): Promise<{ origin: Origin; directory: string }> {
  const directory = await fs.mkdtemp(join(tmpdir(), 'calcfs-bench-doors-'))
  t.teardown(() => fs.rm(directory, { recursive: true, force: true }))
  const origin = await within(patience, 'the origin', startOrigin({ tree: 'small' }))
  t.teardown(() => origin.stop())
  return { origin, directory }
}

async function answer(url: string, init: RequestInit = {}): Promise<Response> {
  const got = await fetch(url, { ...init, signal: AbortSignal.timeout(patience) })
  if (!got.ok) throw new Error(`${url} was answered with ${got.status}`)
  return got
}

const bytesOf = async (got: Response): Promise<Buffer> => Buffer.from(await got.arrayBuffer())

t.test('a range is the same stretch of the file through every door', async t => {
  const { origin, directory } = await openTestbed(t)
  await writeTree(treeOf('small'), directory)
  const path = 'project-01/calc-001/output.out'
  const whole = await fs.readFile(join(directory, path))
  const rest = `${origin.rest}/create/rest/calculation/files/bitstream?id=10000&fileId=output.out`
  const parts = [
    ['bytes=70000-70999', whole.subarray(70_000, 71_000)],
    ['bytes=-4096', whole.subarray(-4096)],
    ['bytes=100000-', whole.subarray(100_000)],
  ] as const
  for (const [range, expected] of parts) {
    for (const url of [`${origin.files}${path}`, `${origin.dav}${path}`, rest]) {
      const got = await answer(url, { headers: { range, authorization: 'Bearer any' } })
      t.equal(got.status, 206, `${range} is honoured`)
      t.ok((await bytesOf(got)).equals(expected), `${range} of ${url}`)
    }
  }
})

t.test('the limit asks each question once, and the origin counts what it asks', async t => {
  const { origin } = await openTestbed(t)
  const job = { url: origin.rest, connections: 4 } as const
  const walk = await within(patience, 'the walk', measureLimit({ ...job, job: 'walk' }))
  const walked = await origin.counts()
  t.equal(walked.of['rest HEAD calculation/files/bitstream']?.requests, 32, 'a HEAD a file')
  t.equal(walked.of['rest GET projects']?.requests, 5, 'a listing a project')
  t.equal(walked.requests, walk.requests + 2, 'the log-in and the root come before the clock')
  t.equal(walked.mostHeads, 1, 'no size twice')
  t.ok(walked.connections <= 4, 'over so many connections')

  const copy = await within(patience, 'the copy', measureLimit({ ...job, job: 'copy', listing: 'all' }))
  const copied = await origin.counts()
  t.equal(copied.requests, copy.requests + 2, 'the counters started again')
  t.equal(copied.mostGets, 1, 'no body twice')
  t.equal(copied.mostShare, 1, 'and each of them whole')
  t.equal(copied.files, 40, 'of every file')
})

t.test('the relay holds every answer back for a round trip, and changes no byte', async t => {
  const { origin } = await openTestbed(t)
  const to = Number(new URL(origin.files).port)
  const relay = await within(patience, 'the relay', startRelay({ to, delay: 60 }))
  t.teardown(() => relay.stop())
  const path = 'project-01/calc-001/orbitals.gbw'
  const start = performance.now()
  const far = await bytesOf(await answer(`${relay.url}/${path}`))
  // Half a millisecond on each way may be saved, because timers know only whole ones.
  t.ok(performance.now() - start >= 59, 'no answer comes sooner')
  t.ok(far.equals(await bytesOf(await answer(`${origin.files}${path}`))), 'the same bytes')
})

t.test('requests that wait for one another are told from those that are sent together', async t => {
  const origin = await within(patience, 'the origin', startOrigin({ tree: 'small', roundTrip: 40 }))
  t.teardown(() => origin.stop())
  const to = Number(new URL(origin.files).port)
  const relay = await within(patience, 'the relay', startRelay({ to, delay: 40 }))
  t.teardown(() => relay.stop())
  const list = async () => bytesOf(await answer(`${relay.url}/project-01/`))
  await list()
  await Promise.all(Array.from({ length: 5 }, list))
  await list()
  const { requests, inSequence } = await origin.counts()
  t.same({ requests, inSequence }, { requests: 7, inSequence: 3 })
})

t.test('a link may speak TLS, cost handshakes and have a bandwidth, and still changes no byte', async t => {
  const ground = await fs.mkdtemp(join(tmpdir(), 'calcfs-bench-link-'))
  t.teardown(() => fs.rm(ground, { recursive: true, force: true }))
  const arenaOf = async (link: Link) => {
    const setting = { tree: 'small', roundTrip: 10, link } as const
    const arena = await within(patience, 'the arena', openArena(setting, { trees: ground, base: ground }))
    t.teardown(() => arena.close())
    return arena
  }
  const { doors } = await arenaOf('tls')
  t.match(doors.rest, /^https:/)
  const job = { url: doors.rest, connections: 4, job: 'copy' } as const
  const { authorityFile = '' } = doors
  const copied = await within(patience, 'the copy', measureLimit({ ...job, authorityFile }))
  t.equal(copied.requests, 58, 'the certificate made for it is the one that counts')

  const line = await arenaOf('line')
  const path = 'project-01/calc-001/orbitals.gbw'
  const start = performance.now()
  const copies = await Promise.all(
    Array.from({ length: 8 }, async () => bytesOf(await answer(`${line.doors.files}${path}`))),
  )
  const milliseconds = performance.now() - start
  const disk = await fs.readFile(join(line.doors.disk, path))
  t.ok(copies.every(copy => copy.equals(disk)))
  const least = (8 * disk.length) / (lineMegabits * 125)
  t.ok(milliseconds > least, `8 × ${disk.length} bytes share the line: ${milliseconds} ms, ${least} at least`)
})

t.test('the pass-through shows the same tree, and leaves no mount behind', async t => {
  const { directory } = await openTestbed(t)
  const [disk, at] = [join(directory, 'disk'), join(directory, 'mount')]
  await writeTree(treeOf('small'), disk)
  await fs.mkdir(at)
  const floor = await within(
    patience,
    'the pass-through',
    startPassThrough(at, { tree: 'small', records: false }, 'session'),
  )
  t.teardown(() => floor.stop())
  t.same(await run('diff', ['-r', disk, at]), { code: 0, stdout: '', stderr: '' }, 'nothing differs')
  await within(patience, 'the unmount', floor.stop())
  t.notOk((await fs.readFile('/proc/self/mountinfo', 'utf8')).includes(at), 'no mount is left')
})

t.test('an empty file system has as many entries as were asked for', async t => {
  const { directory } = await openTestbed(t)
  const floor = await within(
    patience,
    'the empty file system',
    startPassThrough(directory, { entries: 300 }, 'libfuse'),
  )
  t.teardown(() => floor.stop())
  const listed = await run('ls', ['-l', directory])
  t.equal(listed.stdout.trim().split('\n').length, 301, 'one line each, and the total')
})
