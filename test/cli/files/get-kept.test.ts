// Promises of `calcfs get` of contents that the cache holds: checked as for a read, whatever has become of the cache's files.
import { open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { chance } from '../../long/chance.js'
import { printed } from '../../testbed/programs.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(240_000)

const seed = Number(process.env['CALCFS_TEST_SEED'] ?? Date.now() % 1_000_000)
t.comment(`seed ${seed}`)

const lengths = { 'a.out': 40_000, 'b.out': 70_000, 'c.out': 400_000, 'd.out': 3_000_000, 'e.out': 9_500_000 }
type Name = keyof typeof lengths
const names = Object.keys(lengths) as readonly Name[]
/** Longer than what comes in one answer: it is copied from the file of the cache. */
const copied = names.filter(name => lengths[name] > 65_536)

/** The files, each byte of each known. */
function files() {
  const draw = chance(seed)
  const truth = Object.fromEntries(names.map(name => [name, draw.bytes(lengths[name])]))
  const fill = (seed: Seed): void => {
    seed.addUser({ name: 'demo', password: 'demo' })
    seed.addProject({ id: '50', name: 'P', owner: 'demo' })
    seed.addCalculation({ id: '100', name: 'C', project: '50', files: truth })
  }
  return { truth, fill }
}

const md5 = async (directory: string): Promise<string> =>
  (await printed('bash', ['-c', 'md5sum *.out'], { cwd: directory })).trim()

/** Copies all into a new directory, and says what that asked the service for. */
async function copy(testbed: WarmTestbed, name: string) {
  const target = join(testbed.local, name)
  const asked = await testbed.service.during(async () => {
    const result = await testbed.calcfs('get', '--mount', testbed.directory, 'projects/P/C', '--as', target)
    t.match(result, { code: 0, stderr: '' }, name)
  })
  const fetched = asked.filter(({ method, path }) => method === 'GET' && /bitstream/.test(path)).length
  return { sums: await md5(target), fetched }
}

/** The files of the cache. */
async function keptFiles(testbed: WarmTestbed): Promise<readonly string[]> {
  const found = await readdir(join(testbed.home, 'cache'), { recursive: true, withFileTypes: true })
  return found
    .filter(entry => entry.isFile() && /^[0-9a-f]{64}$/.test(entry.name))
    .map(entry => join(entry.parentPath, entry.name))
}

/** Turns one bit in the middle of a kept file. */
async function damage(path: string): Promise<void> {
  const file = await open(path, 'r+')
  try {
    const at = Math.floor((await file.stat()).size / 2)
    const byte = Buffer.alloc(1)
    await file.read(byte, 0, 1, at)
    byte.writeUInt8(byte.readUInt8(0) ^ 1)
    await file.write(byte, 0, 1, at)
  } finally {
    await file.close()
  }
}

t.test(
  'NOFUSE-13 what is kept is copied from the cache, and no damaged or removed file of it counts',
  async t => {
    const { fill } = files()
    const testbed = await warmMount(t, { fill })
    const first = await copy(testbed, 'first')
    t.equal(first.sums, await md5(join(testbed.directory, 'projects/P/C')), 'what the mount shows')
    t.equal((await copy(testbed, 'again')).fetched, 0, 'nothing is fetched twice')

    await testbed.remount()
    t.same(await copy(testbed, 'remounted'), { sums: first.sums, fetched: 0 }, 'from the cache of before')

    await testbed.end()
    const kept = await keptFiles(testbed)
    t.ok(kept.length >= names.length)
    for (const path of kept) await damage(path)
    await testbed.mount()
    const mended = await copy(testbed, 'damaged')
    t.equal(mended.sums, first.sums, 'no damaged byte')
    t.ok(mended.fetched >= copied.length, 'it came from the service')

    for (const path of await keptFiles(testbed)) await rm(path)
    t.equal((await copy(testbed, 'removed')).sums, first.sums, 'removed below the daemon')
  },
)

t.test('NOFUSE-13 a file that the service replaced is copied as the drive shows it', async t => {
  const { truth, fill } = files()
  const testbed = await warmMount(t, { fill })
  const before = await copy(testbed, 'before')
  const other = truth['c.out']?.map(byte => byte ^ 0xff)
  testbed.service.intercept(/bitstream\S*c\.out/, (response, { heard }) => {
    response.writeHead(200, { 'content-length': other?.length ?? 0, etag: '"another"' })
    response.end(heard.method === 'HEAD' ? undefined : other)
  })
  await testbed.calcfs('cache', 'clear', '--mount', testbed.directory)
  const after = await copy(testbed, 'after')
  t.not(after.sums, before.sums, 'the new bytes')
  await testbed.remount()
  t.equal(await md5(join(testbed.directory, 'projects/P/C')), after.sums, 'those that the mount shows')
})

t.test('NOFUSE-14 what the cache holds comes right to a new place, and over what differs there', async t => {
  const { truth, fill } = files()
  const testbed = await warmMount(t, { fill })
  const first = await copy(testbed, 'first')
  const other = truth['b.out']?.map(byte => byte ^ 0xff)
  t.equal((await copy(testbed, 'second')).sums, first.sums)

  // What stands there already is compared with the drive's, whatever the cache holds.
  await writeFile(join(testbed.local, 'second', 'b.out'), other ?? '')
  const over = ['--mount', testbed.directory, 'projects/P/C', '--as', join(testbed.local, 'second')]
  t.match(await testbed.calcfs('get', '--overwrite', ...over), { code: 0, stderr: '' })
  t.equal(await md5(join(testbed.local, 'second')), first.sums)
})
