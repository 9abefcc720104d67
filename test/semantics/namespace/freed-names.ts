// A name whose thing is gone: a second use of it finds nothing, never the next thing of the same title.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { pauseEnds, removeTree } from './deleting.js'

const water = 'projects/Water splitting'
const manage = { settings: { access: 'manage' }, adds }

function adds(seed: Seed): void {
  for (const id of ['2001', '2002', '2003'])
    seed.addCalculation({ id, name: 'same', project: ids.water, files: { id } })
}

const sameIn = async (testbed: Testbed): Promise<string[]> =>
  (await namesOf(testbed, water)).filter(name => name.startsWith('same'))

export function freedNames(t: Test, open: OpenTestbed): void {
  t.test('DEL-12 a name whose calculation was deleted', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    t.same(await sameIn(testbed), ['same', 'same~c2002', 'same~c2003'])
    await service.sends(
      t,
      ['DELETE /calculation?id=2001'],
      'the second rm -r of one name deletes nothing',
      async () => {
        await removeTree(testbed, `${water}/same`)
        await pauseEnds(testbed)
        t.equal(await outcome(files.lstat(`${water}/same`)), 'ENOENT')
        t.equal(await outcome(removeTree(testbed, `${water}/same`)), 'ENOENT')
        await pauseEnds(testbed)
      },
    )
    t.same(await sameIn(testbed), ['same~c2002', 'same~c2003'])

    await t.test('stays free in later listings too', async t => {
      await testbed.pass(31_000)
      await files.touch(water)
      t.same(await sameIn(testbed), ['same~c2002', 'same~c2003'])
      t.equal(await outcome(files.lstat(`${water}/same`)), 'ENOENT')
    })

    await t.test('is given to what is made under it', async t => {
      service.seed.addCalculation({ id: '2004', name: 'same', project: ids.water, files: { id: 'new' } })
      await files.touch(water)
      // The kernel knows for a second that the name is not there.
      await testbed.pass(1_100)
      t.same(await sameIn(testbed), ['same', 'same~c2002', 'same~c2003'])
      t.equal(await textOf(testbed, `${water}/same/id`), 'new')
    })

    await t.test('and is given back by the next mount', async t => {
      await service.elsewhere('DELETE', '/calculation?id=2004')
      await files.touch(water)
      t.same(await sameIn(testbed), ['same~c2002', 'same~c2003'])
      await testbed.remount()
      t.same(await sameIn(testbed), ['same', 'same~c2003'])
      t.equal(await textOf(testbed, `${water}/same/id`), '2002')
    })
  })

  t.test('DEL-12 a name whose calculation was renamed', async t => {
    const testbed = await open(t, manage)
    const { files } = testbed
    t.same(await sameIn(testbed), ['same', 'same~c2002', 'same~c2003'])
    await files.rename(`${water}/same`, `${water}/kept`)
    t.same(await sameIn(testbed), ['same~c2002', 'same~c2003'])
    t.equal(await outcome(files.lstat(`${water}/same`)), 'ENOENT')
    // A name that is given on purpose.
    await files.mkdir(`${water}/same`)
    t.match(await textOf(testbed, `${water}/same/.project.json`), /"name": "same"/)
  })
}
