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
  t.test('a text that a program moves away and back, as cp -b and mv -b do when the save fails', async t => {
    const shares = 'projects/Water splitting/.shares'

    /** The old file becomes the backup, the new text is refused, and the backup comes back. */
    async function writeWithBackup(testbed: Testbed, path: string, text: string): Promise<string> {
      const { files } = testbed
      await files.rename(path, `${path}~`)
      const end = await outcome(overwrite(testbed, path, text))
      if (end === 'done') await files.unlink(`${path}~`)
      else await files.rename(`${path}~`, path)
      return end
    }

    /** A program has read the record, another client changes its title, and its own text changes it too. */
    async function between(t: Test, path: string) {
      const testbed = await open(t, { settings: { ttlRecord: '1s' } })
      const { service } = testbed
      const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)
      const mine = await mineOf(testbed, path)
      await service.elsewhere('PUT', '/report', retitled(await stored(), 'Theirs'))
      return { testbed, mine, stored }
    }

    async function mineOf(testbed: Testbed, path: string): Promise<string> {
      return retitled(await textOf(testbed, path), 'Mine')
    }

    t.test(
      'STALE-1 it is no sign that its program has seen it: the next try is a conflict still',
      async t => {
        const { testbed, mine, stored } = await between(t, report)
        const asked = await testbed.service.during(async () => {
          for (let tries = 0; tries < 4; tries += 1) {
            t.equal(await writeWithBackup(testbed, report, mine), 'ESTALE')
            await testbed.pass(2500)
          }
        })
        t.same(writes(asked), [])
        t.match(await stored(), /"Theirs"/)
        t.match(await textOf(testbed, report), /"Theirs"/)
        t.equal(await writeWithBackup(testbed, report, mine), 'done', 'after it was read')
        t.match(await stored(), /"Mine"/)
      },
    )

    t.test('STALE-1 nor is it after a remount', async t => {
      const { testbed, mine, stored } = await between(t, report)
      const { files } = testbed
      await testbed.pass(5000)
      await files.rename(report, `${report}~`)
      await testbed.remount()
      await files.rename(`${report}~`, report)
      t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
      t.match(await stored(), /"Theirs"/)
    })

    t.test('SAVE-7 a text read under the other name counts as seen', async t => {
      const { testbed, mine, stored } = await between(t, report)
      const { files } = testbed
      await testbed.pass(5000)
      await files.rename(report, `${report}~`)
      t.match(await textOf(testbed, `${report}~`), /"Theirs"/)
      await files.rename(`${report}~`, report)
      await overwrite(testbed, report, mine)
      t.match(await stored(), /"Mine"/)
    })

    t.test('SAVE-7 a backup that takes a save back is an edit', async t => {
      const testbed = await open(t)
      const { files, service } = testbed
      const mine = await mineOf(testbed, report)
      await files.rename(report, `${report}~`)
      await overwrite(testbed, report, mine)
      const asked = await service.during(() => files.rename(`${report}~`, report))
      t.same(writes(asked), ['PUT /report'])
      const again = await service.during(() => overwrite(testbed, report, mine))
      t.same(writes(again), ['PUT /report'])
    })

    t.test('STALE-1 so it is through the name that a share was made with', async t => {
      const testbed = await open(t, { settings: { ttlListing: '1s' } })
      const { service } = testbed
      const path = `${shares}/new-guest.json`
      const text = (permission: string) => JSON.stringify({ user: 'guest', permission })
      await overwrite(testbed, path, text('READ'))
      const { shareId } = JSON.parse(await textOf(testbed, path))
      const share = async () => service.elsewhere('GET', `/project/share?id=${ids.water}`)
      await service.elsewhere('PUT', '/project/share', JSON.stringify({ shareId, permission: 'FULLACCESS' }))
      for (let tries = 0; tries < 4; tries += 1) {
        t.equal(await writeWithBackup(testbed, path, text('WRITE')), 'ESTALE')
        await testbed.pass(2500)
      }
      t.match(await share(), /FULLACCESS/)
    })
  })
}

const retitled = (text: string, title: string): string =>
  text.replace(/"title":( ?)"[^"]*"/, `"title":$1"${title}"`)
