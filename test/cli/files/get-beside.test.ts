// Promises of `calcfs get` beside others that write in the same directory: another get, a user; and on a disk that takes nothing.
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { lines } from '../../testbed/service.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until, within } from '../../testbed/within.js'

t.setTimeout(240_000)

const limit = 30_000
const drives = 'the bytes of the drive\n'.repeat(200)

/** A drive with one file, whose bytes come when the test says so. */
async function slowFile(t: Test) {
  const testbed = await warmMount(t, {
    fill(seed) {
      seed.addUser({ name: 'demo', password: 'demo' })
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
