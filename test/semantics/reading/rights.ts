// Access rights: published things and shares that are READ are read-only, and the mount says so before a request.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const refused = /^(EROFS|EACCES)$/

export function rights(t: Test, open: OpenTestbed): void {
  t.test('rights', async t => {
    const testbed = await open(t, {
      adds(seed) {
        seed.addProject({ id: '800', name: 'Printed', owner: 'demo', fields: '{"state":"published"}' })
        seed.addCalculation({ id: '801', name: 'Final', project: '800' })
      },
    })
    const { files, service } = testbed

    t.test('SIZE-1 what is published is read-only', async t => {
      const record = 'projects/Printed/.project.json'
      await service.sends(t, [], async () => {
        await files.lstat(record)
        t.equal((await files.lstat(record)).mode, 0o444)
        t.equal((await files.lstat('projects/Printed')).mode, 0o555)
        t.match(await outcome(overwrite(testbed, record, '{}')), refused)
        t.match(await outcome(overwrite(testbed, 'projects/Printed/Final/.calculation.json', '{}')), refused)
        t.match(await outcome(files.mkdir('projects/Printed/More')), refused)
        t.match(await outcome(files.rename('projects/Printed', 'projects/Other')), refused)
      })
    })

    t.test(
      'SIZE-1 what a colleague shares for reading is read-only, where the list of shares says so',
      async t => {
        const record = 'db/guest/Dyes/.project.json'
        await service.sends(t, [], async () => {
          await textOf(testbed, record)
          t.equal((await files.lstat(record)).mode, 0o444)
          t.match(await outcome(overwrite(testbed, record, '{}')), refused)
          t.match(await outcome(files.mkdir('db/guest/Dyes/More')), refused)
          const [share = ''] = await namesOf(testbed, 'db/guest/Dyes/.shares')
          t.match(await outcome(overwrite(testbed, `db/guest/Dyes/.shares/${share}`, '{}')), refused)
          await namesOf(testbed, 'db/guest/Dyes')
          t.match(await outcome(overwrite(testbed, 'db/guest/Dyes/Indigo/.calculation.json', '{}')), refused)
        })
      },
    )

    t.test('SIZE-1 what a colleague shares for writing can be written', async t => {
      service.seed.addProject({ id: '810', name: 'Common', owner: 'guest' })
      service.seed.addShare({ project: '810', user: 'demo', permission: 'WRITE' })
      const record = 'by-id/project/810/.project.json'
      const text = (await textOf(testbed, record)).replace(/"description": "[^"]*"/, '"description": "Ours"')
      await service.sends(t, ['PUT /project'], () => overwrite(testbed, record, text))
    })

    t.test(
      'SIZE-1 where the list does not say so, the refusal comes at the save, in the service’s words',
      async t => {
        const record = `projects/Water splitting/.project.json`
        const text = (await textOf(testbed, record)).replace(
          /"description": "[^"]*"/,
          '"description": "Mine"',
        )
        const mend = service.refuse(/^PUT \/project$/, 403, 'only READ here')
        t.equal(await outcome(overwrite(testbed, record, text)), 'EACCES')
        mend()
        t.match(await textOf(testbed, `.calcfs/drafts/project-${ids.water}.json.why`), /only READ here/)
      },
    )
  })
}
