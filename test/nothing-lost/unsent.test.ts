// An edit that is unsent at the unmount: it is said, and the text is there at the next mount.
import t from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { ids } from '../testbed/sample-data.js'
import { outcome, overwrite, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const report = `reports/${ids.report}.json`
const put = /^PUT \/report$/

t.setTimeout(120_000)

t.test(
  'CLI-22 unsent at the unmount: it says so, ends with 7, and the text is there at the next mount',
  async t => {
    const testbed = await realMount(t)
    const text = await retitled(testbed, 'Unsent')
    const mend = testbed.service.refuse(put, 500)
    t.equal(await outcome(overwrite(testbed, report, text)), 'EIO')
    mend()
    t.match(await testbed.calcfs('unmount', testbed.directory), {
      code: 7,
      stderr: /unmounted, but not saved on the service: report 42; the texts are kept in .*\/drafts/,
    })
    await testbed.mount()
    const told = /one edit of an earlier mount is not saved yet: calcfs drafts list/
    await until(10_000, 'the log tells of it', async () => told.test(await testbed.log()))
    t.equal(await textOf(testbed, report), text)
    t.equal(await testbed.terminate(), 7, 'so does the daemon when a signal ends it')
    t.match(await testbed.log(), /not saved on the service: report 42/)
    await testbed.mount()
    t.equal(await textOf(testbed, `.calcfs/drafts/${ids.report}.json`), text)
    t.equal(await outcome(overwrite(testbed, report, text)), 'done')
    t.equal(JSON.parse(await stored(testbed)).title, 'Unsent')
    t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
  },
)

const stored = ({ service }: MountTestbed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)

const retitled = async (testbed: MountTestbed, title: string): Promise<string> =>
  (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, `"title": "${title}",\n`)
