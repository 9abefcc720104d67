// Renames and moves make no other thing; another date of creation does.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { namesOf, type OpenTestbed, textOf } from '../../testbed/testbed.js'
import {
  brief,
  everything,
  forward,
  inputOf,
  molecules,
  numbered,
  outputOf,
  sameDate,
} from './recreated-service.js'

/** One calculation alone in its project, with the files of this molecule. */
const alone =
  (molecule: string, { name = 'same', fields }: { name?: string; fields: string }) =>
  (seed: Seed): void => {
    seed.addUser({ name: 'demo', password: 'demo' })
    const project = seed.addProject({ id: '100', name: 'All', owner: 'demo', fields: sameDate() })
    const files = { 'output.cml': outputOf(molecule), 'a.inp': inputOf(molecule) }
    seed.addCalculation({ id: '1', name, project, files, fields })
  }

export function oneDate(t: Test, open: OpenTestbed): void {
  t.test(
    'THING-1 while the service is away a folder that was listed before shows no file of the earlier thing',
    async t => {
      const one = (name: string, day: number) =>
        alone(name, { fields: `{"creationDate":"2024-05-0${day}T10:00:00Z"}` })
      const testbed = await open(t, { fill: one('water', 1) })
      t.equal(await textOf(testbed, 'projects/All/same/a.inp'), inputOf('water'))
      await testbed.service.remake(one('indigo', 2))
      await testbed.pass(11_000)
      t.match(await textOf(testbed, 'by-id/calculation/1/.calculation.json'), '2024-05-02')
      t.equal(await textOf(testbed, 'by-id/calculation/1/a.inp'), inputOf('indigo'))
      await testbed.service.leave()
      const read = textOf(testbed, 'projects/All/same/a.inp').catch(() => 'an error')
      t.match(await read, /^(an error|! opt indigo *\n)$/)
      await testbed.service.back()
    },
  )

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
    const record = JSON.parse(await service.elsewhere('GET', '/calculation?id=1'))
    await service.elsewhere('PUT', '/calculation', JSON.stringify({ ...record, name: 'renamed' }))
    await testbed.pass(2500)
    const path = 'projects/With water/renamed/output.cml'
    t.equal(await contentsAsked(path, 'water'), 0, 'renamed elsewhere')
  })
}
