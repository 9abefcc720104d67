// Promises of `calcfs pin`: a subtree is kept whole on this disk, fetched once, kept up with the service, and read without it.
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { fillSampleData, ids, log } from '../../testbed/sample-data.js'
import { namesOf, outcome, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until, within } from '../../testbed/within.js'

t.setTimeout(600_000)

const patience = 90_000

/** One pin, as `calcfs pins --json` tells it. */
interface Told {
  readonly path: string
  readonly state: string
  readonly because?: string
  readonly files: number
  readonly filesKept: number
  readonly bytes: number
  readonly bytesKept: number
}

const calcfs = ({ calcfs: run, directory }: KernelTestbed, ...args: string[]) =>
  run(...args, '--mount', directory)

const pinsOf = async (testbed: KernelTestbed): Promise<readonly Told[]> =>
  JSON.parse((await calcfs(testbed, 'pins', '--json')).stdout)

/** Resolves once the only pin is as wanted; time passes for the drive meanwhile where that is virtual. */
async function untilPin(testbed: KernelTestbed, isSo: (told: Told) => boolean, passMs = 0): Promise<Told> {
  let last: Told | undefined
  await until(patience, 'the pin', async () => {
    if (passMs > 0) await testbed.pass(passMs)
    last = (await pinsOf(testbed))[0]
    return last !== undefined && isSo(last)
  })
  if (last === undefined) throw new Error('there is no pin')
  return last
}

const isWhole = ({ state }: Told): boolean => state === 'whole'

const downloads = (heard: readonly { method: string; path: string }[]): string[] =>
  heard
    .filter(({ method, path }) => method === 'GET' && /^\/calculation\/(files\/bitstream|xyz)/.test(path))
    .map(({ path }) => path)

let draw = Number(process.env['CALCFS_TEST_SEED'] ?? Math.floor(Math.random() * 2 ** 31))
t.comment(`CALCFS_TEST_SEED=${draw}`)

function drawn(below: number): number {
  draw = (draw * 1_103_515_245 + 12_345) % 2 ** 31
  return Math.floor((draw / 2 ** 31) * below)
}

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
  const fill = (seed: Seed): void => {
    fillSampleData(seed)
    files = drawnTree(seed)
  }
  const testbed = await warmMount(t, { fill, settings: { staleLimit: '1s' } })
  const { service, files: drive } = testbed
  const asked = await service.during(async () => {
    const pinned = await calcfs(testbed, 'pin', 'projects/Drawn')
    t.match(pinned, { code: 0, stdout: /^\/projects\/Drawn is kept whole: \d+ files?, / }, pinned.stderr)
  })
  const gets = downloads(asked)
  t.equal(new Set(gets).size, gets.length, 'each is downloaded once')
  const told = await untilPin(testbed, isWhole)
  t.match(told, { path: '/projects/Drawn', files: files.size, filesKept: files.size, bytesKept: told.bytes })
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
  const testbed = await warmMount(t)
  const file = 'projects/Water splitting/TS1_opt/run.log'
  t.match(await calcfs(testbed, 'pin', file), { code: 0, stdout: /run\.log is kept whole: 1 file, 300 kB/ })
  t.match(await calcfs(testbed, 'pin', 'projects/Water splitting/H2O'), { code: 0 })
  t.match(await calcfs(testbed, 'pin', `${testbed.directory}/reports/42.json`), { code: 0 })
  t.match(await pinsOf(testbed), [
    { kind: 'content', id: ids.transition, files: 1 },
    { kind: 'calculation', id: ids.product },
    { kind: 'report', id: '42', state: 'whole' },
  ])
  const refused = await calcfs(testbed, 'pin', 'projects/Water splitting/.shares')
  t.match(refused, { code: 2, stderr: /cannot be pinned: a project, a calculation, a report or a file/ })
  t.match(await calcfs(testbed, 'pin', 'projects/Nothing'), { code: 1, stderr: /nothing of this name/ })
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
  await testbed.pass(600_000)
  t.same(await namesOf(testbed, 'projects/Water splitting/H2O'), names)
  for (const name of names) t.not(await textOf(testbed, `projects/Water splitting/H2O/${name}`), '', name)
  t.equal(await textOf(testbed, file), log)
  const [first = '', ...rest] = (await namesOf(testbed, 'reports/42')).filter(name => /^\d/.test(name))
  t.equal(rest.length, 2)
  t.equal(await textOf(testbed, `reports/42/${first}/run.log`), log)
  t.match(JSON.parse(await textOf(testbed, 'reports/42.json')), { id: 42 })
  t.match(await calcfs(testbed, 'unpin', file), { code: 0, stdout: /run\.log is not pinned any more/ })
  t.match(await calcfs(testbed, 'unpin', file), { code: 1, stderr: /is kept with \/reports\/42/ })
  t.equal((await pinsOf(testbed)).length, 2)
})

const wholeFifty = { code: 0, stdout: '/projects/Fifty is kept whole: 50 files, 5.0 MB.\n', stderr: '' }

const bigText = (letter: string): string => letter.repeat(99_999)

function fillFifty(seed: Seed): void {
  fillSampleData(seed)
  const project = seed.addProject({ id: '4000', name: 'Fifty', owner: 'demo' })
  for (let at = 0; at < 50; at += 1)
    seed.addCalculation({
      id: String(4100 + at),
      name: `run${at}`,
      project,
      files: { 'a.out': `${at} ${bigText('a')}` },
    })
}

t.test('a killed daemon goes on where it was, and asks for nothing that is here (PIN-3)', async t => {
  const testbed = await realMount(t, { fill: fillFifty, settings: { connections: '2' } })
  const { service } = testbed
  // The last ones never come, so that the kill falls into the middle of it.
  const wellAgain = service.intercept(/^GET \/calculation\/files\/bitstream\?id=41[34]/, () => {})
  const begun = await calcfs(testbed, 'pin', '--no-wait', 'projects/Fifty')
  t.match(begun, { code: 0 })
  await untilPin(testbed, ({ filesKept }) => filesKept >= 15)
  await testbed.kill9()
  const before = service.heard.length
  const came = new Set(downloads(service.heard.slice(0, before)))
  wellAgain()
  await testbed.calcfs('unmount', testbed.directory)
  await testbed.mount()
  const told = await untilPin(testbed, isWhole)
  t.equal(told.filesKept, 50)
  const again = downloads(service.heard.slice(before)).filter(path => came.has(path))
  t.ok(again.length <= 20, `${again.length} were on their way or not yet kept at the kill`)
  t.ok(again.length < came.size, 'what was here is not asked for again')
  t.equal(await textOf(testbed, 'projects/Fifty/run49/a.out'), `49 ${bigText('a')}`)
})

t.test('an outage in the middle is waited out (PIN-3)', async t => {
  const testbed = await warmMount(t, { fill: fillFifty })
  const { service } = testbed
  let left: Promise<void> | undefined
  const wellAgain = service.intercept(/^GET \/calculation\/files\/bitstream\?id=412/, response => {
    response.destroy()
    left ??= service.leave()
  })
  const pinned = await calcfs(testbed, 'pin', 'projects/Fifty')
  t.match(pinned, { code: 4, stderr: /is waiting, .* the drive goes on with it by itself\./ })
  t.match(await untilPin(testbed, ({ state }) => state === 'waiting'), { because: String })
  wellAgain()
  await left
  await service.back()
  t.match(await untilPin(testbed, isWhole, 31_000), { files: 50, filesKept: 50 })
  t.match(await calcfs(testbed, 'pin', 'projects/Fifty'), {
    code: 0,
    stdout: /kept whole: 50 files, 5\.0 MB/,
  })
})

t.test(
  'without a mount a pin is fetched by the command, and gone on with by the next one (PIN-3)',
  async t => {
    const testbed = await warmMount(t, { fill: fillFifty })
    const { service } = testbed
    await testbed.end()
    const pin = (...more: string[]) =>
      testbed.calcfs('pin', 'projects/Fifty', '--url', service.url, '--user', 'demo', ...more)
    const broken = service.intercept(/^GET \/calculation\/files\/bitstream\?id=414[0-9]/, response => {
      response.writeHead(403)
      response.end('not these')
    })
    const first = await pin()
    t.match(first, {
      code: 1,
      stdout: /40 of 50 files and .* are here: .*a\.out and 9 more cannot be had: .*403/,
    })
    broken()
    const heard = await service.during(async () => t.match(await pin(), { code: 0 }))
    t.equal(downloads(heard).length, 10, 'only the rest is asked for')
    await service.leave()
    await testbed.mount()
    t.equal(await textOf(testbed, 'projects/Fifty/run49/a.out'), `49 ${bigText('a')}`)
  },
)

t.test('what is pinned is never evicted, and cleared only with --pinned (PIN-4)', async t => {
  const fill = (seed: Seed): void => {
    fillFifty(seed)
    const project = seed.addProject({ id: '3000', name: 'Few', owner: 'demo' })
    for (const [at, letter] of ['x', 'y', 'z'].entries())
      seed.addCalculation({
        id: String(3001 + at),
        name: `few${at}`,
        project,
        files: { 'b.out': bigText(letter) },
      })
  }
  const testbed = await warmMount(t, { fill, settings: { cacheSize: '1M' } })
  const { service } = testbed
  t.match(await calcfs(testbed, 'pin', 'projects/Few'), { code: 0 })
  for (let at = 0; at < 50; at += 1) await textOf(testbed, `projects/Fifty/run${at}/a.out`)
  await testbed.pass(20_000)
  const info = JSON.parse((await calcfs(testbed, 'cache', 'info', '--json')).stdout)
  t.ok(info.bytes <= 1 << 20, `${info.bytes} bytes are kept`)
  t.match(
    info.projects.find(({ id }: { id: string }) => id === '3000'),
    { path: 'Few', files: 3, pinned: true },
  )
  await testbed.remount()
  const heard = await service.during(async () => {
    for (const [at, letter] of ['x', 'y', 'z'].entries())
      t.equal(await textOf(testbed, `projects/Few/few${at}/b.out`), bigText(letter))
  })
  t.same(downloads(heard), [])
  const cleared = await calcfs(testbed, 'cache', 'clear')
  t.match(cleared.stdout, /3 files stay, because they are pinned/)
  t.match(await untilPin(testbed, isWhole), { filesKept: 3 })
  t.match(JSON.parse((await calcfs(testbed, 'cache', 'clear', '--pinned', '--json')).stdout), { files: 3 })
  t.match(await untilPin(testbed, isWhole, 1_000), { filesKept: 3 })
  const back = JSON.parse((await calcfs(testbed, 'cache', 'info', '--json')).stdout)
  t.match(back, { files: 3 }, 'a mounted drive fetches them again')
})

t.test('what does not fit into the cache is said at once and in the status (PIN-4)', async t => {
  const testbed = await warmMount(t, { fill: fillFifty, settings: { cacheSize: '1M' } })
  const sentence =
    /do not fit, because pins take seven eighths of --cache-size \(1048576\) at most: mount with --cache-size (\d+)/
  const pinned = await calcfs(testbed, 'pin', 'projects/Fifty')
  t.match(pinned, { code: 1, stdout: sentence })
  t.match((await testbed.calcfs('status', testbed.directory)).stdout, sentence)
  const told = await untilPin(testbed, ({ state }) => state === 'incomplete')
  t.ok(told.bytesKept <= (1 << 20) * 0.875 && told.filesKept >= 8, `${told.filesKept} files are here`)
  t.equal(await textOf(testbed, 'projects/Fifty/run49/a.out'), `49 ${bigText('a')}`, 'the others read')
  const needed = sentence.exec(pinned.stdout)?.[1] ?? ''
  await testbed.end()
  const more = await warmMount(
    t,
    { settings: { cacheSize: needed } },
    { service: testbed.service, home: testbed.home },
  )
  t.match(await untilPin(more, isWhole), { filesKept: 50 }, 'with that size all of it is here')
})

t.test('what is new is fetched once a listing shows it, what is gone is let go (PIN-5)', async t => {
  const testbed = await warmMount(t, { fill: fillFifty })
  const { service } = testbed
  t.match(await calcfs(testbed, 'pin', 'projects/Fifty'), wholeFifty)
  service.seed.addCalculation({ id: '4900', name: 'late', project: '4000', files: { 'n.out': 'new\n' } })
  await testbed.pass(31_000)
  t.ok((await namesOf(testbed, 'projects/Fifty')).includes('late'), 'a listing shows it')
  await untilPin(testbed, told => isWhole(told) && told.files === 51, 1_000)
  service.seed.addCalculation({ id: '4901', name: 'later', project: '4000', files: { 'n.out': 'more\n' } })
  await testbed.pass(601_000)
  await untilPin(testbed, told => isWhole(told) && told.files === 52, 1_000)
  await service.elsewhere('DELETE', '/calculation?id=4900')
  await testbed.pass(601_000)
  await untilPin(testbed, told => isWhole(told) && told.files === 51, 1_000)
  t.match(JSON.parse((await calcfs(testbed, 'cache', 'clear', '--json')).stdout), { files: 1, pinned: 51 })
  await service.leave()
  t.equal(await textOf(testbed, 'projects/Fifty/later/n.out'), 'more\n')
  t.equal(await textOf(testbed, 'projects/Fifty/run7/a.out'), `7 ${bigText('a')}`)
  await service.back()
  await service.elsewhere('DELETE', '/project?id=4000')
  await testbed.pass(601_000)
  t.match(await untilPin(testbed, ({ state }) => state === 'gone', 31_000), { files: 0 })
  t.match(await calcfs(testbed, 'unpin', 'projects/Fifty'), { code: 0 })
  t.same(await pinsOf(testbed), [])
})

t.test('a program that reads is served before a pin (PIN-6)', async t => {
  const testbed = await warmMount(t, { fill: fillFifty, settings: { connections: '3' } })
  const { service } = testbed
  const well = service.intercept(/^GET \/calculation\/files\/bitstream\?id=41/, () => {})
  await calcfs(testbed, 'pin', '--no-wait', 'projects/Fifty')
  await untilPin(testbed, ({ state }) => state === 'fetching')
  t.equal(
    await within(
      patience,
      'a read beside the pin',
      textOf(testbed, 'projects/Water splitting/TS1_opt/run.log'),
    ),
    log,
  )
  t.match(await untilPin(testbed, () => true), { filesKept: 0 })
  well()
  await calcfs(testbed, 'unpin', 'projects/Fifty')
})

t.test('of two mounts of one account one fetches, and the other goes on where that ends (PIN-7)', async t => {
  const first = await warmMount(t, { fill: fillFifty })
  const second = await warmMount(t, {}, { service: first.service, home: first.home })
  const { service } = first
  const before = service.heard.length
  t.match(await calcfs(first, 'pin', 'projects/Fifty'), wholeFifty)
  t.match(await untilPin(second, isWhole, 6_000), { filesKept: 50 })
  const gets = downloads(service.heard.slice(before))
  t.equal(new Set(gets).size, gets.length, 'each is downloaded once')
  await first.end()
  service.seed.addCalculation({ id: '4900', name: 'late', project: '4000', files: { 'n.out': 'new\n' } })
  await second.pass(601_000)
  t.match(await untilPin(second, told => isWhole(told) && told.files === 51, 6_000), { filesKept: 51 })
})
