// A name whose thing is gone: a second use of it finds nothing, never the next thing of the same title.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { fillSampleData as fillWorld, ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { pauseEnds, removeTree } from './deleting.js'

const water = 'projects/Water splitting'
const manage = { settings: { access: 'manage' }, fill }
const oneHour = 3_600_000
const tenMinutes = 600_000

function fill(seed: Seed): void {
  fillWorld(seed)
  for (const id of ['2001', '2002', '2003'])
    seed.addCalculation({ id, name: 'same', project: ids.water, files: { id } })
}

const sameIn = async (testbed: Testbed): Promise<string[]> =>
  (await namesOf(testbed, water)).filter(name => name.startsWith('same'))

export function freedNames(t: Test, open: OpenTestbed): void {
  t.test('DEL-23 a name whose calculation was deleted', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    t.same(await sameIn(testbed), ['same', 'same~c2002', 'same~c2003'])
    const asked = await service.during(async () => {
      await removeTree(testbed, `${water}/same`)
      await pauseEnds(testbed)
      t.equal(await outcome(files.lstat(`${water}/same`)), 'ENOENT')
      t.equal(await outcome(removeTree(testbed, `${water}/same`)), 'ENOENT')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), ['DELETE /calculation?id=2001'], 'the second rm -r of one name deletes nothing')
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

    await t.test('and is given back after an hour', async t => {
      await service.elsewhere('DELETE', '/calculation?id=2004')
      await files.touch(water)
      t.same(await sameIn(testbed), ['same~c2002', 'same~c2003'])
      await testbed.pass(oneHour)
      t.same(await sameIn(testbed), ['same', 'same~c2003'])
      t.equal(await textOf(testbed, `${water}/same/id`), '2002')
    })
  })

  t.test('DEL-23 a name whose calculation was renamed', async t => {
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

  t.test('RECORD-4 a name that a save has changed is free once no editor comes back to it', async t => {
    const testbed = await open(t, manage)
    const { files } = testbed
    await files.mkdir(`${water}/Made`)
    for (const [name, record] of [
      ['TS1_opt', '.calculation.json'],
      ['Made', '.project.json'],
    ] as const) {
      const path = `${water}/${name}/${record}`
      await overwrite(testbed, path, (await textOf(testbed, path)).replace(`"${name}"`, `"${name} 9"`))
      for (let tries = 0; tries < 3; tries += 1) {
        await testbed.pass(tenMinutes - 10_000)
        t.equal(await outcome(files.lstat(path)), 'done', 'an editor at work goes on by it')
      }
      await testbed.pass(tenMinutes - 10_000)
      t.equal(await outcome(files.mkdir(`${water}/${name}`)), 'EEXIST')
      await testbed.pass(20_000)
      await files.mkdir(`${water}/${name}`)
      t.match(await textOf(testbed, `${water}/${name}/.project.json`), `"${name}"`)
      t.ok((await namesOf(testbed, water)).includes(`${name} 9`))
    }
  })
}
