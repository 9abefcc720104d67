// A text counts as unchanged only against what a program has read or saved: that it was merely stat'ed proves no intention.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type Ground, type OpenGround, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const report = `reports/${ids.report}.json`

/** The text is written to a file that the drive keeps locally, and moved over the record, as `sed -i` does. */
async function moveOver(ground: Ground, text: string): Promise<string> {
  await overwrite(ground, 'reports/sedAbCdEf', text)
  const end = await outcome(ground.files.rename('reports/sedAbCdEf', report))
  if (end !== 'done') await ground.files.unlink('reports/sedAbCdEf')
  return end
}

export function unseenTexts(t: Test, open: OpenGround): void {
  t.test('a text that a stat has met and no program has read', async t => {
    /** A program reads, another client turns the title to what the program will write, and only a stat learns of it. */
    async function met(t: Test) {
      const ground = await open(t, { settings: { ttlRecord: '1s' } })
      const { files, service } = ground
      const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)
      const before = await textOf(ground, report)
      const titled = (title: string) => before.replace(/"title": "[^"]*"/, `"title": "${title}"`)
      const elsewhere = async (title: string) =>
        service.elsewhere('PUT', '/report', (await stored()).replace(/"title":"[^"]*"/, `"title":"${title}"`))
      await elsewhere('Turned')
      await ground.pass(5_000)
      await files.lstat(report)
      return { ground, mine: titled('Turned'), elsewhere, stored }
    }

    t.test('SAVE-15 while the service is away the same text is not taken for saved', async t => {
      const { ground, mine } = await met(t)
      await ground.service.leave()
      t.match(await moveOver(ground, mine), /EHOSTUNREACH|ETIMEDOUT/)
      t.equal(await textOf(ground, report), mine, 'the text is kept')
      await ground.service.back()
    })

    t.test(
      'SAVE-15 where it was changed once more meanwhile it is a conflict, never a silent loss',
      async t => {
        const { ground, mine, elsewhere, stored } = await met(t)
        await elsewhere('Turned again')
        t.equal(await moveOver(ground, mine), 'ESTALE')
        t.match(await stored(), /"Turned again"/)
      },
    )

    t.test('SAVE-15 where the service has it already nothing is sent', async t => {
      const { ground, mine } = await met(t)
      const asked = await ground.service.during(async () => t.equal(await moveOver(ground, mine), 'done'))
      t.same(writes(asked), [])
      t.ok(
        asked.some(({ path }) => path.startsWith('/report?')),
        'but the service was asked',
      )
    })
  })
}
