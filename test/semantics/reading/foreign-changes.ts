// What others change: seen within the lifetime, at once where a user asks, and never in the middle of a text.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, type Testbed, textOf } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`
// A record counts for longer than a busy machine needs between a stat and an open: the next stat may show another text.
const brief = { ttlListing: '1s' }

const lengthen = ({ service }: Testbed, title: string) => service.edit('report', ids.report, { title })

export function foreignChanges(t: Test, open: OpenTestbed): void {
  t.test('changes of others', async t => {
    const testbed = await open(t, { settings: brief })
    const { files, service } = testbed

    t.test('STALE-4 a new calculation is there within the lifetime of a listing', async t => {
      await files.readdir('projects/Water splitting')
      service.seed.addCalculation({ name: 'New', project: ids.water, files: { 'a.txt': 'new\n' } })
      await testbed.pass(2500)
      await files.readdir('projects/Water splitting')
      await testbed.pass(1100)
      t.ok((await namesOf(testbed, 'projects/Water splitting')).includes('New'))
    })

    t.test('TIME-2 a change of the same length has a later time', async t => {
      await lengthen(testbed, 'Another one')
      await testbed.pass(3500)
      await files.readFile(report)
      const before = await files.lstat(report)
      await lengthen(testbed, 'Another two')
      await testbed.pass(3500)
      const after = await files.lstat(report)
      t.equal(after.size, before.size)
      t.ok(after.mtimeMs > before.mtimeMs)
      t.match(await textOf(testbed, report), /Another two/)
    })

    t.test('STALE-4 a text of another size is whole at once after a touch, within the lease too', async t => {
      for (const title of ['A title that is a good deal longer than any before it, and longer', 'Short']) {
        await files.readFile(report)
        await lengthen(testbed, title)
        await files.touch('reports')
        const fresh = await files.readFile(report)
        t.equal(JSON.parse(fresh.toString()).title, title)
        t.equal((await files.lstat(report)).size, fresh.length)
      }
    })
  })

  for (const [what, passes] of [
    ['within two seconds', ({ pass }: Testbed) => pass(1500)],
    ['over a restart', ({ remount }: Testbed) => remount()],
  ] as const)
    t.test(`STALE-4 touch of a directory shows what is new there ${what}`, async t => {
      const testbed = await open(t)
      const { files, service } = testbed
      await files.readdir('projects/Water splitting')
      service.seed.addCalculation({ name: 'New', project: ids.water, files: { 'a.txt': 'new\n' } })
      await files.touch('projects/Water splitting')
      await passes(testbed)
      t.ok((await namesOf(testbed, 'projects/Water splitting')).includes('New'))
      t.equal(await textOf(testbed, 'projects/Water splitting/New/a.txt'), 'new\n')
    })
}
