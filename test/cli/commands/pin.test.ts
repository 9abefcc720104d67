// Promises of `calcfs pin`: a subtree is kept whole on this disk, fetched once, and read without the service.
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { ids, log } from '../../testbed/sample-data.js'
import { namesOf, outcome, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until, within } from '../../testbed/within.js'
import { addFifty, bigText, downloads, isWhole, patience, pinsOf, untilPin } from './pinned.js'

// Most of the time is spent waiting.
t.jobs = 4

const { seed, draw: drawn } = drawnFrom()
t.comment(`CALCFS_TEST_SEED=${seed}`)

/** A project `Drawn` with sub-projects and calculations; what is below it by its path. */
function drawnTree(seed: Seed): ReadonlyMap<string, string> {
  const files = new Map<string, string>()
  let next = 5000
  function fillProject(parent: string, path: string, levels: number): void {
    for (let at = 0; at < 1 + drawn(3); at += 1) {
      next += 1
      const contents: Record<string, string> = {}
      for (let file = 0; file < drawn(4); file += 1) {
        const name = `part ${file}.${['out', 'log', 'inp'][drawn(3)]}`
        const text = `${name} of ${next}\n`.repeat(drawn(400))
        contents[name] = text
        files.set(`${path}/c${next}/${name}`, text)
      }
      seed.addCalculation({ id: String(next), name: `c${next}`, project: parent, files: contents })
    }
    for (let at = 0; levels > 0 && at < drawn(3); at += 1) {
      next += 1
      const id = seed.addProject({ id: String(next), name: `p${next}`, owner: 'demo', parent })
      fillProject(id, `${path}/p${next}`, levels - 1)
    }
  }
  const root = seed.addProject({ id: '4999', name: 'Drawn', owner: 'demo' })
  fillProject(root, 'projects/Drawn', 3)
  seed.addShare({ project: root, user: 'guest', permission: 'READ' })
  return files
}

t.test('a drawn tree is kept whole, and read without the service at any age (PIN-1, PIN-2)', async t => {
  let files: ReadonlyMap<string, string> = new Map()
  const testbed = await warmMount(t, {
    adds(seed) {
      files = drawnTree(seed)
    },
    settings: { staleLimit: '1s' },
  })
  const { service, files: drive } = testbed
  const asked = await service.during(async () => {
    const pinned = await testbed.here('pin', 'projects/Drawn')
    t.match(pinned, { code: 0, stdout: /^\/projects\/Drawn is kept whole: \d+ files?, / }, pinned.stderr)
  })
  // The emptiness of a file is confirmed by a second request.
  const empty = [...files].flatMap(([path, text]) => {
    const [, id, name = ''] = /c(\d+)\/([^/]+)$/.exec(path) ?? []
    return text === '' ? [`id=${id}&fileId=${encodeURIComponent(name)}`] : []
  })
  const gets = downloads(asked).filter(path => !empty.some(one => path.endsWith(one)))
  t.equal(new Set(gets).size, gets.length, 'each is downloaded once')
  const told = await untilPin(testbed, isWhole)
  t.match(told, {
    path: '/projects/Drawn',
    files: files.size,
    filesKept: files.size,
    bytesKept: told.bytes,
  })
  const status = JSON.parse((await testbed.calcfs('status', testbed.directory, '--json')).stdout)
  t.match(status, [{ pins: [{ path: '/projects/Drawn', state: 'whole', files: files.size }] }])
  t.match((await testbed.calcfs('status', testbed.directory)).stdout, /pinned:\n.*Drawn is kept whole/)
  await textOf(testbed, `projects/Water splitting/TS1_opt/input.inp`)

  const folders = [...new Set([...files.keys()].map(path => path.slice(0, path.lastIndexOf('/'))))]
  const records = folders.map(path => `${path}/.calculation.json`)
  records.push('projects/Drawn/.project.json', 'projects/Drawn/.index.tsv')
  await service.leave()
  await testbed.end()
  await testbed.mount()
  await testbed.pass(40 * 86_400_000)
  const all = await Promise.all(
    [...files].map(async ([path, text]) => (await textOf(testbed, path)) === text || path),
  )
  t.same(
    all.filter(one => one !== true),
    [],
    'every file reads',
  )
  for (const path of records) t.ok((await within(20_000, path, textOf(testbed, path))).length > 0, path)
  for (const path of folders) t.ok((await namesOf(testbed, path)).includes('.calculation.json'), path)
  t.equal((await namesOf(testbed, 'projects/Drawn/.shares')).length, 1)
  t.not(
    await outcome(drive.readFile('projects/Water splitting/TS1_opt/input.inp')),
    'done',
    'what is not pinned is too old',
  )
  t.ok((await namesOf(testbed, 'projects')).includes('Drawn'), 'the way to it is listed')
  t.match(await untilPin(testbed, () => true), { filesKept: files.size })
  await service.back()
  const again = await service.during(async () => {
    for (const path of files.keys()) await textOf(testbed, path)
    await untilPin(testbed, isWhole, 31_000)
  })
  t.same(downloads(again), [], 'nothing is downloaded a second time')
})

t.test('a calculation, a report with its calculations, and a single file are kept (PIN-1)', async t => {
  const testbed = await warmMount(t, { settings: { staleLimit: '1s' } })
  const file = 'projects/Water splitting/TS1_opt/run.log'
  t.match(await testbed.here('pin', file), { code: 0, stdout: /run\.log is kept whole: 1 file, 300 kB/ })
  t.match(await testbed.here('pin', 'projects/Water splitting/H2O'), { code: 0 })
  t.match(await testbed.here('pin', `${testbed.directory}/reports/42.json`), { code: 0 })
  t.match(await pinsOf(testbed), [
    { kind: 'content', id: ids.transition, files: 1 },
    { kind: 'calculation', id: ids.product },
    { kind: 'report', id: '42', state: 'whole' },
  ])
  const refused = await testbed.here('pin', 'projects/Water splitting/.shares')
  t.match(refused, { code: 2, stderr: /cannot be pinned: a project, a calculation, a report or a file/ })
  t.match(await testbed.here('pin', 'projects/Nothing'), { code: 1, stderr: /nothing of this name/ })
  const later = await testbed.service.during(async () => {
    for (let round = 0; round < 3; round += 1) {
      await testbed.pass(600_000)
      await until(patience, 'all pins', async () => (await pinsOf(testbed)).every(isWhole))
    }
  })
  t.same(
    downloads(later),
    [],
    'what is here stays that of the same calculation, however often it is looked at',
  )
  const names = await namesOf(testbed, 'projects/Water splitting/H2O')
  await testbed.service.leave()
  await testbed.remount()
  await testbed.pass(40 * 86_400_000)
  t.same(await namesOf(testbed, 'projects/Water splitting/H2O'), names)
  for (const name of names) t.not(await textOf(testbed, `projects/Water splitting/H2O/${name}`), '', name)
  t.equal(await textOf(testbed, file), log)
  const [first = '', ...rest] = (await namesOf(testbed, 'reports/42')).filter(name => /^\d/.test(name))
  t.equal(rest.length, 2)
  t.equal(await textOf(testbed, `reports/42/${first}/run.log`), log)
  t.match(JSON.parse(await textOf(testbed, 'reports/42.json')), { id: 42 })
  t.match(await testbed.here('unpin', file), { code: 0, stdout: /run\.log is not pinned any more/ })
  t.match(await testbed.here('unpin', file), { code: 1, stderr: /is kept with \/reports\/42/ })
  t.equal((await pinsOf(testbed)).length, 2)
})

t.test(
  'without a mount a pin is fetched by the command, and gone on with by the next one (PIN-2)',
  async t => {
    const testbed = await warmMount(t, { adds: addFifty })
    const { service } = testbed
    await testbed.end()
    const pin = (...more: string[]) =>
      testbed.calcfs('pin', 'projects/Fifty', '--url', service.url, '--user', 'demo', ...more)
    const broken = service.refuse(/^GET \/calculation\/files\/bitstream\?id=414[0-9]/, 403, 'not these')
    const first = await pin()
    t.match(first, {
      code: 1,
      stdout: /40 of 50 files and .* are here: .*a\.out and 9 more cannot be had: .*403/,
    })
    broken()
    const heard = await service.during(async () => t.match(await pin(), { code: 0 }))
    t.equal(downloads(heard).length, 10, 'only the rest is asked for')
    const gone = await testbed.calcfs('unpin', 'projects/Fifty', '--url', service.url, '--user', 'demo')
    t.match(gone, { code: 0, stdout: /is not pinned any more; its 50 files \(5\.0 MB\) go when others/ })
    t.match(await pin(), { code: 0 })
    await service.leave()
    await testbed.mount()
    t.equal(await textOf(testbed, 'projects/Fifty/run49/a.out'), `49 ${bigText('a')}`)
  },
)
