// Doubtful outcomes and intents: nothing doubtful counts as done or as meant.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const water = 'projects/Water splitting'
const report = `reports/${ids.report}.json`

export function doubts(t: Test, open: OpenTestbed): void {
  t.test('SAVE-19 an old text takes nothing back where the service leaves its date as it was', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const date = '"modificationDate":"2026-01-02T03:04:05Z"'
    service.answer(/^GET \/report\?/, async ({ path }) =>
      (await service.elsewhere('GET', path)).replace(/"modificationDate":"[^"]*"/, date),
    )
    const old = await textOf(testbed, report)
    await service.edit('report', ids.report, { title: 'Theirs' })
    await testbed.files.touch('reports')
    await testbed.pass(3200)
    t.match(await textOf(testbed, report), '"Theirs"')
    for (const text of [old, old.replace('"description": ""', '"description": "Of what is shown"')])
      await service.sends(t, [], async () =>
        t.equal(await outcome(overwrite(testbed, report, text)), 'ESTALE'),
      )
  })

  t.test('what others do meanwhile', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { files, service } = testbed
    const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)

    t.test('STALE-2 what others change while a log-in is made for a save is not overwritten', async t => {
      const calculation = `${water}/TS1_opt/.calculation.json`
      for (const [path, put, get] of [
        [report, '/report', `/report?id=${ids.report}`],
        [calculation, '/calculation', `/calculation?id=${ids.transition}`],
      ] as const) {
        await testbed.pass(3200)
        await files.touch(path.slice(0, path.lastIndexOf('/')))
        const text = await textOf(testbed, path)
        let refusals = 0
        const mend = service.intercept(new RegExp(`^PUT ${put}$`), async (response, { carryOut }) => {
          refusals += 1
          if (refusals > 1) return (await carryOut())()
          const theirs = await service.elsewhere('GET', get)
          await service.elsewhere(
            'PUT',
            put,
            theirs.replace(/"description":"[^"]*"/, '"description":"Theirs"'),
          )
          response.writeHead(401).end()
        })
        const mine = text.replace(/"(title|name)": "[^"]*"/, '"$1": "Mine_now"')
        t.not(mine, text)
        t.equal(await outcome(overwrite(testbed, path, mine)), 'ESTALE')
        mend()
        t.match(await service.elsewhere('GET', get), '"description":"Theirs"')
        t.equal(await outcome(overwrite(testbed, path, mine)), 'done')
        t.match(await service.elsewhere('GET', get), '"description":"Theirs"', 'both are kept')
        t.match(await service.elsewhere('GET', get), 'Mine_now')
        if (put === '/report') continue
        await overwrite(testbed, `${water}/Mine_now/.calculation.json`, text)
      }
    })

    t.test('DEL-12 what others change while a log-in is made for its deletion is not deleted', async t => {
      await textOf(testbed, report)
      let refusals = 0
      const mend = service.intercept(/^DELETE \/report/, async (response, { carryOut }) => {
        refusals += 1
        if (refusals > 1) return (await carryOut())()
        await service.elsewhere('PUT', '/report', (await stored()).replace('Mine_now', 'Theirs_now'))
        response.writeHead(401).end()
      })
      await testbed.pass(61_000)
      await files.unlink(report)
      await testbed.pass(3200)
      await until(5000, 'it is back', async () => (await outcome(files.lstat(report))) === 'done')
      mend()
      t.equal(refusals, 1, 'DELETE is not sent again')
      t.match(await stored(), 'Theirs_now')
    })

    t.test('DEL-12 a share that its project no longer lists is gone, and not deleted by number', async t => {
      await overwrite(testbed, `${water}/.shares/new.json`, '{"user":"guest","permission":"READ"}')
      const [name = ''] = await namesOf(testbed, `${water}/.shares`)
      await service.sends(t, [], async () => {
        await files.unlink(`${water}/.shares/${name}`)
        const mend = service.answer(/^GET \/project\/share/, '[]')
        await testbed.pass(3200)
        await until(
          5000,
          'it is not there',
          async () => (await namesOf(testbed, `${water}/.shares`)).length === 0,
        )
        await testbed.pass(1000)
        mend()
      })
    })

    t.test('DRAFT-7 a text that was given up is no base: saving it again is an edit again', async t => {
      const theirs = (await stored()).replace(/"title":"[^"]*"/, '"title":"Theirs"')
      const mine = (await textOf(testbed, report)).replace(/"title": "[^"]*"/, '"title": "Mine"')
      await service.elsewhere('PUT', '/report', theirs)
      t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
      await files.unlink(`.calcfs/drafts/${ids.report}.json`)
      await textOf(testbed, report)
      const again = await outcome(overwrite(testbed, report, mine))
      const isThere = (await stored()).includes('"title":"Mine"')
      t.ok(isThere || again === 'ESTALE', `${again}: it is stored, or said not to be`)
      if (again !== 'done') await files.unlink(`.calcfs/drafts/${ids.report}.json`)
    })

    t.test('DRAFT-7 nor is it what the next edit is made from, however soon that comes', async t => {
      await testbed.pass(3200)
      await files.touch('reports')
      const shown = await textOf(testbed, report)
      const old = shown.replace(/"description": "[^"]*"/, '"description": "Given up"')
      const mend = service.refuse(/^PUT /, 400)
      t.equal(await outcome(overwrite(testbed, report, old)), 'EINVAL')
      mend()
      await files.unlink(`.calcfs/drafts/${ids.report}.json`)
      const now = await textOf(testbed, report)
      t.notMatch(now, 'Given up')
      const edited = now.replace(/"title": "[^"]*"/, '"title": "Another edit"')
      t.equal(await outcome(overwrite(testbed, report, edited)), 'done')
      t.match(await stored(), /"title":"Another edit"/)
      t.notMatch(await stored(), 'Given up')
    })

    t.test('SAVE-1 a field that a text leaves out and the service keeps is no failure', async t => {
      await testbed.pass(3200)
      await files.touch('reports')
      const { owner, creationDate, ...record } = JSON.parse(await textOf(testbed, report))
      const text = JSON.stringify({ ...record, title: `${record.title} again` })
      await service.sends(t, ['PUT /report'], async () => {
        t.equal(await outcome(overwrite(testbed, report, text)), 'done')
      })
      t.match(JSON.parse(await stored()), { title: /again/, owner, creationDate })
    })

    t.test('DRAFT-1 a field that stands twice is refused: it is unknown which is meant', async t => {
      const text = (await textOf(testbed, report)).replace(/\}\s*$/, ',"title":"Twice"}')
      await service.sends(t, [], async () => {
        t.equal(await outcome(overwrite(testbed, report, text)), 'EINVAL')
        t.equal(
          await outcome(overwrite(testbed, 'reports/new-t.json', '{"name":"a","reportType":1,"name":"b"}')),
          'EINVAL',
        )
      })
      for (const name of [`${ids.report}.json`, 'new-t.json']) await files.unlink(`.calcfs/drafts/${name}`)
    })

    t.test('NEW-8 a number that is no new report is not believed', async t => {
      const mend = service.answer(/^POST \/report$/, () => ids.report)
      const before = await stored()
      t.equal(
        await outcome(overwrite(testbed, 'reports/new-o.json', '{"name":"Other","reportType":1}')),
        'EIO',
      )
      mend()
      t.equal(await stored(), before, 'the report of that number stays as it is')
      t.equal(await files.xattr('reports/new-o.json', 'user.calcfs.draft'), 'outcome-unknown')
      await files.unlink('.calcfs/drafts/new-o.json')
    })
  })

  t.test('what is stored of a save that failed', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)
    const edited = (text: string, field: string, value: string) => {
      const made = text.replace(new RegExp(`"${field}": "[^"]*"`), `"${field}": "${value}"`)
      t.not(made, text)
      return made
    }

    t.test('SAVE-16 a part that was stored is taken back by the text of before', async t => {
      const before = await textOf(testbed, report)
      const mend = service.rewrite(/^PUT \/report$/, body => body.replace('"weight":0.20', '"weight":0.10'))
      t.match(before, '"weight": 0.10')
      const weighed = edited(before, 'description', 'New').replace('"weight": 0.10', '"weight": 0.20')
      t.equal(await outcome(overwrite(testbed, report, weighed)), 'EIO')
      t.match(await stored(), '"description":"New"', 'this part is stored')
      mend()
      t.equal(await outcome(overwrite(testbed, report, edited(before, 'title', 'Second'))), 'done')
      t.match(await stored(), '"description":""')
      t.match(await stored(), '"title":"Second"')
    })

    t.test('SAVE-16 nor is it lost sight of where the draft was dropped', async t => {
      for (const spoilt of ['the reading after it', 'the reading after it, and refused'] as const) {
        await testbed.pass(3200)
        const before = await textOf(testbed, report)
        const status = spoilt.endsWith('refused') ? 403 : 500
        const mend = service.beforeAnswer(/^PUT \/report$/, () => service.refuse(/^GET \/report\?/, status))
        t.match(
          await outcome(overwrite(testbed, report, edited(before, 'description', `By ${spoilt}`))),
          /^E/,
        )
        mend()
        await files.unlink(`.calcfs/drafts/${ids.report}.json`)
        const second = edited(before, 'title', `Then ${spoilt}`)
        const ended = await outcome(overwrite(testbed, report, second))
        t.match(ended, /^(done|ESTALE)$/)
        const isInForce = (await stored()).includes('"description":""')
        t.equal(isInForce, ended === 'done', `${spoilt}: ${ended}`)
      }
    })
  })

  t.test('what others do while a change waits to be sent', async t => {
    const testbed = await open(t, { settings: { access: 'manage', maxRequests: '1' } })
    const { files, service } = testbed
    const stored = () => service.elsewhere('GET', `/report?id=${ids.report}`)

    /** Changes the description behind each question for the report, before its answer arrives. */
    const meddle = (text: string): (() => void) => {
      let looks = 0
      return service.intercept(new RegExp(`^GET /report\\?id=${ids.report}$`), async (_, { carryOut }) => {
        const answer = await carryOut()
        // They take their turns before the change: on a slow machine a look of a second or two is not old yet.
        if (looks === 0) for (const id of [901, 902, 903]) void outcome(files.lstat(`reports/${id}.json`))
        looks += 1
        const theirs = (await stored()).replace(/"description":"[^"]*"/, `"description":"${text}${looks}"`)
        await service.elsewhere('PUT', '/report', theirs)
        answer()
      })
    }

    t.test('STALE-2 what others change while a save waits for its turn is not overwritten', async t => {
      const text = await textOf(testbed, report)
      const mine = text.replace(/"title": "[^"]*"/, '"title": "Mine"')
      await testbed.pass(3200)
      const mend = meddle('Theirs')
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
      })
      mend()
      t.same(writes(asked), [])
      t.match(await stored(), '"description":"Theirs')
      t.equal(await outcome(overwrite(testbed, report, mine)), 'done')
      t.match(await stored(), '"description":"Theirs', 'both are kept')
      t.match(await stored(), '"Mine"')
    })

    t.test('DEL-12 what others change while a deletion waits for its turn is not deleted', async t => {
      await textOf(testbed, report)
      // It was saved a moment ago: that alone would keep it.
      await testbed.pass(61_000)
      const mend = meddle('Needed')
      const asked = await service.during(async () => {
        await files.unlink(report)
        await testbed.pass(3200)
        await until(8000, 'it is back', async () => (await outcome(files.lstat(report))) === 'done')
      })
      mend()
      t.same(writes(asked), [])
      t.match(await stored(), '"description":"Needed')
    })
  })
}
