// A text counts as unchanged only against what a program has read or saved: that it was merely stat'ed proves no intention.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`

/** The text is written to a file that the drive keeps locally, and moved over the record, as `sed -i` does. */
async function moveOver(testbed: Testbed, text: string): Promise<string> {
  await overwrite(testbed, 'reports/sedAbCdEf', text)
  const end = await outcome(testbed.files.rename('reports/sedAbCdEf', report))
  if (end !== 'done') await testbed.files.unlink('reports/sedAbCdEf')
  return end
}

export function unseenTexts(t: Test, open: OpenTestbed): void {
  t.test('a text that a stat has met and no program has read', async t => {
    /** A program reads, another client turns the title to what the program will write, and only a stat learns of it. */
    async function met(t: Test) {
      const testbed = await open(t, { settings: { ttlRecord: '1s' } })
      const { files, service } = testbed
      const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)
      const before = await textOf(testbed, report)
      const titled = (title: string) => before.replace(/"title": "[^"]*"/, `"title": "${title}"`)
      const elsewhere = async (title: string) =>
        service.elsewhere('PUT', '/report', (await stored()).replace(/"title":"[^"]*"/, `"title":"${title}"`))
      await elsewhere('Turned')
      await testbed.pass(5_000)
      await files.lstat(report)
      return { ground: testbed, mine: titled('Turned'), elsewhere, stored }
    }

    t.test('SAVE-15 while the service is away the same text is not taken for saved', async t => {
      const { ground: testbed, mine } = await met(t)
      await testbed.service.leave()
      t.match(await moveOver(testbed, mine), /EHOSTUNREACH|ETIMEDOUT/)
      t.equal(await textOf(testbed, report), mine, 'the text is kept')
      await testbed.service.back()
    })

    t.test(
      'SAVE-15 where it was changed once more meanwhile it is a conflict, never a silent loss',
      async t => {
        const { ground: testbed, mine, elsewhere, stored } = await met(t)
        await elsewhere('Turned again')
        t.equal(await moveOver(testbed, mine), 'ESTALE')
        t.match(await stored(), /"Turned again"/)
      },
    )

    t.test('SAVE-15 where the service has it already nothing is sent', async t => {
      const { ground: testbed, mine } = await met(t)
      const asked = await testbed.service.during(async () => t.equal(await moveOver(testbed, mine), 'done'))
      t.same(writes(asked), [])
      t.ok(
        asked.some(({ path }) => path.startsWith('/report?')),
        'but the service was asked',
      )
    })
  })
}
