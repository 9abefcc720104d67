// Promises of `calcfs info`: what a path stands for, and what of it is on this disk.
import t from 'tap'
import type { KernelTestbed } from '../../testbed/mount.js'
import { ids, log } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const water = 'projects/Water splitting'

async function infoOf({ here }: KernelTestbed, path: string): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await here('info', path, '--json')
  if (stdout === '') throw new Error(stderr)
  return JSON.parse(stdout)
}

t.test('resolve asks the drive, and answers as the service does without one (INFO-1)', async t => {
  const testbed = await warmMount(t)
  const { calcfs, directory, here, service } = testbed
  const asked = [
    `/db/demo/Water splitting`,
    'db/demo/Water splitting/TS1_opt/',
    `${water}/TS1_opt`,
    'projects',
  ]
  const answers = async (...where: string[]): Promise<readonly string[]> => {
    const all: string[] = []
    for (const path of asked) all.push((await calcfs('resolve', path, ...where)).stdout)
    return all
  }
  const mounted = await answers('--mount', directory)
  t.same(mounted.slice(0, 3), [
    `project ${ids.water}\n`,
    `calculation ${ids.transition}\n`,
    `calculation ${ids.transition}\n`,
  ])
  t.match(mounted[3], /^project \d+\n$/)
  const nothing = { code: 1, stderr: /there is no project and no calculation at .*; calcfs ls projects/ }
  for (const path of ['/db/demo/None', 'projects/None', `${water}/TS1_opt/run.log`])
    t.match(await here('resolve', path), nothing, path)
  await testbed.end()
  t.same(await answers('--url', service.url, '--user', 'demo'), mounted)
})

t.test(
  'a path says what it stands for, whose it is, since when, and where the web pages have it (INFO-1)',
  async t => {
    const testbed = await warmMount(t)
    t.match(await infoOf(testbed, water), {
      path: `/${water}`,
      kind: 'project',
      id: ids.water,
      title: 'Water splitting',
      owner: 'demo',
      created: /^20.*Z$/,
      web: '/db/demo/Water splitting',
    })
    t.match(await infoOf(testbed, `${testbed.directory}/${water}/TS1_opt`), {
      kind: 'calculation',
      id: ids.transition,
      owner: 'demo',
      web: '/db/demo/Water splitting/TS1_opt',
    })
    const file = `${water}/TS1_opt/run.log`
    t.match(await infoOf(testbed, file), {
      kind: 'file',
      id: ids.transition,
      size: log.length,
      cached: { is: 'not' },
    })
    await textOf(testbed, file)
    t.match(await infoOf(testbed, file), { cached: { is: 'whole', bytesKept: log.length } })
    await namesOf(testbed, `${water}/TS1_opt`)
    t.match(await infoOf(testbed, `${water}/TS1_opt`), { cached: { is: 'part', filesKept: Number } })
    t.match(await infoOf(testbed, 'db/demo/Water splitting'), { path: /Water splitting$/, id: ids.water })
    t.match(await infoOf(testbed, 'reports/42.json'), { kind: 'report', id: '42', size: Number })
    const text = await testbed.here('info', file)
    t.match(
      text.stdout,
      /^\/projects.*\n {2}kind: +file of calculation 1234\n[\s\S]* size: +300000 bytes\n {2}on this disk: whole/,
    )
    t.match(await testbed.here('info', `${water}/nothing`), { code: 1, stderr: /nothing of this name/ })
  },
)

t.test('a pin, an unsaved text and old data are told (INFO-1)', async t => {
  const testbed = await warmMount(t)
  const { service, here } = testbed
  t.match(await here('pin', water), { code: 0 })
  t.match(await infoOf(testbed, `${water}/TS1_opt/run.log`), { pinned: `/${water}`, cached: { is: 'whole' } })
  t.match(await infoOf(testbed, water), { pinned: `/${water}`, cached: { is: 'whole' } })
  t.notMatch(await infoOf(testbed, 'reports/42.json'), { pinned: String })
  const well = service.refuse(/^PUT \/report/, 403, 'not now')
  const mine = (await textOf(testbed, 'reports/42.json')).replace('Supporting', 'My')
  t.not(await outcome(overwrite(testbed, 'reports/42.json', mine)), 'done')
  well()
  t.match(await infoOf(testbed, 'reports/42.json'), { draft: 'refused', size: Buffer.byteLength(mine) })
})

t.test('what is known is told without a request, while the service is away too (INFO-1)', async t => {
  // What is told here is at no age due for a question ahead of its end.
  const long = { ttlListing: '30d' }
  const testbed = await warmMount(t, { settings: long })
  const { service } = testbed
  const paths = [water, `${water}/TS1_opt`, `${water}/TS1_opt/run.log`]
  for (const path of paths) await infoOf(testbed, path)
  await testbed.pass(3_600_000)
  const heard = await service.during(async () => {
    for (const path of paths)
      t.match(await infoOf(testbed, path), { id: String, title: String, owner: 'demo', created: String })
  })
  t.same(lines(heard), [])
  await service.leave()
  t.match(await infoOf(testbed, `${water}/TS1_opt/run.log`), { size: log.length })
})
