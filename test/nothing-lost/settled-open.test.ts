// After a restart the service is found to have an unsaved text: a program that has the file open by then loses nothing of it.
import t from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'

const report = `reports/${ids.report}.json`

t.test('SAVE-16 a draft that is found to be stored goes on under the programs that have it open', async t => {
  const testbed = await inProcess(t, { settings: { deadlineSave: '2s' } })
  const { files, service } = testbed
  const text = (await textOf(testbed, report)).replace(/"title": "[^"]*",\n/, '"title": "Sent before",\n')
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
  t.equal(JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`)).title, 'Then afters')
  t.same(await namesOf(testbed, '.calcfs/drafts'), [])
})
