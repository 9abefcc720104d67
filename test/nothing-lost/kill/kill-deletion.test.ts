// kill -9 while something is being deleted, or when a new report's answer was lost: nothing goes, and nothing is made, behind the user's back.
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { outcome, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { sceneOn } from './scene.js'

const report = `reports/${ids.report}.json`
const remove = /^DELETE \/report\?/
const calculation = 'projects/Water splitting/No geometry'
/** Longer than the pause after which an unlinked report is deleted. */
const pastThePause = 3600

t.setTimeout(240_000)

t.test('kill -9 while something is deleted', async t => {
  const testbed = await realMount(t, { settings: { access: 'manage' } })
  const { files, service } = testbed
  async function killed(reach: () => Promise<unknown>, wait = 300): Promise<string[]> {
    const sent = await service.during(async () => {
      await reach()
      await testbed.kill9()
      await testbed.mount()
      await testbed.pass(wait)
    })
    return writes(sent)
  }

  async function killedDuring(when: 'before' | 'after', path: string): Promise<string[]> {
    const scene = sceneOn(testbed)
    const sent = await killed(async () => {
      const reached = scene.held(remove, when)
      await files.unlink(path)
      await reached
    })
    await scene.cleanUp()
    return sent
  }

  await t.test('during the DELETE, before the service has it: it is not sent again', async t => {
    t.same(await killedDuring('before', report), [`DELETE /report?id=${ids.report}`])
    t.match(await service.elsewhere('GET', `/report?id=${ids.report}`), 'Supporting information')
    t.match(await textOf(testbed, report), /Supporting information/)
  })

  await t.test('in the middle of rm -r of a calculation: nothing was deleted', async t => {
    const sent = await killed(async () => {
      for (const name of (await files.readdir(calculation)).keys())
        await files.unlink(`${calculation}/${name}`)
      t.same([...(await files.readdir(calculation)).keys()], [])
    })
    t.same(sent, [])
    t.equal(await textOf(testbed, `${calculation}/job.mop`), 'PM7\n')
  })

  await t.test(
    'in the pause after rm of a report and rm -r of a calculation: both are there, and stay',
    async t => {
      const sent = await killed(async () => {
        await files.unlink(report)
        for (const name of (await files.readdir(calculation)).keys())
          await files.unlink(`${calculation}/${name}`)
        await files.rmdir(calculation)
        t.equal(await outcome(files.lstat(calculation)), 'ENOENT')
      }, pastThePause)
      t.same(sent, [])
      t.match(await textOf(testbed, report), /Supporting information/)
      t.equal(await textOf(testbed, `${calculation}/job.mop`), 'PM7\n')
    },
  )

  await t.test('after the service has carried the DELETE out: it is gone', async t => {
    const other = `reports/${ids.profile}.json`
    await textOf(testbed, other)
    t.same(await killedDuring('after', other), [`DELETE /report?id=${ids.profile}`])
    const isGone = async () => (await outcome(files.lstat(other))) === 'ENOENT'
    await until(60_000, 'a listing shows that it is gone', isGone)
  })
})
