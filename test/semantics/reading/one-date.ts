// Things that were made at one moment, renames and moves: a date that tells nothing must not keep another thing's bytes.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { namesOf, type OpenTestbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import {
  backward,
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
    'THING-1 of one date, a folder that was listed twice before a file is opened shows no old content',
    async t => {
      const one = (name: string) => alone(name, { name, fields: sameDate() })
      const testbed = await open(t, { fill: one('water'), settings: brief })
      t.equal(await textOf(testbed, 'projects/All/water/a.inp'), inputOf('water'))
      await testbed.service.remake(one('indigo'))
      await testbed.pass(2500)
      await until(20_000, 'the new name', async () => {
        await testbed.pass(1100)
        return (await namesOf(testbed, 'projects/All')).includes('indigo')
      })
      for (let again = 0; again < 2; again++) {
        await testbed.pass(1500)
        t.same(await namesOf(testbed, 'projects/All').then(names => names.includes('indigo')), true)
      }
      t.equal(await textOf(testbed, 'projects/All/indigo/a.inp'), inputOf('indigo'))
      t.equal(await textOf(testbed, 'by-id/calculation/1/output.cml'), outputOf('indigo'))
    },
  )

  t.test('THING-1 of one date, a record of another name shows no old content by its number', async t => {
    const named = (names: readonly string[]) => numbered(names, sameDate)
    const testbed = await open(t, { fill: named(forward), settings: brief })
    t.equal(await textOf(testbed, 'projects/With water/water/a.inp'), inputOf('water'))
    await testbed.service.remake(named(backward))
    await testbed.pass(2500)
    const record = JSON.parse(await textOf(testbed, 'by-id/calculation/1/.calculation.json'))
    t.equal(record.name, 'indigo')
    t.equal(await textOf(testbed, 'by-id/calculation/1/a.inp'), inputOf('indigo'))
  })

  t.test(
    'THING-1 of a thing that has a date only now, or none any more, no old content is shown',
    async t => {
      const dated = () => '{"creationDate":"2024-05-01T10:00:00Z"}'
      const none = '{"creationDate":null,"modificationDate":null}'
      for (const [first, second] of [
        [none, dated()],
        [dated(), none],
      ] as const) {
        const testbed = await open(t, { fill: alone('water', { fields: first }), settings: brief })
        const read = () => textOf(testbed, 'projects/All/same/a.inp')
        t.equal(await read(), inputOf('water'))
        await testbed.service.remake(alone('indigo', { fields: second }))
        await testbed.pass(2500)
        await until(20_000, 'the new content', async () => {
          await testbed.pass(1100)
          return (await read()) === inputOf('indigo')
        })
      }
    },
  )

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

  t.test('THING-2 a rename or a move makes no other thing', async t => {
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
    t.ok((await contentsAsked(path, 'water')) > 0, 'what was renamed elsewhere is asked for again')
    t.equal(await contentsAsked(path, 'water'), 0, 'once')
  })
}
