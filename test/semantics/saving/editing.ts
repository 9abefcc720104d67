// A save is what the program means by it: one logical update, the fewest requests, and nothing a user wrote is lost.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const report = `reports/${ids.report}.json`

interface Report {
  title: string
  calculations: { calcId: number }[]
}

const recordOf = async (testbed: Testbed): Promise<Report> => JSON.parse(await textOf(testbed, report))
const stored = async ({ service }: Testbed): Promise<string> =>
  service.elsewhere('GET', `/report?id=${ids.report}`)
const retitled = async (testbed: Testbed, title: string): Promise<string> =>
  (await textOf(testbed, report)).replace(/"title": "[^"]*",\n {2}"desc/, `"title": "${title}",\n  "desc`)

export function editing(t: Test, open: OpenTestbed): void {
  t.test('saving a report', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('SAVE-1 a changed field goes out as one PUT of the whole record', async t => {
      const text = await retitled(testbed, 'New title')
      await service.sends(t, ['PUT /report'], () => overwrite(testbed, report, text))
      t.match(JSON.parse(await stored(testbed)), { title: 'New title', name: 'Supporting' })
      t.match(await stored(testbed), /"weight":0\.10,"serial":12345678901234567890/, 'SAVE-2 digit for digit')
    })

    t.test('SAVE-1 the file shows at once what the service has stored', async t => {
      t.equal((await recordOf(testbed)).title, 'New title')
      t.equal(await textOf(testbed, report), await freshText(testbed))
    })

    t.test('ORDER-1 the list in another order is exactly one PUT of the list', async t => {
      const record = await recordOf(testbed)
      record.calculations.reverse()
      const text = JSON.stringify(record)
      await service.sends(t, ['PUT /report/calculations'], () => overwrite(testbed, report, text))
      t.same(
        (await recordOf(testbed)).calculations.map(row => String(row.calcId)),
        [ids.bare, ids.product, ids.transition],
      )
    })

    t.test('SAVE-5 an unchanged text sends nothing, and white space alone is no change', async t => {
      const text = await textOf(testbed, report)
      for (const one of [text, text.replace(/\n */g, ' ')])
        await service.sends(t, [], () => overwrite(testbed, report, one))
      t.match(await textOf(testbed, report), /\n {2}"title"/, 'and the file is shown as always')
    })

    t.test('SAVE-7 a record that was unlinked is back after the pause; the service has it still', async t => {
      await service.sends(t, [], async () => {
        await files.unlink(report)
        t.equal(await outcome(files.lstat(report)), 'ENOENT')
        await testbed.pass(3200)
        t.equal((await recordOf(testbed)).title, 'New title')
      })
    })

    t.test('SAVE-5 fsync sends nothing', async t => {
      const text = await retitled(testbed, 'Synced')
      const file = await files.open(report, 'w')
      await service.sends(t, [], async () => {
        await file.write(text, 0)
        await file.sync()
      })
      await file.close()
      t.equal(JSON.parse(await stored(testbed)).title, 'Synced')
    })

    t.test(
      'DRAFT-9 a text that is given up while it is open is not saved, and its close says so',
      async t => {
        const text = await retitled(testbed, 'Given up')
        const file = await files.open(report, 'w')
        await file.write(text, 0)
        await files.unlink(`.calcfs/drafts/${ids.report}.json`)
        await service.sends(t, [], async () => t.equal(await outcome(file.close()), 'ESTALE'))
        await testbed.pass(3200)
        t.notMatch(await textOf(testbed, report), 'Given up')
        await overwrite(testbed, report, text)
        t.equal((await recordOf(testbed)).title, 'Given up', 'saved again, it is stored')
      },
    )

    t.test(
      'SAVE-21 a file that was moved over a record takes no more bytes, one of its name does',
      async t => {
        const file = await files.open('reports/a.tmp', 'w')
        await file.write(await textOf(testbed, report), 0)
        await files.rename('reports/a.tmp', 'reports/b.tmp')
        await service.sends(t, [], () => files.rename('reports/b.tmp', report))
        t.equal(await outcome(file.write('more', 0)), 'ESTALE')
        await file.close()
        await files.rename(report, 'reports/b.tmp')
        await overwrite(testbed, 'reports/b.tmp', 'another')
        t.equal(await textOf(testbed, 'reports/b.tmp'), 'another')
      },
    )

    t.test('TIME-2 the wording of the service after the own one has the time of that', async t => {
      await testbed.pass(3200)
      const text = JSON.stringify(JSON.parse(await retitled(testbed, 'In other words')))
      await overwrite(testbed, report, text)
      // An editor that opens it at once reads what was written, and looks at its time.
      const file = await files.open(report, 'r')
      const { mtimeMs } = await files.lstat(report)
      await file.close()
      await testbed.pass(3200)
      const now = await textOf(testbed, report)
      t.not(now, text)
      t.equal((await files.lstat(report)).mtimeMs, mtimeMs)
      t.match(now, 'In other words')
    })

    t.test('TIME-2 the time of a record grows with every change of its text', async t => {
      const before = (await files.lstat(report)).mtimeMs
      await testbed.pass(10)
      await overwrite(testbed, report, await retitled(testbed, 'Later'))
      t.ok((await files.lstat(report)).mtimeMs > before)
    })

    t.test('SAVE-5 an empty text is never saved', async t => {
      await service.sends(t, [], async () => {
        await overwrite(testbed, report, '')
        await until(6000, 'the text is shown again', async () => (await files.lstat(report)).size > 0)
      })
      t.equal((await recordOf(testbed)).title, 'Later')
    })
  })

  t.test('saves that fail', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const drafts = () => namesOf(testbed, '.calcfs/drafts')

    t.test('DRAFT-2 a draft whose file is only emptied stays', async t => {
      const before = await textOf(testbed, report)
      const mine = '{"id": 42,\n "title": "mine", }\n'
      t.equal(await outcome(overwrite(testbed, report, mine)), 'EINVAL')
      for (const emptied of [() => overwrite(testbed, report, ''), () => files.truncate(report, 0)]) {
        await emptied()
        await until(6000, 'the text is shown again', async () => (await textOf(testbed, report)) === mine)
        t.match(await drafts(), [`${ids.report}.json`, `${ids.report}.json.why`])
      }
      await testbed.remount()
      t.equal(await textOf(testbed, report), mine)
      t.equal(await outcome(overwrite(testbed, report, before)), 'done')
      t.same(await drafts(), [])
    })

    t.test('DRAFT-2 a draft that was emptied, and over which a text was moved, is over', async t => {
      const before = await textOf(testbed, report)
      t.equal(await outcome(overwrite(testbed, report, '{')), 'EINVAL')
      await overwrite(testbed, report, '')
      await overwrite(testbed, `${report}.tmp`, before)
      await files.rename(`${report}.tmp`, report)
      await overwrite(testbed, report, '')
      await until(6000, 'the record is shown', async () => (await textOf(testbed, report)) !== '')
      t.equal(await textOf(testbed, report), before)
      t.same(await drafts(), [])
    })

    t.test(
      'DRAFT-1 a text that is no JSON is EINVAL; nothing is sent, the text stays with its why',
      async t => {
        const broken = '{"id": 42,\n "title": }\n'
        await service.sends(t, [], async () => {
          t.equal(await outcome(overwrite(testbed, report, broken)), 'EINVAL')
        })
        t.same(await drafts(), [`${ids.report}.json`, `${ids.report}.json.why`])
        t.equal(await textOf(testbed, `.calcfs/drafts/${ids.report}.json`), broken)
        t.match(await textOf(testbed, `.calcfs/drafts/${ids.report}.json.why`), /line 2/)
      },
    )

    t.test('DRAFT-2 saved right, it is stored and the draft is gone', async t => {
      const whole = JSON.stringify({ ...JSON.parse(await stored(testbed)), title: 'Mended' })
      await service.sends(t, ['PUT /report'], () => overwrite(testbed, report, whole))
      t.same(await drafts(), [])
      t.equal((await recordOf(testbed)).title, 'Mended')
    })

    t.test(
      'DRAFT-1 another id, an unknown calculation and an unknown type are refused before anything is sent',
      async t => {
        const record = JSON.parse(await stored(testbed))
        const wrong = [
          { ...record, id: 43 },
          { ...record, calculations: [{ calcId: 999999 }] },
          { ...record, reportType: 77 },
          [record],
        ]
        for (const one of wrong) {
          await service.sends(t, [], async () => {
            t.equal(await outcome(overwrite(testbed, report, JSON.stringify(one))), 'EINVAL')
          })
        }
        await overwrite(testbed, report, JSON.stringify(record))
        t.same(await drafts(), [])
      },
    )

    t.test(
      'STALE-1 the same field changed by two is ESTALE; both texts lie side by side, nothing is sent',
      async t => {
        const mine = await retitled(testbed, 'Mine')
        await testbed.service.elsewhere('PUT', '/report', await changedTo(testbed, { title: 'Theirs' }))
        await service.sends(t, [], async () => {
          t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
        })
        t.same(await drafts(), [`${ids.report}.json`, `${ids.report}.json.why`, `${ids.report}.theirs.json`])
        t.match(await textOf(testbed, `.calcfs/drafts/${ids.report}.theirs.json`), /"title": "Theirs"/)
        t.equal(JSON.parse(await stored(testbed)).title, 'Theirs')
      },
    )

    t.test('STALE-1 a program that has read the other text may insist on its own', async t => {
      const mine = await textOf(testbed, report)
      t.match(JSON.parse(mine), { title: 'Mine' }, 'the file shows the text that was not saved')
      await overwrite(testbed, report, mine)
      t.equal(JSON.parse(await stored(testbed)).title, 'Mine')
      t.same(await drafts(), [])
    })

    t.test('STALE-2 different fields changed by two are both kept', async t => {
      await overwrite(testbed, report, await stored(testbed))
      await testbed.pass(3200)
      const mine = await retitled(testbed, 'My title')
      await service.elsewhere('PUT', '/report', await changedTo(testbed, { description: 'Their words' }))
      await service.sends(t, ['PUT /report'], () => overwrite(testbed, report, mine))
      t.match(JSON.parse(await stored(testbed)), { title: 'My title', description: 'Their words' })
    })

    t.test('STALE-1 a save refused in part takes back no change that came before the refusal', async t => {
      const record = { ...(await recordOf(testbed)), title: 'Mine' }
      record.calculations.reverse()
      const mend = service.intercept(/^PUT \/report$/, async response => {
        await service.elsewhere('PUT', '/report', await changedTo(testbed, { title: 'Theirs' }))
        response.writeHead(403).end()
      })
      const save = () => outcome(overwrite(testbed, report, JSON.stringify(record)))
      t.equal(await save(), 'EACCES')
      mend()
      t.equal(await save(), 'ESTALE')
      t.equal(JSON.parse(await stored(testbed)).title, 'Theirs')
    })
  })
}

const changedTo = async (testbed: Testbed, fields: Record<string, string>): Promise<string> =>
  Object.entries(fields).reduce(
    (text, [name, value]) =>
      text.replace(new RegExp(`"${name}":"[^"]*"`), `"${name}":${JSON.stringify(value)}`),
    await stored(testbed),
  )

/** The text a drive that knows nothing would show. */
async function freshText(testbed: Testbed): Promise<string> {
  await testbed.pass(15_000 * Number(testbed.name === 'in-process'))
  return textOf(testbed, report)
}
