// Two daemons of one account: each shows what both keep, and an ended one's drafts are adopted.
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../testbed/mount.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

t.setTimeout(240_000)

t.test('STATE-1 each mount shows what both keep; the next one adopts what a killed one leaves', async t => {
  const one = await realMount(t)
  const { service, home } = one
  const broken = '{"title": "not JSON'
  const path = `reports/${ids.report}.json`
  const draft = `.calcfs/drafts/${ids.report}.json`
  const stored = (await textOf(one, path)).replace(/"title": "[^"]*"/, '"title": "Saved by one"')
  await overwrite(one, path, stored)
  t.equal(await outcome(overwrite(one, path, broken)), 'EINVAL')
  const other = await realMount(t, {}, { service, home })

  t.ok((await namesOf(other, 'reports')).includes(`${ids.report}.json`), 'a report that the first one knows')
  t.equal(await textOf(other, draft), broken, 'the text that it has not saved')
  t.match(await textOf(other, `${draft}.why`), /not JSON/)
  t.match((await other.calcfs('drafts', 'list', '--mount', other.directory)).stdout, `${ids.report}.json`)
  for (const how of ['send', 'diff', 'drop'])
    t.match(await other.calcfs('drafts', how, String(ids.report), '--mount', other.directory), {
      code: 1,
      stderr: /42\.json waits on another mount of yours, in process \d+: calcfs status says which that is/,
    })
  const history = await other.calcfs('history', join(other.directory, path))
  t.match(history.stdout, new RegExp(`saved by ${one.directory}`))
  t.match(await textOf(other, path), 'Saved by one', 'the record is shown as it is stored')
  t.not(await outcome(other.files.unlink(draft)), 'done', 'it is not given up here')
  t.equal(await textOf(one, path), broken, 'on its own mount it is shown in its place')

  await one.kill9()
  await other.remount()
  t.equal(await textOf(other, path), broken, 'it is adopted')
  await other.files.unlink(draft)
  await until(5_000, 'it is given up', async () => (await textOf(other, path)).includes('Saved by one'))
  t.same(await namesOf(other, '.calcfs/drafts'), [])
})
