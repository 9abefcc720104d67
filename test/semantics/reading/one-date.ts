// Renames and moves make no other thing.
import type { Test } from 'tap'
import { namesOf, type OpenTestbed, textOf } from '../../testbed/testbed.js'
import { brief, everything, forward, molecules, numbered, outputOf } from './recreated-service.js'

export function oneDate(t: Test, open: OpenTestbed): void {
  t.test('THING-1 a rename or a move makes no other thing', async t => {
    const dated = (name: string) => `{"creationDate":"2024-05-0${1 + molecules.indexOf(name)}T10:00:00Z"}`
    const testbed = await open(t, { fill: numbered(forward, dated), settings: brief })
    const { service } = testbed
    await everything(testbed)
    const contentsAsked = async (path: string, name: string) => {
      const asked = await service.during(async () => t.equal(await textOf(testbed, path), outputOf(name)))
      return asked.filter(({ path }) => path.startsWith('/calculation/files/bitstream')).length
    }
    await testbed.files.rename('projects/With water/ammonia', 'projects/With water/mine')
    await testbed.pass(2500)
    t.equal(await contentsAsked('projects/With water/mine/output.cml', 'ammonia'), 0, 'renamed here')
    t.ok((await namesOf(testbed, 'projects/With water')).includes('mine'))
    await testbed.pass(2500)
    t.ok((await namesOf(testbed, 'projects/With water')).includes('mine'))
    await testbed.files.rename('projects/With water/mine', 'projects/With water/ammonia')
    for (const later of [0, 2500, 2500]) {
      await testbed.pass(later)
      t.equal(await contentsAsked('projects/With water/ammonia/output.cml', 'ammonia'), 0, 'and back')
      t.ok((await namesOf(testbed, 'projects/With water')).includes('ammonia'))
    }
    await service.edit('calculation', '1', { name: 'renamed' })
    await testbed.pass(2500)
    const path = 'projects/With water/renamed/output.cml'
    t.equal(await contentsAsked(path, 'water'), 0, 'renamed elsewhere')
  })
}
