// A list whose rows were moved with their old numbers, and that another client has reversed meanwhile: never reversed unseen.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { listElsewhere } from './order.js'

const orders = [
  [ids.transition, ids.product, ids.bare],
  [ids.bare, ids.product, ids.transition],
] as const
const brief = { ttlListing: '1s' }

interface Report {
  readonly title: string
  readonly calculations: readonly { readonly calcId: number; readonly calcOrder: number }[]
}

const fileOf = (report: string): string => `reports/${report}.json`

async function storedIn({ service }: Testbed, report: string): Promise<{ title: string; list: string[] }> {
  const { title, calculations }: Report = JSON.parse(await service.elsewhere('GET', `/report?id=${report}`))
  return { title, list: calculations.map(row => String(row.calcId)) }
}

/** What jq's `reverse` and an editor's moved lines do: the numbers stay in their rows. */
function turned(text: string, title?: string): string {
  const record: Report = JSON.parse(text)
  const calculations = record.calculations.toReversed()
  return JSON.stringify({ ...record, calculations, ...(title === undefined ? {} : { title }) })
}

/** A program reads the order, which shows another client's change. */
async function seeOrder(testbed: Testbed, report: string, first: string | undefined): Promise<void> {
  await testbed.pass(3200)
  const path = `reports/${report}/order.txt`
  await until(10_000, `${path} is the new one`, async () =>
    (await textOf(testbed, path)).startsWith(first ?? 'nothing'),
  )
}

export function turnedLists(t: Test, open: OpenTestbed): void {
  t.test('a list that two have turned', async t => {
    const testbed = await open(t, { settings: brief })
    const { files, service } = testbed
    const report = fileOf(ids.report)
    const profile = fileOf(ids.profile)

    t.test('STALE-9 after an outage a moved list is still the list that it was', async t => {
      const mine = turned(await textOf(testbed, report))
      await service.leave()
      t.match(await outcome(overwrite(testbed, report, mine)), /^(EHOSTUNREACH|ETIMEDOUT)$/)
      await service.back()
      await listElsewhere(testbed, ids.report, orders[1])
      await seeOrder(testbed, ids.report, orders[1][0])
      const again = JSON.stringify({ ...JSON.parse(mine), title: 'Written on' })
      t.equal(await outcome(overwrite(testbed, report, again)), 'done')
      t.same(await storedIn(testbed, ids.report), { title: 'Written on', list: [...orders[1]] })
    })

    t.test('STALE-9 the same where the formulas had refused it, after a restart too', async t => {
      const mine = turned(await textOf(testbed, profile))
      t.equal(await outcome(overwrite(testbed, profile, mine)), 'EINVAL')
      await listElsewhere(testbed, ids.profile, [ids.product, ids.transition])
      await seeOrder(testbed, ids.profile, ids.product)
      await testbed.remount()
      const again = JSON.stringify({ ...JSON.parse(mine), title: 'Written on' })
      t.equal(await outcome(overwrite(testbed, profile, again)), 'done')
      t.same(await storedIn(testbed, ids.profile), {
        title: 'Written on',
        list: [ids.product, ids.transition],
      })
    })

    t.test('STALE-9 the date tells which text was turned, and two that turned it alike agree', async t => {
      const mine = turned(await textOf(testbed, report), 'In doubt')
      await listElsewhere(testbed, ids.report, orders[0])
      await seeOrder(testbed, ids.report, orders[0][0])
      t.equal(await outcome(overwrite(testbed, report, mine)), 'done')
      t.same(await storedIn(testbed, ids.report), { title: 'In doubt', list: [...orders[0]] })
      t.match(await outcome(files.lstat(`.calcfs/drafts/${ids.report}.json`)), 'ENOENT')
    })
  })
  t.test('STALE-9 a program that has moved rows means the same by them at its next save', async t => {
    const testbed = await open(t)
    const report = fileOf(ids.report)
    const mine = turned(await textOf(testbed, report))
    for (const text of [mine, mine.replace(/"title":"[^"]*"/, '"title":"Second"'), mine])
      t.equal(await outcome(overwrite(testbed, report, text)), 'done')
    t.same((await storedIn(testbed, ids.report)).list, orders[1])
    const mend = testbed.service.refuse(/^PUT \/report$/, 500)
    const save = () => outcome(overwrite(testbed, report, turned(mine, 'Third')))
    t.equal(await save(), 'EIO')
    mend()
    t.equal(await save(), 'done')
    t.same(await storedIn(testbed, ids.report), { title: 'Third', list: [...orders[0]] })
  })

  t.test('STALE-9 a program that edits the numbers, save after save, means them', async t => {
    const testbed = await open(t)
    const report = fileOf(ids.report)
    const read: Report = JSON.parse(await textOf(testbed, report))
    for (const [save, places] of ['213', '213', '312', '123', '213'].entries()) {
      const title = `Save ${save}`
      const calculations = read.calculations.map((row, at) => ({ ...row, calcOrder: Number(places[at]) }))
      const text = JSON.stringify({ ...read, title, calculations })
      t.equal(await outcome(overwrite(testbed, report, text)), 'done')
      const list = calculations.toSorted((one, other) => one.calcOrder - other.calcOrder)
      t.same(await storedIn(testbed, ids.report), { title, list: list.map(row => String(row.calcId)) })
    }
  })

  t.test('STALE-9 old numbers say nothing over an order that was read', async t => {
    const testbed = await open(t, { settings: brief })
    const report = fileOf(ids.report)
    const mine = turned(await textOf(testbed, report)).replace('"Water"', '"Mine"')
    await listElsewhere(testbed, ids.report, orders[1])
    t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
    await textOf(testbed, `.calcfs/drafts/${ids.report}.theirs.json`)
    t.equal(await outcome(overwrite(testbed, report, mine)), 'ESTALE')
    t.same((await storedIn(testbed, ids.report)).list, orders[1])
  })
}
