// The machine's date is set by an hour: nothing expires, nothing is late for an hour, and no limit is lifted.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { removeTree } from '../semantics/namespace/deleting.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { realMount } from '../testbed/mount.js'
import { ids, log } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { outcome, overwrite } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.jobs = 4

for (const [how, hours] of [
  ['back', -1],
  ['forward', 1],
] as const) {
  t.test(`TIME-2 a date that is set ${how} while a request is silent`, async t => {
    const testbed = await realMount(t, {
      preload: new URL('../testbed/set-date.js', import.meta.url),
      settings: { deadlineMetadata: '2s', ttlListing: '10m' },
    })
    const { files, service } = testbed
    const path = `by-id/calculation/${ids.transition}/run.log`
    await files.readdir('projects/Water splitting')
    const heal = service.intercept(/bitstream\?id=1234/, () => {})
    const asked = outcome(files.readFile(path))
    await new Promise(wake => setTimeout(wake, 500))
    await writeFile(join(testbed.home, 'date'), String(hours * 3_600_000))
    const elapsed = stopwatch()
    t.equal(await within(15_000, 'the silent read', asked), 'ETIMEDOUT')
    t.ok(elapsed() < 10_000, `ended after ${elapsed()} ms`)
    heal()
    await until(15_000, 'the file', async () => (await outcome(files.readFile(path))) === 'done')
    t.equal((await files.readFile(path)).toString(), log)
    const heard = await service.during(async () => void (await files.readdir('projects/Water splitting')))
    t.same(
      heard.filter(({ path: asked }) => asked.startsWith('/project/descendant')),
      [],
      'a listing is as young as before',
    )
  })
}

t.test('TIME-2 a date that is set forward ends no burst of removals (DEL-4)', async t => {
  const spares = ['1303', '1304', '1305', '1306']
  const testbed = await realMount(t, {
    preload: new URL('../testbed/set-date.js', import.meta.url),
    settings: { access: 'manage', maxDeletes: '2' },
    adds(seed) {
      for (const id of spares)
        seed.addCalculation({ id, name: `Spare ${id}`, project: ids.water, files: { a: 'b' } })
    },
  })
  const ended: string[] = []
  const asked = await testbed.service.during(async () => {
    for (const [at, id] of spares.entries()) {
      await writeFile(join(testbed.home, 'date'), String(at * 90_000))
      ended.push(await outcome(removeTree(testbed, `projects/Water splitting/Spare ${id}`)))
    }
    await testbed.pass(5_000)
  })
  t.same(ended, ['done', 'done', 'EPERM', 'EPERM'])
  t.same(writes(asked), [])
})

t.test('TIME-2 a date that is set back between two mounts makes no conflict of own saves', async t => {
  const testbed = await realMount(t, { preload: new URL('../testbed/set-date.js', import.meta.url) })
  const path = `reports/${ids.report}.json`
  const save = async (title: string) => {
    const record = JSON.parse((await testbed.files.readFile(path)).toString())
    return outcome(overwrite(testbed, path, JSON.stringify({ ...record, title })))
  }
  for (const title of ['first', 'second', 'third']) t.equal(await save(title), 'done')
  await writeFile(join(testbed.home, 'date'), String(-3_600_000))
  await testbed.remount()
  for (const title of ['fourth', 'fifth', 'sixth', 'seventh']) {
    t.equal(await save(title), 'done', title)
    t.match(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`), title)
    await testbed.pass(1_200)
  }
})
