// The promises about scale on real mounts: a hundred thousand calculations.
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { memoryOf } from '../../long/daemon.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import type { TestProxy } from '../../testbed/proxy.js'
import { ids } from '../../testbed/sample-data.js'
import { within } from '../../testbed/within.js'

const many = 100_000
/** Beyond what a double can hold. */
const firstId = 9007199254740993n
const date = '2024-02-03T04:05:06.000Z'

/** Every thousandth has the same name. */
const titleOf = (at: number): string => (at % 1000 === 999 ? 'same' : `calculation ${at}`)

/** The service lists so many calculations in the water project. */
function crowd(proxy: TestProxy): void {
  const items = Array.from(
    { length: many },
    (_, at) =>
      `{"id":${firstId + BigInt(at)},"name":"${titleOf(at)}","description":"number ${at} of a campaign of many","parentId":${ids.water},"owner":"demo","state":"created","modificationDate":"${date}"}`,
  )
  const listing = Buffer.from(`[${items.join(',')}]`)
  proxy.answer(new RegExp(`^GET /project/descendant\\?id=${ids.water}&type=calculation`), () => listing)
}

const projectOf = async (mount: MountTestbed): Promise<string> =>
  `/projects/${[...(await mount.files.readdir('/projects')).keys()].find(name => /water/i.test(name))}`

t.test('a hundred thousand calculations are shown whole, in little memory', async t => {
  const mount = await realMount(t, { settings: { ttlListing: '10m' } })
  crowd(mount.service)
  const project = await projectOf(mount)
  const names = await within(60_000, 'the listing', fs.readdir(join(mount.directory, project)))
  const shown = new Set(names)
  for (let at = 0; at < many; at += 1) {
    const marked = at % 1000 === 999 && at > 999
    const name = marked ? `same~c${firstId + BigInt(at)}` : titleOf(at)
    if (!shown.has(name)) t.fail(`${name} is missing`)
  }
  t.equal(shown.size, names.length)
  const deep = await within(20_000, 'a stat', fs.stat(join(mount.directory, project, 'calculation 77777')))
  t.ok(deep.isDirectory())
  t.equal(deep.mtimeMs, Date.parse(date))
  const index = await within(
    60_000,
    'the index',
    fs.readFile(join(mount.directory, project, '.index.tsv'), 'utf8'),
  )
  t.match(index, `${firstId + 77_777n}\tcalculation\tcalculation 77777\tnumber 77777 of a campaign`)
  const again = await mount.service.during(() => fs.readdir(join(mount.directory, project)))
  t.same(again, [], 'it is asked for once')
  const peak = (await memoryOf(mount, 'VmHWM')) / 2 ** 20
  t.ok(peak < 256, `${peak} MB at most`)
  await mount.remount()
  const kept = await mount.service.during(async () => {
    t.equal((await fs.readdir(join(mount.directory, project))).length, names.length)
  })
  t.same(
    kept.filter(({ path }) => path.startsWith('/project/descendant')),
    [],
    'it is kept over a restart',
  )
})
