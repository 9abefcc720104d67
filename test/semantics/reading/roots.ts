// What stands at the top of projects/: the user's own space, what was given with --root, or what was found by its path.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'

export function roots(t: Test, open: OpenTestbed): void {
  t.test('where the root does not resolve', async t => {
    const testbed = await open(t, { service: { shortcomings: { root: true } } })
    const { files } = testbed

    t.test('ROOT-1 projects/ is empty, and the mount says what to type', async t => {
      t.same(await namesOf(testbed, 'projects'), [])
      t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')).top, /cd projects\/NAME/)
    })

    t.test('ROOT-2 a name that is typed is looked up by its path', async t => {
      t.match(await namesOf(testbed, 'projects/Water splitting'), ['.index.tsv', '.project.json'])
      t.equal(await textOf(testbed, 'projects/Water splitting/TS1_opt/input.inp'), '! B3LYP opt\n')
      t.equal(await outcome(files.lstat('projects/No such project')), 'ENOENT')
      t.match(await namesOf(testbed, 'db/guest/Dyes'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
    })

    t.test('ROOT-3 what was found is remembered, over restarts too', async t => {
      t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
      await testbed.remount()
      t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
    })
  })

  t.test('ROOT-4 one --root that is a user’s space shows what is in it', async t => {
    const testbed = await open(t, { settings: { root: ['/db/demo'] } })
    t.same(await namesOf(testbed, 'projects'), ['.index.tsv', '.project.json', '.shares', 'Water splitting'])
  })

  t.test('ROOT-5 any other --root is an entry, by path or by id, one or several', async t => {
    const one = await open(t, { settings: { root: ['/db/guest/Dyes'] } })
    t.same(await namesOf(one, 'projects'), ['Dyes'])
    const several = await open(t, { settings: { root: ['/db/guest/Dyes', ids.empty] } })
    t.same(await namesOf(several, 'projects'), ['Dyes', 'Sub project'])
    t.match(await namesOf(several, 'projects/Dyes'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
  })
}
