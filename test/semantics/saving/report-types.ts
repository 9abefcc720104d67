// The type of a report: written by number or by name, stored and shown in the service's own form, never changed by itself.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const path = `reports/${ids.report}.json`

const storedAs = async ({ service }: Testbed, id: string): Promise<Record<string, unknown>> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))

/** The text with another type, written as it stands in JSON. */
const typed = (text: string, type: string): string =>
  text.replace(/("reportType": )[^,\n]+/, (_, before) => before + type)

export function reportTypes(t: Test, open: OpenTestbed): void {
  t.test('the type of a report that is edited', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const before = await textOf(testbed, path)
    t.match(before, /"reportType": 1,/)

    t.test('TYPE-1 it is written by number or name, and stored in the form of the record', async t => {
      const spellings: readonly (readonly [string, number])[] = [
        ['"Reaction energy profile"', 2],
        ['"3"', 3],
        ['"reaction ENERGY profile"', 2],
        ['{"id": 3}', 3],
        ['{"name": "Supporting information"}', 1],
        ['2', 2],
        ['" 1 "', 1],
      ]
      for (const [written, id] of spellings) {
        const asked = await service.during(async () => {
          const text = typed(await textOf(testbed, path), written)
          t.equal(await outcome(overwrite(testbed, path, text)), 'done', written)
        })
        t.same(writes(asked), ['PUT /report'], written)
        t.equal((await storedAs(testbed, ids.report))['reportType'], id, written)
        await testbed.pass(2_500)
        t.match(
          await textOf(testbed, path),
          `"reportType": ${id},`,
          `${written} is shown as the service has it`,
        )
      }
    })

    t.test('TYPE-1 the same type in other words is no change', async t => {
      const asked = await service.during(async () => {
        for (const written of ['"1"', '"supporting information"', '{"id": 1}'])
          t.equal(await outcome(overwrite(testbed, path, typed(before, written))), 'done', written)
      })
      t.same(writes(asked), [])
      const text = typed(await textOf(testbed, path), '"Supporting information"')
      const other = text.replace(/("description": )"[^"]*"/, '$1"With another description"')
      const sent = await service.during(() => overwrite(testbed, path, other))
      t.same(writes(sent), ['PUT /report'])
      t.match(await storedAs(testbed, ids.report), { reportType: 1, description: 'With another description' })
    })

    t.test('TYPE-2 an unknown or ambiguous name is refused with the list, and nothing is sent', async t => {
      const reasons: Readonly<Record<string, RegExp>> = {
        '"No such type"': /there is no report type No such type; there are 1 .*, 3 \(Reaction Graph\)/,
        '"twice"': /more than one report type is called twice: write its number; there are .*71 \(Twice\)/,
      }
      service.seed.addReportType({ id: '71', name: 'Twice', status: 'active' })
      service.seed.addReportType({ id: '72', name: 'TWICE', status: 'active' })
      service.seed.addReportType({ id: '73', name: 'Retired', status: 'inactive' })
      const asked = await service.during(async () => {
        for (const written of ['"No such type"', '77', '"twice"', '"Retired"', '73', '["2"]', 'null']) {
          const text = typed(await textOf(testbed, path), written)
          t.equal(await outcome(overwrite(testbed, path, text)), 'EINVAL', written)
          const said = reasons[written]
          if (said === undefined) continue
          // A text that was shown a moment ago is served for two seconds.
          await testbed.pass(2_500)
          t.match(await textOf(testbed, '.calcfs/drafts/42.json.why'), said, written)
        }
        await testbed.files.unlink('.calcfs/drafts/42.json')
      })
      t.same(writes(asked), [])
      const exact = await service.during(async () => {
        await overwrite(testbed, path, typed(await textOf(testbed, path), '"TWICE"'))
      })
      t.same(writes(exact), ['PUT /report'], 'written exactly, it is one of the two')
      t.equal((await storedAs(testbed, ids.report))['reportType'], 72)
    })
  })

  t.test('TYPE-3 a new report shows its type as the others do, and its first name may change it', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const fresh = 'reports/new-graph.json'
    const text = (type: string, description = 'd') =>
      `{"name": "Graph", "description": "${description}", "reportType": ${type}}`
    const first = await service.during(() => overwrite(testbed, fresh, text('"reaction graph"')))
    t.same(writes(first), ['POST /report'])
    await testbed.pass(2_500)
    const id = String(JSON.parse(await textOf(testbed, fresh)).id)
    t.match(await textOf(testbed, `reports/${id}.json`), '"reportType": 3,')
    t.match(await textOf(testbed, path), '"reportType": 1,', 'as the others do')

    const again = await service.during(() => overwrite(testbed, fresh, text('"3"')))
    t.same(writes(again), [], 'the same type in other words')
    const other = await service.during(() =>
      overwrite(testbed, fresh, text('"Supporting information"', 'another')),
    )
    t.same(writes(other), ['PUT /report'])
    t.match(await storedAs(testbed, id), { reportType: 1, description: 'another' })
    const refused = await service.during(async () => {
      t.equal(await outcome(overwrite(testbed, fresh, text('"No such type"', 'another'))), 'EINVAL')
    })
    t.same(writes(refused), [])
    t.equal((await namesOf(testbed, '.calcfs/drafts')).length, 2, 'the text waits, with its why')
  })
}
