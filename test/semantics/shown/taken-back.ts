// What a colleague has changed, and a program here takes back: by the date of change in it a text tells which one it was made from.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`
const titleIn = (text: string): string => JSON.parse(text).title

export function takenBack(t: Test, open: OpenTestbed): void {
  t.test('a value of before in a text that is saved', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const stored = (): Promise<string> => service.elsewhere('GET', `/report?id=${ids.report}`)
    async function colleagueSets(title: string): Promise<void> {
      const text = (await stored()).replace(/"title":"[^"]*"/, `"title":${JSON.stringify(title)}`)
      await service.elsewhere('PUT', '/report', text)
    }

    t.test('SAVE-19 what a colleague has changed is taken back beside another edit, or alone', async t => {
      for (const description of [undefined, 'Mine']) {
        await testbed.pass(3200)
        const before = titleIn(await textOf(testbed, report))
        await colleagueSets('A colleague’s')
        await testbed.pass(15_000)
        const shown = await textOf(testbed, report)
        t.match(JSON.parse(shown), { title: 'A colleague’s' })
        const back = shown.replace('A colleague’s', before)
        const mine =
          description === undefined
            ? back
            : back.replace(/"description": "[^"]*"/, `"description": "${description}"`)
        await overwrite(testbed, report, mine)
        t.match(JSON.parse(await stored()), { title: before, ...(description && { description }) })
      }
    })

    t.test('SAVE-19 an old buffer takes nothing back, although the newer text was read', async t => {
      await testbed.pass(3200)
      const old = await textOf(testbed, report)
      await colleagueSets('Another title')
      await testbed.pass(15_000)
      t.match(JSON.parse(await textOf(testbed, report)), { title: 'Another title' })
      await overwrite(
        testbed,
        report,
        old.replace(/"description": "[^"]*"/, '"description": "Of the buffer"'),
      )
      t.match(JSON.parse(await stored()), { title: 'Another title', description: 'Of the buffer' })
    })

    t.test('SAVE-19 where no date tells, a value of before beside another edit is in doubt', async t => {
      await testbed.pass(3200)
      const dateless = (text: string): string => text.replace(/,\s*"modificationDate": "[^"]*"/, '')
      const old = dateless(await textOf(testbed, report))
      await colleagueSets('A third title')
      await testbed.pass(15_000)
      await textOf(testbed, report)
      const mine = old.replace(/"description": "[^"]*"/, '"description": "Of which text?"')
      t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
      t.match(JSON.parse(await stored()), { title: 'A third title', description: 'Of the buffer' })
      await testbed.files.unlink(`.calcfs/drafts/${ids.report}.json`)
    })
  })
}
