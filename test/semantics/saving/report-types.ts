// The type of a report: written by number or by name, stored and shown in the service's own form, never changed by itself.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const path = `reports/${ids.report}.json`

const storedAs = async ({ service }: Testbed, id: string): Promise<Record<string, unknown>> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))

/** The text with another type, written as it stands in JSON. */
const typed = (text: string, type: string): string =>
  text.replace(/("reportType": )[^,\n]+/, (_, before) => before + type)

/** What the sample's types are called. */
const typeNames: Readonly<Record<number, string>> = {
  1: 'Supporting information',
  2: 'Reaction energy profile',
  3: 'Reaction Graph',
}

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
        await service.sends(t, ['PUT /report'], written, async () => {
          const text = typed(await textOf(testbed, path), written)
          t.equal(await outcome(overwrite(testbed, path, text)), 'done', written)
        })
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
      await service.sends(t, [], async () => {
        for (const written of ['"1"', '"supporting information"', '{"id": 1}'])
          t.equal(await outcome(overwrite(testbed, path, typed(before, written))), 'done', written)
      })
      const text = typed(await textOf(testbed, path), '"Supporting information"')
      const other = text.replace(/("description": )"[^"]*"/, '$1"With another description"')
      await service.sends(t, ['PUT /report'], () => overwrite(testbed, path, other))
      t.match(await storedAs(testbed, ids.report), { reportType: 1, description: 'With another description' })
    })

    t.test('TYPE-1 an unknown or ambiguous name is refused with the list, and nothing is sent', async t => {
      const reasons: Readonly<Record<string, RegExp>> = {
        '"No such type"': /there is no report type No such type; there are 1 .*, 3 \(Reaction Graph\)/,
        '"twice"': /more than one report type is called twice: write its number; there are .*71 \(Twice\)/,
      }
      service.seed.addReportType('71', 'Twice', 'active')
      service.seed.addReportType('72', 'TWICE', 'active')
      service.seed.addReportType('73', 'Retired', 'inactive')
      await service.sends(t, [], async () => {
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
      await service.sends(t, ['PUT /report'], 'written exactly, it is one of the two', async () => {
        await overwrite(testbed, path, typed(await textOf(testbed, path), '"TWICE"'))
      })
      t.equal((await storedAs(testbed, ids.report))['reportType'], 72)
    })
  })

  t.test('TYPE-1 a new report shows its type as the others do, and its first name may change it', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const fresh = 'reports/new-graph.json'
    const text = (type: string, description = 'd') =>
      `{"name": "Graph", "description": "${description}", "reportType": ${type}}`
    await service.sends(t, ['POST /report'], () => overwrite(testbed, fresh, text('"reaction graph"')))
    await testbed.pass(2_500)
    const id = String(JSON.parse(await textOf(testbed, fresh)).id)
    t.match(await textOf(testbed, `reports/${id}.json`), '"reportType": 3,')
    t.match(await textOf(testbed, path), '"reportType": 1,', 'as the others do')

    await service.sends(t, [], 'the same type in other words', () => overwrite(testbed, fresh, text('"3"')))
    await service.sends(t, ['PUT /report'], () =>
      overwrite(testbed, fresh, text('"Supporting information"', 'another')),
    )
    t.match(await storedAs(testbed, id), { reportType: 1, description: 'another' })
    await service.sends(t, [], async () => {
      t.equal(await outcome(overwrite(testbed, fresh, text('"No such type"', 'another'))), 'EINVAL')
    })
    t.equal((await namesOf(testbed, '.calcfs/drafts')).length, 2, 'the text waits, with its why')
  })

  t.test('TYPE-1 the name beside the number is the service’s: changed alone it is refused', async t => {
    const testbed = await open(t)
    const before = await textOf(testbed, path)
    const text = before.replace(/("reportTypeName": )[^,\n]+/, '$1"Reaction Graph"')
    await testbed.service.sends(t, [], async () => {
      t.equal(await outcome(overwrite(testbed, path, text)), 'EINVAL')
    })
    await testbed.pass(2_500)
    t.match(await textOf(testbed, '.calcfs/drafts/42.json.why'), /change the type/)
    t.equal(await outcome(overwrite(testbed, path, typed(text, '3'))), 'done')
    t.match(await storedAs(testbed, ids.report), { reportType: 3, reportTypeName: 'Reaction Graph' })
  })

  t.test(
    'TYPE-1 where no other client writes, no sequence of edits of type, name and title is a conflict',
    async t => {
      const testbed = await open(t)
      const { seed, draw } = drawnFrom()
      const path = `reports/${ids.profile}.json`
      const meant = { reportType: 0, title: '' }
      Object.assign(meant, await storedAs(testbed, ids.profile))
      const done: string[] = []
      for (let step = 0; step < 8; step++) {
        await testbed.pass(2_500)
        const text = await textOf(testbed, path)
        const way = draw(3)
        const [type, title] = [1 + draw(3), `Title ${draw(2)}`]
        const name = typeNames[type] ?? ''
        const edited = [typed(text, `${type}`), typed(text, JSON.stringify(name))][way]
        if (edited === undefined) meant.title = title
        else meant.reportType = type
        const written = edited ?? text.replace(/("title": )"(Profile|Title)[^"]*"/, `$1"${title}"`)
        done.push(`${['number', 'type', 'title'][way]} ${edited === undefined ? title : type}`)
        // Half of the editors do not read the file again before their next save.
        const again =
          draw(2) === 0 ? written : written.replace(/("description": )"[^"]*"/, `$1"Step ${step}"`)
        for (const one of new Set([written, again]))
          t.equal(await outcome(overwrite(testbed, path, one)), 'done', `${done.join(', ')}, seed ${seed}`)
        const { reportType, title: kept } = await storedAs(testbed, ids.profile)
        t.same(
          { reportType, title: kept },
          { reportType: meant.reportType, title: meant.title },
          `${done.join(', ')}, seed ${seed}`,
        )
      }
    },
  )
}
