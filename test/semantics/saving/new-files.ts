// `reports/new*.json`: saved once it is a POST; from then on the name is a second one of the report that it has made.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const drafts = (testbed: Testbed) => namesOf(testbed, '.calcfs/drafts')
const reportsListed = async (testbed: Testbed) =>
  (await namesOf(testbed, 'reports')).filter(name => /^\d+\.json$/.test(name))

interface Stored {
  title: string
  description: string
  reportType: number | string
  calculations: { calcId: number; title: string | null }[]
}

const storedAs = async ({ service }: Testbed, id: string): Promise<Stored> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))
const rowsOf = ({ calculations }: Stored) => calculations.map(({ calcId }) => Number(calcId))

const report = (title: string, description: string, calculations: readonly number[] = [1235, 1236]) =>
  JSON.stringify({ title, description, reportType: '1', calculations })

export function newFiles(t: Test, open: OpenTestbed): void {
  t.test('a new report', async t => {
    // An open waits for a save under way as long as a question may take, and that save has longer: 40 of its 60 seconds.
    const testbed = await open(t, { settings: { deadlineMetadata: '10s' } })
    const { files, service } = testbed
    const idOf = async (path: string) => String(JSON.parse(await textOf(testbed, path)).id)

    t.test('NEW-1 saved it is one POST, then it is listed by its number', async t => {
      const before = await reportsListed(testbed)
      const asked = await service.during(() =>
        overwrite(testbed, 'reports/new-dyes.json', report('Dyes', 'Colours')),
      )
      t.match(writes(asked), ['POST /report'])
      const [made = ''] = (await reportsListed(testbed)).filter(name => !before.includes(name))
      const stored = await storedAs(testbed, made.replace('.json', ''))
      t.match(stored, { title: 'Dyes', description: 'Colours' })
      t.same(rowsOf(stored), [1235, 1236])
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-2 NEW-3 the name answers, is not listed, and updates the same report', async t => {
      const fresh = 'reports/new-acids.json'
      await overwrite(testbed, fresh, report('Acids', 'Sour'))
      t.notOk((await namesOf(testbed, 'reports')).includes('new-acids.json'))
      const made = await idOf(fresh)
      await service.sends(t, ['PUT /report/calculations', 'PUT /report'], () =>
        overwrite(testbed, fresh, report('Acids', 'Very sour', [1236, 1235])),
      )
      t.match(await storedAs(testbed, made), { title: 'Acids', description: 'Very sour' })
      t.same(rowsOf(await storedAs(testbed, made)), [1236, 1235])
      // By an editor that puts a backup aside, in the record's own form.
      const text = (await textOf(testbed, fresh)).replace('Very sour', 'Backed up')
      await service.sends(t, ['PUT /report'], async () => {
        await files.rename(fresh, `${fresh}~`)
        await overwrite(testbed, fresh, text)
        await files.unlink(`${fresh}~`)
      })
      t.match(await storedAs(testbed, made), { title: 'Acids', description: 'Backed up' })
    })

    t.test('NEW-3 any other text makes another report, and the first one stays', async t => {
      const name = 'reports/new-si.json'
      await overwrite(testbed, name, report('Salts', 'White'))
      const first = await idOf(name)
      const copied = await textOf(testbed, `reports/${ids.report}.json`)
      for (const text of [report('Bases', 'Bitter', [1236]), copied]) {
        const before = await idOf(name)
        const asked = await service.during(() => overwrite(testbed, name, text))
        t.match(writes(asked), ['POST /report'])
        t.not(await idOf(name), before, 'the name stands for the new one')
        const edit = text.replace(/"description": ?"[^"]*"/, '"description":"Edited"')
        const again = await service.during(() => overwrite(testbed, name, edit))
        t.notOk(writes(again).includes('POST /report'), 'the same buffer once more is an update')
      }
      t.match(await storedAs(testbed, first), { title: 'Salts', description: 'White' })
      t.match(await storedAs(testbed, ids.report), { title: 'Supporting information' })
    })

    t.test('NEW-3 another report that is written while the first is on the way is another one', async t => {
      const own = 'reports/new-late.json'
      const held = service.hold(/^POST \/report/)
      const before = service.heard.length
      const file = await files.open(own, 'w')
      await file.write(report('One', 'First', [1235]), 0)
      const end = outcome(file.close())
      await held.met
      const other = await files.open(own, 'r+')
      await other.truncate(0)
      await other.write(report('Two', 'Second', [1236]), 0)
      held.open()
      await end
      t.equal(await outcome(other.close()), 'done')
      t.equal(writes(service.heard.slice(before)).filter(line => line === 'POST /report').length, 2)
      t.match(await storedAs(testbed, await idOf(own)), { title: 'Two', description: 'Second' })
      const first = await storedAs(testbed, String(Number(await idOf(own)) - 1))
      t.match(first, { title: 'One', description: 'First' })
    })

    t.test('NEW-5 the type is one of those that are listed, by its number or its name', async t => {
      await overwrite(
        testbed,
        'reports/new-p.json',
        '{"name":"Profile","reportType":"Reaction energy profile"}',
      )
      const refused = ['{"name":"X","reportType":"9"}', '{"name":"X"}', '{"reportType":"1"}', '[1]']
      await service.sends(t, [], async () => {
        for (const text of refused)
          t.equal(await outcome(overwrite(testbed, 'reports/new-x.json', text)), 'EINVAL')
      })
      t.same(await drafts(testbed), ['new-x.json', 'new-x.json.why'])
      t.ok((await namesOf(testbed, 'reports')).includes('new-x.json'), 'the unsent file is there')
      await overwrite(testbed, 'reports/new-x.json', '{"name":"X","reportType":1}')
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-5 a copy of a report makes another one, with the titles of its rows', async t => {
      await overwrite(testbed, 'reports/new-copy.json', await textOf(testbed, `reports/${ids.report}.json`))
      const copy = await idOf('reports/new-copy.json')
      t.not(copy, ids.report)
      const stored = await storedAs(testbed, copy)
      t.equal(stored.title, 'Supporting information')
      t.equal(stored.calculations[0]?.title, 'Transition state')
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-5 paths stand for calculations in the list of a new report', async t => {
      const list = ['/projects/Water splitting/H2O', '/db/demo/Water splitting/TS1_opt']
      const text = JSON.stringify({ name: 'Paths', reportType: 1, calculations: list })
      await overwrite(testbed, 'reports/new-paths.json', text)
      const stored = await storedAs(testbed, await idOf('reports/new-paths.json'))
      t.same(rowsOf(stored).map(String), [ids.product, ids.transition])
    })

    t.test('NEW-1 if the list fails, the report is there and its list is the draft', async t => {
      const mend = service.refuse(/^PUT \/report\/calculations/, 500, 'no')
      const strip = service.rewrite(/^POST \/report$/, body => body.replace(/,"calculationIds":"[^"]*"/, ''))
      const text = report('Half', '', [1235])
      t.equal(await outcome(overwrite(testbed, 'reports/new-half.json', text)), 'EIO')
      mend()
      strip()
      const half = `${await idOf('reports/new-half.json')}.json`
      t.same(await drafts(testbed), [half, `${half}.why`])
      t.same((await storedAs(testbed, half.replace('.json', ''))).calculations, [])
      await service.sends(t, ['PUT /report/calculations'], async () =>
        overwrite(testbed, 'reports/new-half.json', text),
      )
      t.same(await drafts(testbed), [])
    })
  })

  t.test('a report by the name it was made with, its number and its order', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const name = 'reports/new-names.json'
    await overwrite(testbed, name, report('Names', 'first'))
    const id = String(JSON.parse(await textOf(testbed, name)).id)
    const own = `reports/${id}.json`
    const stored = () => storedAs(testbed, id)
    const change = async (from: string, to: string) =>
      overwrite(testbed, own, (await textOf(testbed, own)).replace(from, to))

    t.test('NEW-4 the text of before takes back what its number has changed', async t => {
      for (const isRead of [false, true]) {
        await change('"first"', '"second"')
        if (isRead) await textOf(testbed, own)
        await overwrite(testbed, name, report('Names', 'first'))
        t.equal((await stored()).description, 'first')
        await service.sends(t, [], () => overwrite(testbed, name, report('Names', 'first')))
      }
    })

    t.test('NEW-4 the list of before takes back the order that order.txt has given it', async t => {
      const order = `reports/${id}/order.txt`
      const lines = (await textOf(testbed, order)).trimEnd().split('\n')
      await overwrite(testbed, order, `${lines.toReversed().join('\n')}\n`)
      t.same(rowsOf(await stored()), [1236, 1235])
      await overwrite(testbed, name, report('Names', 'first'))
      t.same(rowsOf(await stored()), [1235, 1236])
    })

    t.test('NEW-4 what differs is the edit: what its number has changed stays', async t => {
      await change('"Names"', '"Renamed"')
      await overwrite(testbed, name, report('Names', 'third'))
      t.match(await stored(), { title: 'Renamed', description: 'third' })
      await change('"third"', '"fourth"')
      t.equal(await outcome(overwrite(testbed, name, report('Names', 'fifth'))), 'ESTALE', 'the same field')
      t.match(await stored(), { title: 'Renamed', description: 'fourth' })
      await testbed.files.unlink(`.calcfs/drafts/${id}.json`)
    })
  })

  t.test('a new report that is gone, or may be there', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const text = (name: string, description = '') => JSON.stringify({ name, reportType: 1, description })

    t.test('NEW-9 when its record is gone the text is kept, and the next save makes another', async t => {
      const path = 'reports/new-gone.json'
      await overwrite(testbed, path, text('Gone', 'before'))
      const { id } = JSON.parse(await textOf(testbed, path))
      await service.elsewhere('DELETE', `/report?id=${id}`)
      t.equal(await outcome(overwrite(testbed, path, text('Gone', 'after'))), 'ENOENT')
      t.same(await drafts(testbed), ['new-gone.json', 'new-gone.json.why'], 'the text is kept')
      await overwrite(testbed, path, text('Gone', 'after'))
      t.not(JSON.parse(await textOf(testbed, path)).id, id)
      t.same(await drafts(testbed), [])
    })

    t.test('NEW-9 a passing 404 of its record makes no second one', async t => {
      const path = 'reports/new-passing.json'
      await overwrite(testbed, path, text('Passing', 'a'))
      for (const status of [404, 400]) {
        const mend = service.refuse(/^(GET \/report\?|POST \/report$)/, status, '{}')
        for (let tries = 0; tries < 3; tries += 1)
          t.not(await outcome(overwrite(testbed, path, text('Passing', `b ${status}`))), 'done')
        mend()
        await service.sends(t, ['PUT /report'], () =>
          overwrite(testbed, path, text('Passing', `c ${status}`)),
        )
      }
      t.same(await drafts(testbed), [])
    })

    t.test('THING-1 another report that has its number by now is not written', async t => {
      const path = 'reports/new-again.json'
      await overwrite(testbed, path, text('Again', 'mine'))
      const { id } = JSON.parse(await textOf(testbed, path))
      const stored = await storedAs(testbed, id)
      await service.elsewhere('DELETE', `/report?id=${id}`)
      const theirs = { ...stored, description: 'theirs', creationDate: '2031-01-01T00:00:00.000Z' }
      const mend = service.answer(new RegExp(`^GET /report\\?id=${id}$`), () => JSON.stringify(theirs))
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(testbed, path, text('Again', 'edit'))), 'ESTALE')
        t.match(await drafts(testbed), [`${id}.json`], 'the text is kept')
        t.equal(await outcome(overwrite(testbed, path, text('Again', 'edit'))), 'done')
      })
      mend()
      t.same(writes(asked), ['POST /report'])
      t.not(JSON.parse(await textOf(testbed, path)).id, id)
      await files.unlink(`.calcfs/drafts/${id}.json`)
    })

    t.test('NEW-8 a gateway that gives up with 503 has perhaps made it', async t => {
      const mend = service.intercept(/^POST \/report$/, async (response, { carryOut }) => {
        await carryOut()
        response.writeHead(503).end('busy')
      })
      t.equal(await outcome(overwrite(testbed, 'reports/new-busy.json', text('B'))), 'EIO')
      mend()
      t.equal(await files.xattr('reports/new-busy.json', 'user.calcfs.draft'), 'outcome-unknown')
      await files.unlink('.calcfs/drafts/new-busy.json')
    })

    t.test('NEW-8 a lost answer is never sent again by itself', async t => {
      const path = 'reports/new-lost.json'
      const mend = service.lose(/^POST \/report$/)
      t.equal(await outcome(overwrite(testbed, path, text('Lost'))), 'EIO')
      mend()
      t.equal(await files.xattr(path, 'user.calcfs.draft'), 'outcome-unknown')
      await service.sends(t, [], async () => {
        t.equal(await outcome(overwrite(testbed, path, text('Lost'))), 'EIO')
        await testbed.remount()
        t.equal(await outcome(overwrite(testbed, path, text('Lost'))), 'EIO')
      })
      t.match(await textOf(testbed, '.calcfs/drafts/new-lost.json.why'), /send --again/)
      // As mv, install and tar do, which unlink before they create.
      await service.sends(t, [], async () => {
        await files.unlink(path)
        t.notOk((await namesOf(testbed, 'reports')).includes('new-lost.json'))
        t.same(await drafts(testbed), ['new-lost.json', 'new-lost.json.why'])
        await overwrite(testbed, path, '')
        await testbed.pass(3200)
        t.equal(await outcome(overwrite(testbed, path, text('Lost'))), 'EIO')
      })
      await files.unlink(path)
      await files.unlink('.calcfs/drafts/new-lost.json')
      t.same(await drafts(testbed), [])
      t.notOk((await namesOf(testbed, 'reports')).includes('new-lost.json'))
      await service.sends(t, ['POST /report'], 'what was given up is not remembered', () =>
        overwrite(testbed, path, text('Lost')),
      )
    })
  })
}
