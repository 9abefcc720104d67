// Two daemons of one account: saves of one record at the same moment lose no text, each shows what both keep, and an ended one's drafts are adopted.
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { editorOn, storedAs } from './editors.js'

const pairs = Number(process.env['CALCFS_PAIRS'] ?? 20)

t.setTimeout(570_000)

/** All texts that the account keeps. */
function keptTexts(home: string): string {
  const found = readdirSync(join(home, 'state'), { recursive: true, withFileTypes: true })
  const files = found.filter(entry => entry.isFile() && /\/(texts|drafts)(\/|$)/.test(entry.parentPath))
  return files.map(entry => readFileSync(join(entry.parentPath, entry.name), 'utf8')).join('\n')
}

t.test('STATE-1 two mounts of an account save one record at the same moment: no text is lost', async t => {
  const one = await realMount(t)
  const { service, home } = one
  const other = await realMount(t, { settings: { ttlListing: '300ms' } }, { service, home })
  // A round trip in which the other mount can come between.
  service.intercept(/^(GET|PUT) \/report/, async (_response, { carryOut }) => {
    const answer = await carryOut()
    await new Promise(wake => setTimeout(wake, 15))
    answer()
  })
  const seen = new Map<string, number>()
  for (let pair = 0; pair < pairs; pair++) {
    const id = service.seed.addReport({ id: `${1000 + pair}`, name: 'R', title: 't', owner: 'demo' })
    const [mine, theirs] = [await editorOn(one, id), await editorOn(other, id)]
    mine.edit('title', `mine ${pair}.`)
    theirs.edit(pair % 2 === 0 ? 'title' : 'description', `theirs ${pair}.`)
    const ends = await Promise.all([mine.save(), theirs.save()])
    for (const end of ends) t.match(end, /^(done|ESTALE|EIO)$/)
    seen.set(ends.join(), (seen.get(ends.join()) ?? 0) + 1)
    const texts = JSON.stringify(await storedAs(service, id)) + keptTexts(home)
    for (const word of [`mine ${pair}.`, `theirs ${pair}.`]) t.ok(texts.includes(word), `${word} is kept`)
    for (const testbed of [one, other]) await outcome(testbed.files.unlink(`.calcfs/drafts/${id}.json`))
  }
  t.comment(JSON.stringify([...seen]))
})

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
      stderr: /42\.json waits on another mount of yours, in process \d+: calcfs mounts says which that is/,
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
