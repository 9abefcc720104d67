// Promises of `calcfs get` in trouble: killed, interrupted, without room, without its daemon, with a service that fails, beside others that write there.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { type Chance, chance } from '../../long/chance.js'
import { calcfs } from '../../testbed/daemon.js'
import { smallDisk } from '../../testbed/disk/small-disk.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { plainNode } from '../../testbed/programs.js'
import { lines } from '../../testbed/service.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until, within } from '../../testbed/within.js'

t.jobs = 2

const seed = Number(process.env['CALCFS_TEST_SEED'] ?? Date.now() % 1_000_000)
const kills = Number(process.env['CALCFS_TEST_RUNS'] ?? 4)
t.comment(`seed ${seed}`)

const limit = 60_000
/** Lengths of files whose size takes no download: an empty one is downloaded to be believed. */
const shown = [1, 700, 70_000]

/** Files of many lengths; each byte of each is known. */
function manyFiles(draw: Chance, lengths = [0, 1, 700, 70_000, 400_000]) {
  const truth = new Map<string, Buffer>()
  const fill = (seed: Seed): void => {
    seed.addProject({ id: '50', name: 'P', owner: 'demo' })
    for (let at = 0; at < 12; at += 1) {
      const files = Object.fromEntries(
        ['a.out', 'b.out', 'c.out'].map(name => [name, draw.bytes(draw.of(lengths))]),
      )
      for (const [name, bytes] of Object.entries(files)) truth.set(`C${at}/${name}`, bytes)
      seed.addCalculation({ id: String(100 + at), name: `C${at}`, project: '50', files })
    }
  }
  return { truth, fill }
}

/** Which of the files are there, all of them whole. What is written beside them is told apart by its name. */
async function lookedAt(directory: string, truth: ReadonlyMap<string, Buffer>) {
  const found = await readdir(directory, { recursive: true, withFileTypes: true }).catch(() => [])
  const wrong: string[] = []
  let [whole, aside] = [0, 0]
  for (const entry of found.filter(one => one.isFile())) {
    const path = join(entry.parentPath, entry.name).slice(directory.length + 1)
    if (entry.name.startsWith('.calcfs-get-')) aside += 1
    const expected = truth.get(path)
    if (expected === undefined) continue
    if (expected.equals(await readFile(join(directory, path)))) whole += 1
    else wrong.push(path)
  }
  return { wrong, whole, aside }
}

/** The command in a process that can be killed, without a daemon and its caches if `mounted` is false. */
function getting({ home, environment, service, directory }: MountTestbed, target: string, mounted: boolean) {
  const place = mounted ? ['--mount', directory] : ['--url', service.url, '--user', 'demo']
  const others = { XDG_CACHE_HOME: join(home, 'other-cache'), XDG_STATE_HOME: join(home, 'other-state') }
  const [program, ...first] = plainNode
  const child = spawn(
    program,
    [...first, calcfs, 'get', 'projects/P', '--as', target, '--jobs', '4', ...place],
    { env: { ...environment, ...(mounted ? {} : others) }, stdio: ['ignore', 'pipe', 'pipe'] },
  )
  let said = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', piece => (said += piece))
  const ended = once(child, 'close')
  return { child, said: () => said, ended: () => within(limit, 'get', ended) }
}

async function ended(child: ChildProcess, signal: NodeJS.Signals): Promise<void> {
  if (child.exitCode !== null) return
  child.kill(signal)
  await within(limit, 'its end', once(child, 'exit'))
}

t.test(
  'NOFUSE-10 a get that is killed at any moment leaves no wrong file, and the next one goes on',
  async t => {
    const draw = chance(seed)
    const { truth, fill } = manyFiles(draw)
    const testbed = await realMount(t, { fill })
    // Contents come one after the other, so that a kill meets a copy at work.
    testbed.service.beforeAnswer(/^GET \/calculation\/files\/bitstream/, () => wait(draw.whole(0, 30)))
    for (const mounted of [true, false]) {
      const target = join(testbed.local, mounted ? 'of-daemon' : 'of-caches')
      let met = 0
      for (let kill = 0; kill < kills; kill += 1) {
        const { child } = getting(testbed, target, mounted)
        const from = met
        const more = draw.whole(0, 6)
        await until(
          limit,
          'files arrive',
          async () => {
            if (child.exitCode !== null) return true
            met = (await lookedAt(target, truth)).whole
            return met >= Math.min(from + more, truth.size)
          },
          5,
        )
        await ended(child, 'SIGKILL')
        const { wrong, whole } = await lookedAt(target, truth)
        t.same(wrong, [], `mounted ${mounted}, kill ${kill} at ${whole} files`)
        met = whole
      }
      const last = getting(testbed, target, mounted)
      const [code] = await last.ended()
      t.equal(code, 0, last.said())
      t.match(
        await lookedAt(target, truth),
        { wrong: [], whole: truth.size, aside: 0 },
        'whole, and nothing beside it',
      )
    }
  },
)

/** All contents after so many are never answered. */
function answersOnly({ service }: MountTestbed, most: number): () => void {
  let asked = 0
  return service.intercept(/^GET \/calculation\/files\/bitstream/, async (_, { carryOut }) => {
    asked += 1
    if (asked <= most) (await carryOut())()
  })
}

t.test('NOFUSE-10 Ctrl-C ends with 130, and leaves nothing beside the files', async t => {
  const { truth, fill } = manyFiles(chance(seed + 1), shown)
  const testbed = await realMount(t, { fill })
  answersOnly(testbed, 3)
  const target = join(testbed.local, 'copy')
  const { child, said, ended: end } = getting(testbed, target, true)
  await until(limit, 'a file is there', async () => (await lookedAt(target, truth)).whole > 0)
  child.kill('SIGINT')
  const [code] = await end()
  t.equal(code, 130, said())
  t.match(said(), /stopped: \d+ files? copied .*; the same command goes on from there\./)
  t.match(await lookedAt(target, truth), { wrong: [], aside: 0 })
})

t.test('NOFUSE-10 a daemon that is killed meanwhile ends the get, and what is there is whole', async t => {
  const { truth, fill } = manyFiles(chance(seed + 2), shown)
  const testbed = await realMount(t, { fill })
  const slow = answersOnly(testbed, 5)
  const target = join(testbed.local, 'copy')
  const { said, ended: end } = getting(testbed, target, true)
  await until(limit, 'files are there', async () => (await lookedAt(target, truth)).whole > 1)
  await testbed.kill9()
  const [code] = await end()
  t.ok([1, 4, 6].includes(Number(code)), `${code} ${said()}`)
  t.match(said(), /calcfs: the daemon of .* (has died|does not answer)/)
  t.match(await lookedAt(target, truth), { wrong: [], aside: 0 })
  slow()
  const [rest] = await getting(testbed, target, false).ended()
  t.equal(rest, 0, 'the caches alone bring the rest')
  t.match(await lookedAt(target, truth), { wrong: [], whole: truth.size, aside: 0 })
})

t.test('NOFUSE-10 a full disk ends the get with a sentence, and with room it goes on', async t => {
  const { truth, fill } = manyFiles(chance(seed + 3))
  const testbed = await warmMount(t, { fill })
  const disk = await smallDisk(t)
  await disk.leave(30)
  const target = join(disk.directory, 'copy')
  const run = () => testbed.here('get', 'projects/P', '--as', target)
  const full = await run()
  t.match(full, {
    code: 1,
    stderr: /stopped: \d+ files? copied.*\n.*: the disk is full; make room, and give the same command again/,
  })
  t.match(await lookedAt(target, truth), { wrong: [], aside: 0 })
  await disk.makeRoom()
  const again = await run()
  const { wrong, whole } = await lookedAt(target, truth)
  t.same(wrong, [])
  const bytes = [...truth.values()].reduce((sum, { length }) => sum + length, 0)
  if (bytes < 900_000) t.match(again, { code: 0 })
  t.ok(whole > 0)
})

t.test('NOFUSE-10 what fails is named, and comes with the next get', async t => {
  const { truth, fill } = manyFiles(chance(seed + 4), shown)
  const testbed = await warmMount(t, { fill })
  const { service, local } = testbed
  const target = join(local, 'copy')
  const run = () => testbed.here('get', 'projects/P', '--as', target)
  const never = service.refuse(/bitstream\S*(id|Id)=105\S*a\.out|bitstream\S*a\.out\S*=105/, 403)
  const bad = await run()
  t.match(bad, { code: 1, stdout: /1 could not be had/, stderr: /projects\/P\/C5\/a\.out/ }, 'it is named')
  t.match(await lookedAt(target, truth), { wrong: [], whole: truth.size - 1, aside: 0 }, 'the rest is there')
  never()
  await testbed.pass(6_000)
  t.match(await run(), { code: 0, stdout: /^1 file copied/ }, 'the next one brings what was missing')
  t.match(await lookedAt(target, truth), { wrong: [], whole: truth.size, aside: 0 })
})

const drives = 'the bytes of the drive\n'.repeat(200)

/** A drive with one file, whose bytes come when the test says so. */
async function slowFile(t: Test) {
  const testbed = await warmMount(t, {
    fill(seed) {
      seed.addProject({ id: '50', name: 'P', owner: 'demo' })
      seed.addCalculation({ id: '100', name: 'C', project: '50', files: { 'a.out': drives } })
    },
  })
  const target = join(testbed.local, 'copy')
  const local = join(target, 'C', 'a.out')
  await mkdir(join(target, 'C'), { recursive: true })
  const { service, directory } = testbed
  const content = /^GET \/calculation\/files\/bitstream/
  const held = service.hold(content, 'request')
  const asked = () => lines(service.heard).filter(line => content.test(line)).length
  const daemon = ['--mount', directory]
  const caches = ['--url', service.url, '--user', 'demo']
  const get = (...flags: string[]) =>
    within(limit, 'get', testbed.calcfs('get', 'projects/P', '--as', target, ...flags))
  return {
    local,
    release: held.open,
    isAsked: (times: number) => until(limit, 'the file is asked for', () => asked() >= times, 5),
    get: (...flags: string[]) => get(...daemon, ...flags),
    getFromCaches: () => get(...caches),
    async texts() {
      const names = (await readdir(join(target, 'C'))).filter(name => name.startsWith('a.out')).sort()
      return Promise.all(
        names.map(async name => [name, await readFile(join(target, 'C', name), 'utf8')] as const),
      )
    },
  }
}

t.test('NOFUSE-7 two gets into one directory at once are one copy', async t => {
  const { release, isAsked, get, getFromCaches, texts } = await slowFile(t)
  // Each of them asks for itself.
  const both = [get(), getFromCaches()]
  await isAsked(2)
  release()
  for (const ran of await Promise.all(both)) t.match(ran, { code: 0 }, ran.stderr)
  t.same(await texts(), [['a.out', drives]])
})

t.test('NOFUSE-7 a file that a user makes while the drive’s arrives is not replaced', async t => {
  const { local, release, isAsked, get, texts } = await slowFile(t)
  const running = get()
  await isAsked(1)
  await writeFile(local, 'my latest')
  release()
  t.match(await running, { code: 1, stderr: /a\.out: a file was made here while it was copied, and stays/ })
  t.same(await texts(), [['a.out', 'my latest']])
})
