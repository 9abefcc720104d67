// Promises of `calcfs drafts` and `calcfs report` about special cases: an unsent order, a new report, a list that is not shown.
import t, { type Test } from 'tap'
import type { KernelTestbed } from '../../testbed/mount.js'
import { writes } from '../../testbed/service.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 3

const reportOf = async (
  { service }: KernelTestbed,
  id: string,
): Promise<{ configuration: string; calculations: { calcId: number }[] }> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))

t.test('a report that is named to a command right after its file was removed stays (DEL-14)', async t => {
  const testbed = await warmMount(t, { settings: { access: 'manage' } })
  const { calculations } = await reportOf(testbed, '42')
  const same = calculations.map(row => String(row.calcId))
  // The first command of a name is a process, which may begin later than the burst ends.
  await testbed.here('report', 'add', '43')
  for (const args of [
    ['add', '42'],
    ['set', '42', ...same],
  ]) {
    await testbed.service.sends(t, [], args.join(' '), async () => {
      await testbed.files.unlink('reports/42.json')
      t.match(await testbed.here('report', ...args), { code: 0 })
      await testbed.pass(4_000)
    })
    t.match(await textOf(testbed, 'reports/42.json'), /"id": 42/)
  }
})

/** A new report whose POST was carried out, and whose answer was lost. */
async function withLostPost(t: Test): Promise<KernelTestbed> {
  const testbed = await warmMount(t)
  const well = testbed.service.lose(/^POST \/report/)
  t.equal(await outcome(overwrite(testbed, 'reports/new-x.json', '{"title":"X","reportType":"1"}')), 'EIO')
  well()
  return testbed
}

t.test(
  'a new report whose outcome is unknown is sent again with --again alone, and says what may come of it (CLI-8)',
  async t => {
    const testbed = await withLostPost(t)
    await testbed.service.sends(t, [], async () => {
      const refused = await testbed.here('drafts', 'send', 'new-x')
      t.match(refused, { code: 1, stderr: /whether it was made.*calcfs drafts send --again new-x.json/ })
      t.match(await testbed.here('drafts', 'send', '--all'), { code: 7 }, 'nor with all the others')
    })
    const why = await testbed.here('drafts', 'show', 'new-x.json.why')
    t.match(why.stdout, /calcfs drafts drop new-x\.json.*calcfs drafts send --again new-x\.json/)
    await testbed.service.sends(t, ['POST /report'], async () => {
      const sent = await testbed.here('drafts', 'send', '--again', 'new-x')
      t.match(sent, { code: 0, stdout: /is saved; check whether there are two of it now/ })
    })
    t.match(await testbed.here('drafts', 'list'), { code: 0 })
  },
)

t.test('a new report that is found to be there is dropped, and nothing is sent (CLI-10)', async t => {
  const testbed = await withLostPost(t)
  t.match((await testbed.here('drafts', 'diff', 'new-x')).stdout, /^--- nothing: it is not on the service/m)
  await testbed.service.sends(t, [], async () => {
    t.match(await testbed.here('drafts', 'drop', 'new-x'), { code: 0, stdout: /its text lies in/ })
  })
  t.match(await testbed.here('drafts', 'list'), { code: 0, stdout: 'everything is saved.\n' })
})

t.test('a list that the service never shows is set by the command alone (CLI-13)', async t => {
  const testbed = await warmMount(t)
  testbed.service.answer(/^GET \/report\?id=42/, '{"id":42,"name":"Supporting","reportType":"1"}')
  const text = await textOf(testbed, 'reports/42.json')
  const written = text.replace('{', '{"calculations":[1234],')
  t.equal(await outcome(overwrite(testbed, 'reports/42.json', written)), 'EINVAL')
  const why = await testbed.here('why', 'reports/42.json')
  t.match(why.stdout, /calcfs report set 42 ID…/, 'the refused save names the command')
  const sent = await testbed.service.during(async () => {
    const set = await testbed.here('report', 'set', '42', '1236', '1235')
    t.match(set, {
      code: 0,
      stdout: 'report 42 has 1236, 1235; the service took it, but does not show the list.\n',
    })
  })
  t.same(writes(sent), ['PUT /report/calculations'])
  t.match(sent.find(({ method }) => method === 'PUT')?.body, /"1236,1235"/)
})
