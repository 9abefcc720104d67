// kill -9 and a full disk while contents arrive: what is read is whole, and nothing half is left behind.
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { smallDisk } from '../../testbed/disk/small-disk.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { run } from '../../testbed/programs.js'
import { drawnFrom } from '../../testbed/variants.js'
import { until, within } from '../../testbed/within.js'

t.setTimeout(240_000)

const { seed, pick } = drawnFrom()
const contents = new Map(
  Array.from({ length: 30 }, (_, at) => [`f${at}.out`, pick.bytes(at % 10 === 9 ? 3_000_000 : 20_000 + at)]),
)
const bitstream = /^GET \/calculation\/files\/bitstream/
const folder = 'by-id/calculation/100'

function fill(world: Seed): void {
  world.addProject({ id: '50', name: 'P', owner: 'demo' })
  world.addCalculation({ id: '100', name: 'C', project: '50', files: Object.fromEntries(contents) })
}

/** Names in this room of the contents below a cache directory. */
function namesIn(cache: string, room: 'kept' | 'unfinished'): readonly string[] {
  const [found = ''] = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter(name =>
    name.endsWith(`content/${room}`),
  )
  return readdirSync(join(cache, found))
}

/** Those that are not read as the service has them. */
async function wrongOf({ files }: MountTestbed): Promise<readonly string[]> {
  const wrong: string[] = []
  for (const [name, bytes] of contents)
    if (!bytes.equals(await files.readFile(`${folder}/${name}`))) wrong.push(name)
  return wrong
}

t.test(
  `READ-1 TOLD-7 killed at any moment, no reader waits, each content is whole or comes again (seed ${seed})`,
  async t => {
    const testbed = await realMount(t, { fill })
    const { service, directory, home } = testbed
    service.beforeAnswer(bitstream, () => wait(pick.whole(0, 40)))
    for (let kill = 0; kill < 4; kill += 1) {
      const reading = run('sh', ['-c', `cat ${directory}/${folder}/f*.out`])
      await wait(pick.whole(100, 900))
      await testbed.kill9()
      await within(30_000, 'the reader', reading)
      await testbed.mount()
    }
    t.same(await wrongOf(testbed), [])
    const half = () => namesIn(join(home, 'cache'), 'unfinished').length
    await until(30_000, 'nothing half is left behind', () => half() === 0)
    // What was kept a moment ago may not be known as kept.
    await testbed.pass(1_500)
    await testbed.kill9()
    await testbed.mount()
    const heard = await service.during(async () => t.same(await wrongOf(testbed), []))
    const asked = heard.filter(({ method, path }) => bitstream.test(`${method} ${path}`)).length
    t.ok(asked <= 8, `${asked} of ${contents.size} are downloaded again`)
  },
)

if (process.platform === 'linux' && process.getuid?.() === 0)
  t.test('READ-1 a cache directory that takes no more still lets every read succeed', async t => {
    const disk = await smallDisk(t)
    const testbed = await realMount(t, { fill, settings: { cacheDir: disk.directory } })
    for (const pages of [8, 0]) {
      await disk.leave(pages)
      t.same(await wrongOf(testbed), [], `${pages} pages are left`)
    }
    t.same(namesIn(disk.directory, 'unfinished'), [])
  })
