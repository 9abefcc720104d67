// Programs of every kind save a report: each save is one logical update, and leaves nothing on the service.
import { join } from 'node:path'
import t from 'tap'
import type { KernelTestbed } from '../testbed/mount.js'
import { printed, shell } from '../testbed/programs.js'
import { fillSampleData, opaque } from '../testbed/sample-data.js'
import { namesOf, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { savesOnce } from './one-update.js'
import { savers } from './savers.js'

/** Each program has a report of its own: none sees what another did a second ago. */
const idOf = (at: number): string => String(300 + at)

t.setTimeout(240_000)

t.test('programs of every kind save a report', async t => {
  const testbed = await warmMount(t, {
    fill(seed) {
      fillSampleData(seed)
      for (const at of savers.keys()) {
        seed.addReport({ id: idOf(at), name: 'Report', title: 'Before', owner: 'demo', fields: opaque })
      }
    },
  })
  for (const [at, saver] of savers.entries()) {
    t.test(`${saver.name} is one update`, async t => {
      const path = `reports/${idOf(at)}.json`
      const title = `After ${saver.name}`
      const text = (await textOf(testbed, path)).replace('"Before"', JSON.stringify(title))
      const told = (): Promise<unknown> => titleOf(testbed, idOf(at))
      await savesOnce(t, testbed, saver, { path, text, due: ['PUT /report'], told, stored: title })
      t.equal(JSON.parse(await textOf(testbed, path)).title, title)
    })
  }

  t.test(
    'a text that is written in place and cut afterwards is one update, when it is JSON again',
    async t => {
      const path = 'reports/42.json'
      const { 'x-lab': _, ...record } = JSON.parse(await textOf(testbed, path))
      const text = JSON.stringify({ ...record, title: 'Shorter' })
      await testbed.service.sends(t, ['PUT /report'], async () => {
        const line = `printf %s "$0" | dd of=${path} conv=notrunc status=none; truncate -s \${#0} ${path}`
        const { stderr } = await shell(`bash -c '${line}' '${text}'`, testbed.directory)
        t.match(stderr, /closing output file.*Invalid argument/, 'dd gets the error that this is no JSON yet')
      })
      t.equal(await titleOf(testbed, '42'), 'Shorter')
    },
  )

  t.test('TIME-2 vim asks nothing where it opens the record right after another vim saved it', async t => {
    const file = join(testbed.directory, 'reports/42.json')
    const change = `%s/"title": "[^"]*"/"title": "'"$title"'"/`
    const vim = `vim -es -u NONE -i NONE -c "sleep $wait" -c '${change}' -c wq "$file" </dev/null`
    for (const wait of ['100m', '1', '2', '3'])
      for (const [at, title] of [`First of ${wait}`, `After ${wait}`].entries()) {
        await printed('bash', ['-c', vim], { environment: { file, title, wait: at === 0 ? '1m' : wait } })
        t.equal(await titleOf(testbed, '42'), title)
      }
  })

  t.test('two seconds later nothing is left that should not stay, here or on the service', async t => {
    await testbed.service.sends(t, [], () => testbed.pass(2500))
    const ids = ['42', ...savers.map((_, at) => idOf(at))]
    const kept = savers.flatMap(({ keeps = [] }, at) =>
      keeps.map(form => form.replace('%', `${idOf(at)}.json`)),
    )
    const expected = [
      ...ids,
      ...ids.map(id => `${id}.json`),
      ...kept,
      'INDEX.tsv',
      'README.txt',
      'by-name',
    ].sort()
    t.same(await namesOf(testbed, 'reports'), expected)
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  })
})

async function titleOf({ service }: KernelTestbed, id: string): Promise<unknown> {
  return JSON.parse(await service.elsewhere('GET', `/report?id=${id}`)).title
}
