// Promises of pins in the long run: room, what is removed, changes of the service, and other mounts.
import { readdir, rm, truncate } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import t from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { namesOf, textOf } from '../../testbed/testbed.js'
import { isDrawn } from '../../testbed/variants.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'
import { addFifty, bigText, downloads, isWhole, patience, pinsOf, untilPin, wholeFifty } from './pinned.js'

// Most of the time is spent waiting.
t.jobs = 4

/** The service keeps back what it has of each file, until the function that is answered lets it go. */
function holdDownloads({ service }: KernelTestbed): () => void {
  return service.hold(/^GET \/calculation\/files\/bitstream/).open
}

function addFew(seed: Seed): void {
  addFifty(seed)
  const project = seed.addProject({ id: '3000', name: 'Few', owner: 'demo' })
  for (const [at, letter] of ['x', 'y', 'z'].entries())
    seed.addCalculation({
      id: String(3001 + at),
      name: `few${at}`,
      project,
      files: { 'b.out': bigText(letter) },
    })
}

t.test('what is pinned is never evicted, nor cleared (PIN-4)', async t => {
  const testbed = await warmMount(t, { adds: addFew, settings: { cacheSize: '1M' } })
  const { service } = testbed
  t.match(await testbed.here('pin', 'projects/Few'), { code: 0 })
  for (let at = 0; at < 50; at += 1) await textOf(testbed, `projects/Fifty/run${at}/a.out`)
  await testbed.pass(20_000)
  const info = JSON.parse((await testbed.here('cache', 'info', '--json')).stdout)
  t.ok(info.bytes <= 1 << 20, `${info.bytes} bytes are kept`)
  await testbed.remount()
  const heard = await service.during(async () => {
    for (const [at, letter] of ['x', 'y', 'z'].entries())
      t.equal(await textOf(testbed, `projects/Few/few${at}/b.out`), bigText(letter))
  })
  t.same(downloads(heard), [])
  t.match((await testbed.here('cache', 'clear')).stdout, /3 files stay, because they are pinned/)
  t.match(await untilPin(testbed, isWhole), { filesKept: 3 })
})

t.test(
  'what another program removes of a pin is fetched again, and the pin is not called whole meanwhile (PIN-4)',
  async t => {
    const adds = (seed: Seed): void => {
      addFifty(seed)
      seed.addCalculation({
        id: '4200',
        name: 'long',
        project: '4000',
        files: { 'l.out': bigText('l').repeat(30) },
      })
    }
    const testbed = await warmMount(t, { adds })
    const account = join(testbed.home, 'cache', 'calcfs')
    const found = await readdir(account, { recursive: true })
    const kept = join(account, found.find(name => name.endsWith('content/kept')) ?? '')
    const long = 'projects/Fifty/long/l.out'
    t.match(await testbed.here('pin', 'projects/Fifty'), { code: 0 })
    t.equal((await textOf(testbed, long)).length, 30 * bigText('l').length, 'it is open in the drive')
    const harms: Readonly<Record<string, () => Promise<unknown>>> = {
      'the kept files': () => rm(kept, { recursive: true }),
      'one file': async () => rm(join(kept, (await readdir(kept))[7] ?? '')),
      'the end of one file': async () => truncate(join(kept, (await readdir(kept))[7] ?? ''), 500),
    }
    for (const [at, [what, harm]] of Object.entries(harms).entries()) {
      if (!isDrawn(at, 2)) continue
      t.comment(what)
      await harm()
      const letThrough = holdDownloads(testbed)
      await testbed.pass(602_000)
      await untilPin(testbed, told => !isWhole(told), 1_000)
      letThrough()
      // What was held too long is tried again after twice the time of before.
      t.match(await untilPin(testbed, isWhole, 150_000), { filesKept: 51 }, what)
      t.equal((await readdir(kept)).length, 51, what)
    }
    await rm(kept, { recursive: true })
    // The drive may have begun by itself while the directory went.
    const isKept = async () => (await testbed.here('pin', 'projects/Fifty')).code === 0
    await until(patience, 'what is asked for is here again', isKept)
    t.equal((await readdir(kept)).length, 51)
    await testbed.service.leave()
    await testbed.remount()
    t.equal((await textOf(testbed, long)).length, 30 * bigText('l').length)
  },
)

t.test('what a refusal hides is kept as it was (PIN-5)', async t => {
  const adds = (seed: Seed): void => {
    const outer = seed.addProject({ id: '3000', name: 'Outer', owner: 'demo' })
    const inner = seed.addProject({ id: '3100', name: 'Inner', owner: 'demo', parent: outer })
    const innermost = seed.addProject({ id: '3200', name: 'Innermost', owner: 'demo', parent: inner })
    for (const [at, project] of [outer, inner, innermost].entries())
      seed.addCalculation({
        id: String(3001 + at),
        name: 'run',
        project,
        files: { 'b.out': `${at}\n`, 'c.out': 'c' },
      })
  }
  const testbed = await warmMount(t, { adds, settings: { staleLimit: '1s' } })
  const { service } = testbed
  t.match(await testbed.here('pin', 'projects/Outer'), { code: 0, stdout: /kept whole: 6 files/ })
  t.match(await testbed.here('pin', 'reports/42.json'), { code: 0 })
  const [, report] = await pinsOf(testbed)
  const refuse = (response: ServerResponse): void => {
    response.writeHead(403)
    response.end('not for you')
  }
  service.intercept(/^GET \/project\/descendant.*\b3100\b/, refuse)
  service.intercept(new RegExp(`^GET /calculation\\?.*\\b${ids.transition}\\b`), refuse)
  await testbed.pass(602_000)
  await untilPin(testbed, ({ state }) => state === 'incomplete')
  t.match(await pinsOf(testbed), [
    { because: /^\/projects\/Outer\/Inner cannot be had: /, files: 6, filesKept: 6 },
    { files: report?.files, filesKept: report?.filesKept },
  ])
  const cleared = JSON.parse((await testbed.here('cache', 'clear', '--json')).stdout)
  t.match(cleared, { files: 0, pinned: 6 + (report?.files ?? 0) })
  await service.leave()
  await testbed.remount()
  await testbed.pass(40 * 86_400_000)
  t.equal(await textOf(testbed, 'projects/Outer/Inner/Innermost/run/b.out'), '2\n')
  t.equal(await textOf(testbed, 'projects/Outer/Inner/run/b.out'), '1\n')
})

t.test('pins that share files leave others no more room than there is (PIN-4)', async t => {
  const testbed = await warmMount(t, { adds: addFew, settings: { cacheSize: '1M' } })
  for (const path of ['Few', 'Few/few0', 'Few/few1', 'Few/few2'])
    t.match(await testbed.here('pin', `projects/${path}`), { code: 0 })
  await testbed.pass(602_000)
  await untilPin(testbed, isWhole)
  t.match(await testbed.here('pin', 'projects/Fifty'), { code: 1 })
  const told = (await pinsOf(testbed)).find(({ path }) => path === '/projects/Fifty')
  t.ok((told?.bytesKept ?? 0) > 0, 'some of it is here')
  t.ok((told?.bytesKept ?? 0) <= (1 << 20) * 0.875 - 3 * 99_999, `${told?.filesKept} files are here`)
})

t.test('what does not fit into the cache is said at once and in the status (PIN-4)', async t => {
  const testbed = await warmMount(t, { adds: addFifty, settings: { cacheSize: '1M' } })
  const sentence =
    /do not fit, because pins take seven eighths of --cache-size \(1048576\) at most: mount with --cache-size (\d+)/
  const pinned = await testbed.here('pin', 'projects/Fifty')
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
  const testbed = await warmMount(t, { adds: addFifty })
  const { service } = testbed
  t.match(await testbed.here('pin', 'projects/Fifty'), wholeFifty)
  service.seed.addCalculation({ id: '4900', name: 'late', project: '4000', files: { 'n.out': 'new\n' } })
  await testbed.pass(31_000)
  t.ok((await namesOf(testbed, 'projects/Fifty')).includes('late'), 'a listing shows it')
  await untilPin(testbed, told => isWhole(told) && told.files === 51, 1_000)
  service.seed.addCalculation({ id: '4901', name: 'later', project: '4000', files: { 'n.out': 'more\n' } })
  await testbed.pass(602_000)
  await untilPin(testbed, told => isWhole(told) && told.files === 52, 1_000)
  t.match(await testbed.here('pin', 'projects/Water splitting/H2O'), { code: 0 })
  await testbed.pass(31_000)
  const asked = await service.during(async () => {
    service.seed.addCalculation({ id: '4902', name: 'last', project: '4000', files: { 'n.out': 'last\n' } })
    await namesOf(testbed, 'projects/Fifty')
    await untilPin(testbed, told => isWhole(told) && told.files === 53, 1_000)
  })
  t.same(
    lines(asked).filter(line => new RegExp(`\\b${ids.product}\\b`).test(line)),
    [],
    'nothing is asked for another pin',
  )
  t.match(await testbed.here('unpin', 'projects/Water splitting/H2O'), { code: 0 })
  await service.elsewhere('DELETE', '/calculation?id=4902')
  await service.elsewhere('DELETE', '/calculation?id=4900')
  await testbed.pass(602_000)
  await untilPin(testbed, told => isWhole(told) && told.files === 51, 1_000)
  t.match(JSON.parse((await testbed.here('cache', 'clear', '--json')).stdout), { pinned: 51 })
  await service.leave()
  t.equal(await textOf(testbed, 'projects/Fifty/later/n.out'), 'more\n')
  t.equal(await textOf(testbed, 'projects/Fifty/run7/a.out'), `7 ${bigText('a')}`)
  await service.back()
  await service.elsewhere('DELETE', '/project?id=4000')
  await testbed.pass(602_000)
  t.match(await untilPin(testbed, ({ state }) => state === 'gone', 31_000), { files: 0 })
  t.match(await testbed.here('unpin', 'projects/Fifty'), { code: 0 })
  t.same(await pinsOf(testbed), [])
})

t.test('of two mounts of one account one fetches, and the other goes on where that ends (PIN-5)', async t => {
  const first = await warmMount(t, { adds: addFifty })
  const second = await warmMount(t, {}, { service: first.service, home: first.home })
  const { service } = first
  const before = service.heard.length
  t.match(await first.here('pin', 'projects/Fifty'), wholeFifty)
  t.match(await untilPin(second, isWhole, 6_000), { filesKept: 50 })
  const gets = downloads(service.heard.slice(before))
  t.equal(new Set(gets).size, gets.length, 'each is downloaded once')
  t.match(await second.here('unpin', 'projects/Fifty'), { code: 0 })
  t.match(JSON.parse((await second.here('cache', 'clear', '--json')).stdout), { pinned: 0 })
  // It may say that the other one fetches it.
  await second.here('pin', 'projects/Fifty')
  t.match(await untilPin(second, isWhole, 6_000), { filesKept: 50 }, 'set again, it is fetched again')
  await first.end()
  service.seed.addCalculation({ id: '4900', name: 'late', project: '4000', files: { 'n.out': 'new\n' } })
  await second.pass(602_000)
  t.match(await untilPin(second, told => isWhole(told) && told.files === 51, 6_000), { filesKept: 51 })
})
