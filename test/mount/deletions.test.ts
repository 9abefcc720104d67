// Deletions as only a real mount shows them: a name that is used twice, touch with O_CREAT, rmdir after ls.
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../testbed/mount.js'
import { shell } from '../testbed/programs.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { outcome, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const water = 'projects/Water splitting'

t.setTimeout(240_000)

t.test('on one mount', async t => {
  const testbed = await realMount(t, {
    settings: { access: 'manage', maxDeletes: '50' },
    fill(seed) {
      fillSampleData(seed)
      for (const id of ['2001', '2002'])
        seed.addCalculation({ id, name: 'same', project: ids.water, files: { id } })
    },
  })
  const { files, service } = testbed
  const calculation = `${water}/TS1_opt`
  const why = async (path: string): Promise<string> =>
    (await testbed.calcfs('why', join(testbed.directory, path))).stdout

  await t.test('DEL-23 calcfs delete of one name, twice, deletes one thing', async t => {
    await files.readdir(water)
    const asked = await service.during(async () => {
      for (const code of [0, 1])
        t.match(await testbed.calcfs('delete', '--yes', join(testbed.directory, water, 'same')), { code })
    })
    t.same(writes(asked), ['DELETE /calculation?id=2001'])
    t.equal(await textOf(testbed, `${water}/same~c2002/id`), '2002')
  })

  await t.test('DEL-14 touch takes it back, and why tells that and nothing of a file to be made', async t => {
    const asked = await service.during(async () => {
      await shell(`rm -r "${calculation}"; touch "${calculation}"`, testbed.directory)
      await until(4_000, 'it is back', async () => (await outcome(files.lstat(calculation))) === 'done')
      t.match(await why(calculation), /Could not delete .* \(20.*\): .*it was not deleted.*touched/)
      await testbed.pass(4_000)
    })
    t.same(writes(asked), [])
  })

  await t.test(
    'DEL-1 rmdir of what an interrupted rm -r left, and ls has shown again, is refused',
    async t => {
      const asked = await service.during(async () => {
        await shell(`rm -f "${calculation}"/* "${calculation}"/.calculation.json`, testbed.directory)
        await until(15_000, 'they are back', async () => (await files.readdir(calculation)).size > 0)
        t.match((await shell(`ls -A "${calculation}"`, testbed.directory)).stdout, /run\.log/)
        t.match(await shell(`rmdir "${calculation}"`, testbed.directory), { code: 1 })
        await testbed.pass(4_000)
      })
      t.same(writes(asked), [])
    },
  )
})
