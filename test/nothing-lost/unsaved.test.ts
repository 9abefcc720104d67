// An unsaved text over the end of its daemon: it is said, shown at the next mount, adopted from a killed one, and found to be stored.
import { join } from 'node:path'
import t from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { realMount } from '../testbed/mount.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, type Testbed, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const report = `reports/${ids.report}.json`
const draft = `.calcfs/drafts/${ids.report}.json`

t.jobs = 3

const retitled = async (testbed: Testbed, title: string): Promise<string> =>
  (await textOf(testbed, report)).replace(/"title": "[^"]*"/, `"title": "${title}"`)

const storedTitle = async ({ service }: Testbed): Promise<string> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title

t.test(
  'CLI-22 unsent at the unmount: it says so, ends with 7, and the text is there at the next mount',
  async t => {
    const testbed = await realMount(t)
    const text = await retitled(testbed, 'Unsent')
    const mend = testbed.service.refuse(/^PUT \/report$/, 500)
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
    t.equal(await textOf(testbed, draft), text)
    t.equal(await outcome(overwrite(testbed, report, text)), 'done')
    t.equal(await storedTitle(testbed), 'Unsent')
    t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
  },
)

t.test('STATE-1 each mount shows what both keep; the next one adopts what a killed one leaves', async t => {
  const one = await realMount(t)
  const { service, home } = one
  const broken = '{"title": "not JSON'
  await overwrite(one, report, await retitled(one, 'Saved by one'))
  t.equal(await outcome(overwrite(one, report, broken)), 'EINVAL')
  const other = await realMount(t, {}, { service, home })

  t.ok((await namesOf(other, 'reports')).includes(`${ids.report}.json`), 'a report that the first one knows')
  t.equal(await textOf(other, draft), broken, 'the text that it has not saved')
  t.match(await textOf(other, `${draft}.why`), /not JSON/)
  t.match((await other.here('drafts', 'list')).stdout, `${ids.report}.json`)
  for (const how of ['send', 'diff', 'drop'])
    t.match(await other.here('drafts', how, String(ids.report)), {
      code: 1,
      stderr: /42\.json waits on another mount of yours, in process \d+: calcfs status says which that is/,
    })
  const history = await other.calcfs('history', join(other.directory, report))
  t.match(history.stdout, new RegExp(`saved by ${one.directory}`))
  t.match(await textOf(other, report), 'Saved by one', 'the record is shown as it is stored')
  t.not(await outcome(other.files.unlink(draft)), 'done', 'it is not given up here')
  t.equal(await textOf(one, report), broken, 'on its own mount it is shown in its place')

  await one.kill9()
  const left = { code: 7, stdout: /^42\.json: .*\n +It was left by a mount that has ended/ }
  t.match(await other.here('drafts', 'list'), left)
  await other.remount()
  t.equal(await textOf(other, report), broken, 'it is adopted')
  await other.files.unlink(draft)
  await until(5_000, 'it is given up', async () => (await textOf(other, report)).includes('Saved by one'))
  t.same(await namesOf(other, '.calcfs/drafts'), [])
})

t.test('SAVE-16 a draft that is found to be stored goes on under the programs that have it open', async t => {
  const testbed = await inProcess(t, { settings: { deadlineSave: '2s' } })
  const { files, service } = testbed
  const text = await retitled(testbed, 'Sent before')
  // It is stored, and the answer is lost.
  let isCut = false
  const cut = service.intercept(/^(GET|PUT) \/report\?|^PUT \/report$/, async (response, { carryOut }) => {
    const isPut = service.heard.at(-1)?.method === 'PUT'
    const answer = await carryOut()
    isCut ||= isPut
    if (isCut) response.destroy()
    else answer()
  })
  t.not(await outcome(overwrite(testbed, report, text)), 'done')
  cut()
  const held = service.hold(/^GET \/report\?/, 'request')
  const up = testbed.remount()
  await held.met
  const file = await files.open(report, 'r+')
  held.open()
  await up
  t.equal((await file.read(text.length, 0)).toString(), text, 'what is read of it')
  const next = text.replace('Sent before', 'Then afters')
  await file.write(next.slice(0, 90), 0)
  t.equal(await outcome(file.close()), 'done')
  t.equal(await storedTitle(testbed), 'Then afters')
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
})
