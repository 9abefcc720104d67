// The titles of a report's rows belong to the report: a new order must not cost them, even where the service forgets them.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'

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
    const titles = async () => {
      const { calculations } = JSON.parse(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`))
      return calculations.slice(0, 2).map((row: { title: string | null }) => row.title)
    }
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
