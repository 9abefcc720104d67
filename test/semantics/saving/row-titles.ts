// The rows of a report's list: their titles belong to the report, and formulas count by the numbers of their places.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { listOf, rowsOf } from './order.js'

const report = `reports/${ids.report}.json`

export function rowTitles(t: Test, open: OpenTestbed): void {
  t.test('ORDER-1 a list whose service forgets titles gets them back, however slow it is', async t => {
    const testbed = await open(t, { service: { shortcomings: { loseRowTitles: true } } })
    testbed.service.beforeAnswer(/^PUT \/report\/calculations/, () => testbed.pass(1_500))
    const record = JSON.parse(await textOf(testbed, report))
    record.calculations.reverse()
    await overwrite(testbed, report, JSON.stringify(record))
    t.match(JSON.parse(await textOf(testbed, report)).calculations, [
      { title: 'Nothing' },
      { title: 'Water' },
      { title: 'Transition state' },
    ])
    record.calculations[0].title = 'Nothing at all'
    record.calculations.push(record.calculations.shift())
    t.equal(
      await outcome(overwrite(testbed, report, JSON.stringify(record))),
      'done',
      'order and title at once',
    )
    t.equal(JSON.parse(await textOf(testbed, report)).calculations[2].title, 'Nothing at all')
  })

  t.test('ORDER-1 of a calculation that stands twice each row has its own title', async t => {
    const testbed = await open(t)
    const record = JSON.parse(await textOf(testbed, report))
    const [first, ...others] = record.calculations
    const titles = async () => (await rowsOf(testbed)).slice(0, 2).map(({ title }) => title)
    const write = async (calculations: readonly unknown[]) => {
      await textOf(testbed, report)
      await overwrite(testbed, report, JSON.stringify({ ...record, calculations }))
    }
    await write([first, { ...first, title: null }, ...others])
    t.same(await titles(), ['Transition state', null])
    await write([{ ...first, title: null }, first, ...others])
    t.same(await titles(), [null, 'Transition state'])
    const order = `reports/${ids.report}/order.txt`
    await testbed.service.sends(t, [], 'the order as it was is no change', async () =>
      overwrite(testbed, order, await textOf(testbed, order)),
    )
    t.same(await titles(), [null, 'Transition state'])
    const lines = (await textOf(testbed, order)).split('\n')
    await overwrite(testbed, order, lines.filter(line => !line.includes('Transition state')).join('\n'))
    t.equal((await titles())[0], null, 'the row that stays keeps none')
  })
}

const profile = `reports/${ids.profile}.json`

interface Row {
  readonly calcId: number
}

/** The text with these entries as its list. */
function withList(text: string, change: (rows: readonly Row[]) => readonly unknown[]): string {
  const record = JSON.parse(text)
  return JSON.stringify({ ...record, calculations: change(record.calculations) })
}

export function emptyPlaces(t: Test, open: OpenTestbed): void {
  t.test('a list with an empty place', async t => {
    const testbed = await open(t, { settings: { ttlListing: '1500ms' } })
    const { service } = testbed
    const before = await textOf(testbed, report)
    await textOf(testbed, profile)
    await service.elsewhere('DELETE', `/calculation?id=${ids.transition}`)

    t.test('STALE-2 a row that two have taken out is gone, and no conflict', async t => {
      const mine = before.replace(/\{[^{}]*"calcId": 1234,[^{}]*\},\s*/, '')
      t.not(mine, before)
      await service.sends(t, [], 'it is as it should be', async () => {
        t.equal(await outcome(overwrite(testbed, report, mine)), 'done')
      })
      t.same(await listOf(testbed, ids.report), [ids.product, ids.bare])
    })

    t.test('DRAFT-1 formulas count by the numbers of the places', async t => {
      await testbed.pass(3200)
      const text = await textOf(testbed, profile)
      t.same(await listOf(testbed, ids.profile), [ids.product], 'c1 is empty, and c2 is the product')
      await service.sends(t, [], async () => {
        const behind = withList(text, rows => [...rows, Number(ids.bare)])
        t.equal(await outcome(overwrite(testbed, profile, behind)), 'EINVAL', 'c2 would be another one')
      })
      t.match(await textOf(testbed, `.calcfs/drafts/${ids.profile}.json.why`), /c2 was calculation 1235/)
      const inFront = withList(text, rows => [Number(ids.bare), ...rows])
      t.equal(await outcome(overwrite(testbed, profile, inFront)), 'done', 'c2 is the product still')
      t.same(await listOf(testbed, ids.profile), [ids.bare, ids.product])
    })
  })
}
