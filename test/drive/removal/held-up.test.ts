// Removals while the service holds something up: an unmount deletes nothing that waits, and a report goes before what it lists.
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { pauseEnds, removeTree } from '../../semantics/namespace/deleting.js'
import { inProcess } from '../../testbed/in-process.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'

const calculation = 'projects/Water splitting/TS1_opt'
const report = `reports/${ids.report}.json`
const settings = { access: 'manage' }

t.test('DEL-14 names that are looked up while the drive ends delete nothing', async t => {
  const testbed = await inProcess(t, { settings })
  const { files, service } = testbed
  const text = await textOf(testbed, report)
  const held = service.hold(/^PUT/)
  const saved = overwrite(testbed, report, text.replace(/"name": "[^"]*"/, '"name": "Renamed"'))
  await held.met
  const asked = await service.during(async () => {
    await removeTree(testbed, calculation)
    const ended = testbed.remount()
    await turn()
    await testbed.pass(3_300)
    t.equal(await outcome(files.lstat(calculation)), 'ENOENT', 'it is hidden still')
    held.open()
    await Promise.all([saved, ended])
    await pauseEnds(testbed)
  })
  t.notMatch(writes(asked).join(), 'DELETE')
  t.equal(await outcome(files.lstat(calculation)), 'done', 'it is there again')
})

t.test('DEL-12 a report that goes together with a calculation of its list is deleted first', async t => {
  const testbed = await inProcess(t, { settings })
  const { files, service } = testbed
  await textOf(testbed, report)
  service.beforeAnswer(/^GET \/report\?/, 300)
  await service.sends(
    t,
    [`DELETE /report?id=${ids.report}`, `DELETE /calculation?id=${ids.transition}`],
    async () => {
      await removeTree(testbed, calculation)
      t.equal(await outcome(files.unlink(report)), 'done')
      await pauseEnds(testbed)
    },
  )
})
