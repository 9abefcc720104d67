// The ground of every measurement is fair: one tree through every door, and every question counted once.
import { createHash } from 'node:crypto'
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

/** Path, size and what a digest says of the bytes: one line a file. */
type Seen = readonly string[]

const line = (path: string, told: number, bytes: Uint8Array): string =>
  `${path} ${told} ${createHash('sha256').update(bytes).digest('hex')}`

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

/** Every file of a directory on this machine. */
async function onDisk(directory: string): Promise<Seen> {
  const entries = await fs.readdir(directory, { recursive: true, withFileTypes: true })
  const files = entries.filter(entry => entry.isFile()).map(entry => join(entry.parentPath, entry.name))
  const lines = files.map(async file => {
    const [{ size }, bytes] = await Promise.all([fs.stat(file), fs.readFile(file)])
    return line(file.slice(directory.length), size, bytes)
  })
  return (await Promise.all(lines)).sort()
}

/** Every file that the listings lead to, with the size that they tell. */
async function throughListings(base: string): Promise<Seen> {
  const walk = async (path: string): Promise<Seen> => {
    const text = await (await answer(`${base}${path}`)).text()
    const rows = [...text.matchAll(/<a href="([^".]+\/?[^"]*)">.*<\/a> +\S+ \S+ +(\S+)/g)]
    const below = rows.map(async ([, name = '', size = '']) => {
      if (name.endsWith('/')) return walk(`${path}${name}`)
      return [line(`/${path}${name}`, Number(size), await bytesOf(await answer(`${base}${path}${name}`)))]
    })
    return (await Promise.all(below)).flat()
  }
  return [...(await walk(''))].sort()
}

async function throughWebdav(base: string): Promise<Seen> {
  const walk = async (path: string): Promise<Seen> => {
    const asked = { method: 'PROPFIND', headers: { depth: '1' } }
    const text = await (await answer(`${base}${path.slice(1)}`, asked)).text()
    const [, ...inside] = text.split('<D:response>').slice(1)
    const below = inside.map(async response => {
      const at = decodeURI(/<D:href>([^<]+)/.exec(response)?.[1] ?? '')
      if (response.includes('<D:collection/>')) return walk(at)
      const size = Number(/<D:getcontentlength>(\d+)/.exec(response)?.[1])
      return [line(at, size, await bytesOf(await answer(`${base}${at.slice(1)}`)))]
    })
    return (await Promise.all(below)).flat()
  }
  return [...(await walk('/'))].sort()
}

interface Listed {
  readonly id: number
  readonly name: string
}

async function throughRest(url: string): Promise<Seen> {
  const base = `${url}/create/rest/`
  const basic = Buffer.from('demo:demo').toString('base64')
  const login = { method: 'POST', headers: { authorization: `Basic ${basic}` } }
  const headers = { authorization: `Bearer ${await (await answer(`${base}login`, login)).text()}` }
  const json = async <Value>(path: string): Promise<Value> =>
    (await (await answer(`${base}${path}`, { headers })).json()) as Value

  async function content(path: string, address: string): Promise<string> {
    const head = await answer(`${base}${address}`, { method: 'HEAD', headers })
    const bytes = await bytesOf(await answer(`${base}${address}`, { headers }))
    return line(path, Number(head.headers.get('content-length')), bytes)
  }

  async function calculation({ id, name }: Listed, path: string): Promise<Seen> {
    const files = await json<string[]>(`calculation/files?id=${id}&type=files`)
    const lines = files.map(file =>
      content(`${path}/${file}`, `calculation/files/bitstream?id=${id}&fileId=${file}`),
    )
    return Promise.all([...lines, content(`${path}/${name}.xyz`, `calculation/xyz?id=${id}`)])
  }

  async function project(id: number, path: string): Promise<Seen> {
    const below = (type: string) => json<Listed[]>(`project/descendant?id=${id}&type=${type}&depth=1`)
    const [projects, calculations] = await Promise.all([below('project'), below('calculation')])
    const inner = await Promise.all([
      ...projects.map(inside => project(inside.id, `${path}/${inside.name}`)),
      ...calculations.map(inside => calculation(inside, `${path}/${inside.name}`)),
    ])
    return inner.flat()
  }

  const root = await json<number>('navigation/path/resolve?path=/db/demo&type=project')
  return [...(await project(root, ''))].sort()
}

t.test('every door shows the same names, sizes and bytes, and so does the disk', async t => {
  const { origin, directory } = await openTestbed(t)
  await writeTree(treeOf('small'), directory)
  const disk = await onDisk(directory)
  t.equal(disk.length, 40, 'eight calculations of four files and a geometry')
  t.equal(new Set(disk.map(seen => seen.split(' ')[2])).size, 40, 'no two files are alike')
  t.same(await throughListings(origin.files), disk, 'the listings')
  t.same(await throughWebdav(origin.dav), disk, 'WebDAV')
  t.same(await throughRest(origin.rest), disk, 'the REST interface')
})

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
    startPassThrough(at, { tree: 'small', records: false }),
  )
  t.teardown(() => floor.stop())
  t.same(await run('diff', ['-r', disk, at]), { code: 0, stdout: '', stderr: '' }, 'nothing differs')
  await within(patience, 'the unmount', floor.stop())
  t.notOk((await fs.readFile('/proc/self/mountinfo', 'utf8')).includes(at), 'no mount is left')
})

t.test('an empty file system has as many entries as were asked for', async t => {
  const { directory } = await openTestbed(t)
  const floor = await within(patience, 'the empty file system', startPassThrough(directory, { entries: 300 }))
  t.teardown(() => floor.stop())
  const listed = await run('ls', ['-l', directory])
  t.equal(listed.stdout.trim().split('\n').length, 301, 'one line each, and the total')
})
