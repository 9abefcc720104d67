// `order.txt`: lines that are moved, taken out and put in are one new list, and what stays keeps its title.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const orderFile = `reports/${ids.report}/order.txt`

interface Row {
  calcId: number
  title: string | null
}

export const rowsOf = async ({ service }: Testbed, report: string = ids.report): Promise<Row[]> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${report}`)).calculations
/** The list as the service has it. */
export const listOf = async (testbed: Testbed, report?: string): Promise<string[]> =>
  (await rowsOf(testbed, report)).map(row => String(row.calcId))
export const listElsewhere = ({ service }: Testbed, report: string, list: readonly string[]) => {
  const body = { id: Number(report), listCalculations: list.join(',') }
  return service.elsewhere('PUT', '/report/calculations', JSON.stringify(body))
}
/** The save ends so, and nothing is sent. */
const unsent = (t: Test, testbed: Testbed, errno: string, ...edit: [path: string, text: string]) =>
  testbed.service.sends(t, [], async () => t.equal(await outcome(overwrite(testbed, ...edit)), errno))
const linesOf = async (testbed: Testbed): Promise<string[]> =>
  (await textOf(testbed, orderFile)).trimEnd().split('\n')
const idIn = (line: string): string => line.split('\t')[0] ?? ''
const written = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('')

export function order(t: Test, open: OpenTestbed): void {
  t.test('SAVE-18 a program that has but read the order has a text of before from elsewhere', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const file = `reports/${ids.report}.json`
    const text = await textOf(testbed, file)
    t.equal(await outcome(overwrite(testbed, file, text.slice(1))), 'EINVAL')
    const [first = '', ...rest] = await listOf(testbed)
    await service.elsewhere('DELETE', `/calculation?id=${first}`)
    await testbed.remount()
    await testbed.files.touch('reports')
    await testbed.pass(3200)
    t.equal((await linesOf(testbed)).length, rest.length)
    const mended = text.replace(/"title": "[^"]*"/, '"title": "Mended"')
    await service.sends(t, ['PUT /report'], async () =>
      t.equal(await outcome(overwrite(testbed, file, mended)), 'done'),
    )
    t.same(await listOf(testbed), rest)
  })

  t.test('SAVE-18 a title of a row is stored where another client has closed the gaps of places', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    await service.elsewhere('DELETE', `/calculation?id=${ids.transition}`)
    await testbed.remount()
    await testbed.pass(13_000)
    const profile = `reports/${ids.profile}.json`
    const record = JSON.parse(await textOf(testbed, profile))
    for (const file of [`reports/${ids.report}.json`, `reports/${ids.profile}/order.txt`]) {
      const [, report = ''] = file.split(/\W/)
      const mine = (await textOf(testbed, file)).replace(/(\t|"title": ")Water/, '$1Another')
      await listElsewhere(testbed, report, await listOf(testbed, report))
      if (report === ids.profile) {
        record.calculations.unshift(Number(ids.bare))
        // c2 was the product, which is c1 by now.
        await unsent(t, testbed, 'ESTALE', profile, JSON.stringify(record))
        await files.unlink(`.calcfs/drafts/${ids.profile}.json`)
      }
      t.equal(await outcome(overwrite(testbed, file, mine)), 'done')
      t.equal((await rowsOf(testbed, report))[0]?.title, 'Another')
    }
  })

  t.test('order.txt', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('ORDER-1 moved lines are exactly one PUT of the list; titles stay', async t => {
      const [first = '', second = '', third = ''] = await linesOf(testbed)
      await service.sends(t, ['PUT /report/calculations'], () =>
        overwrite(testbed, orderFile, written([third, first, second])),
      )
      t.same(await listOf(testbed), [ids.bare, ids.transition, ids.product])
      t.same(
        (await rowsOf(testbed)).map(row => row.title),
        ['Nothing', 'Transition state', 'Water'],
      )
      t.match((await namesOf(testbed, `reports/${ids.report}`))[0], /^01-Nothing/)
    })

    t.test('ORDER-1 a line that was taken out and comes back as a number has its title again', async t => {
      const [first = '', second = '', third = ''] = await linesOf(testbed)
      await overwrite(testbed, orderFile, written([first, third]))
      t.same(await listOf(testbed), [ids.bare, ids.product])
      t.equal(second.split('\t')[0], ids.transition)
      await overwrite(testbed, orderFile, written([first, third, ids.transition]))
      t.match((await rowsOf(testbed)).at(-1), { calcId: Number(ids.transition), title: 'Transition state' })
    })

    t.test('SAVE-18 a row that comes back elsewhere is an edit of the last save', async t => {
      // A program that has both files open has read the old list through the record.
      await textOf(testbed, `reports/${ids.report}.json`)
      const lines = await linesOf(testbed)
      await overwrite(testbed, orderFile, written(lines.slice(1)))
      const [second = '', third = ''] = await linesOf(testbed)
      const turned = [second, lines[0] ?? '', third]
      t.equal(await outcome(overwrite(testbed, orderFile, written(turned))), 'done')
      t.same(await linesOf(testbed), turned)
      await overwrite(testbed, orderFile, written(lines))
    })

    t.test('SAVE-22 lines that become those of their base again are an edit of the last save', async t => {
      const lines = await linesOf(testbed)
      const record = JSON.parse(await textOf(testbed, `reports/${ids.report}.json`))
      const text = JSON.stringify({ ...record, calculations: record.calculations.slice(0, 2) })
      await overwrite(testbed, `reports/${ids.report}.json`, text)
      const [first = '', second = ''] = await linesOf(testbed)
      await outcome(overwrite(testbed, orderFile, written([lines[2] ?? '', first, second])))
      t.equal(await outcome(overwrite(testbed, orderFile, written(lines))), 'done')
      t.same((await listOf(testbed)).length, 3)
    })

    t.test('ORDER-3 a line may be a path: of the drive, of the web pages, or below the folder', async t => {
      const [first = ''] = await linesOf(testbed)
      await overwrite(testbed, orderFile, written([first]))
      for (const path of [
        '/db/demo/Water splitting/H2O',
        '/projects/Water splitting/TS1_opt',
        'projects/Water splitting/H2O',
        '../../projects/Water splitting/TS1_opt',
        `/by-id/calculation/${ids.product}`,
      ]) {
        await overwrite(testbed, orderFile, written([first, path]))
        t.equal((await listOf(testbed)).length, 2, path)
        await overwrite(testbed, orderFile, written([first]))
      }
    })

    t.test('ORDER-3 what is no calculation is refused with its line, and nothing is sent', async t => {
      const [first = ''] = await linesOf(testbed)
      await service.sends(t, [], async () => {
        for (const wrong of ['999999', 'projects/nowhere', 'nonsense', '12x'])
          t.equal(await outcome(overwrite(testbed, orderFile, written([first, wrong]))), 'EINVAL', wrong)
      })
      t.same(await namesOf(testbed, '.calcfs/drafts'), [
        `${ids.report}-order.txt`,
        `${ids.report}-order.txt.why`,
      ])
      t.match(await textOf(testbed, `.calcfs/drafts/${ids.report}-order.txt.why`), /line 2/)
      t.match(await textOf(testbed, orderFile), /12x/, 'the file shows the draft')
      await testbed.remount()
      t.match(await textOf(testbed, orderFile), /12x/, 'after a restart too')
      await overwrite(testbed, orderFile, written([first]))
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    })

    t.test(
      'ORDER-3 a line that could be two things is refused: joined lines, tabs in a title, another path',
      async t => {
        const [first = ''] = await linesOf(testbed)
        await service.sends(t, [], async () => {
          for (const wrong of [
            `${first} ${ids.product}\tWater\t/by-id/calculation/${ids.product}`,
            `${ids.product}\ta\ttitle\t/by-id/calculation/${ids.product}`,
            `${ids.product}\tWater\t/by-id/calculation/${ids.transition}`,
          ])
            t.equal(await outcome(overwrite(testbed, orderFile, written([wrong]))), 'EINVAL', wrong)
        })
        await overwrite(testbed, orderFile, written([first]))
      },
    )

    t.test('ORDER-3 every kind of line end will do, and a mark at the beginning', async t => {
      const [first = ''] = await linesOf(testbed)
      await overwrite(testbed, orderFile, `\ufeff${first}\r${ids.product}\r\n${ids.transition}`)
      t.equal((await listOf(testbed)).length, 3)
      await overwrite(testbed, orderFile, written([first]))
    })

    t.test('ORDER-1 a title is changed in its cell, and taken away by emptying it', async t => {
      const [first = ''] = await linesOf(testbed)
      const [id, , path] = first.split('\t')
      await overwrite(testbed, orderFile, written([[id, 'Another', path].join('\t')]))
      t.equal((await rowsOf(testbed))[0]?.title, 'Another')
      await overwrite(testbed, orderFile, written([[id, '', path].join('\t')]))
      t.equal((await rowsOf(testbed))[0]?.title ?? '', '')
      await overwrite(testbed, orderFile, written([first]))
    })

    t.test('ORDER-3 an empty text never clears the list', async t => {
      await service.sends(t, [], async () => {
        await overwrite(testbed, orderFile, '')
        t.equal(await outcome(overwrite(testbed, orderFile, '\n \n')), 'EINVAL')
      })
      await files.unlink(`.calcfs/drafts/${ids.report}-order.txt`)
      await testbed.pass(3200)
      t.equal((await listOf(testbed)).length, 1)
    })

    t.test('ORDER-3 what another client put into the list meanwhile is not thrown out', async t => {
      const [first = ''] = await linesOf(testbed)
      await listElsewhere(testbed, ids.report, [idIn(first), ids.product])
      await unsent(t, testbed, 'ESTALE', orderFile, written([first, ids.transition]))
      await files.unlink(`.calcfs/drafts/${ids.report}-order.txt`)
    })

    t.test('ORDER-1 saved as editors save: with a backup put aside, and by a file moved over it', async t => {
      await testbed.pass(3200)
      const lines = await linesOf(testbed)
      t.equal(lines.length, 2, 'after a conflict the list is read again')
      await service.sends(t, ['PUT /report/calculations'], async () => {
        await files.rename(orderFile, `${orderFile}~`)
        await overwrite(testbed, orderFile, written(lines.toReversed()))
        await files.unlink(`${orderFile}~`)
      })
      await overwrite(testbed, `reports/${ids.report}/sedAbCdEf`, written(lines))
      await service.sends(t, ['PUT /report/calculations'], () =>
        files.rename(`reports/${ids.report}/sedAbCdEf`, orderFile),
      )
    })

    t.test('DRAFT-1 an order that changes what a formula means is refused, with the formulas', async t => {
      const profile = `reports/${ids.profile}/order.txt`
      const lines = (await textOf(testbed, profile)).trimEnd().split('\n')
      await unsent(t, testbed, 'EINVAL', profile, written(lines.toReversed()))
      t.match(await textOf(testbed, `.calcfs/drafts/${ids.profile}-order.txt.why`), /c1\+c2/)
      await files.unlink(`.calcfs/drafts/${ids.profile}-order.txt`)
    })

    t.test('DRAFT-1 a graph keeps the calculations that it computes with', async t => {
      const formula = `${ids.transition}+${ids.product}`
      const id = service.seed.addReport({
        name: 'Graph',
        owner: 'demo',
        configuration: `<graph><node cid_formula="${formula}"/></graph>`,
        calculations: [ids.transition, ids.product].map(id => ({ id, title: id })),
      })
      const graph = `reports/${id}/order.txt`
      const lines = (await textOf(testbed, graph)).trimEnd().split('\n')
      await unsent(t, testbed, 'EINVAL', graph, written(lines.slice(0, 1)))
      await overwrite(testbed, graph, written(lines.toReversed()))
      const now = await textOf(testbed, graph)
      t.ok(now.startsWith(`${ids.product}\t`), 'their order means nothing to it')
    })

    t.test('STALE-1 formulas of an order that another client has changed are a conflict', async t => {
      const profile = `reports/${ids.profile}.json`
      const text = await textOf(testbed, profile)
      await listElsewhere(testbed, ids.profile, [ids.product, ids.transition])
      await unsent(t, testbed, 'ESTALE', profile, text.replace('c1+c2', 'c1-c2'))
      await files.unlink(`.calcfs/drafts/${ids.profile}.json`)
    })

    t.test('ORDER-3 a calculation in the JSON list may be a path, too', async t => {
      const report = `reports/${ids.report}.json`
      const record = JSON.parse(await textOf(testbed, report))
      record.calculations = ['/db/demo/Water splitting/TS1_opt', Number(ids.bare)]
      await overwrite(testbed, report, JSON.stringify(record))
      t.same(await listOf(testbed), [ids.transition, ids.bare])
      await files.readdir('projects/Water splitting')
      await service.elsewhere('DELETE', `/calculation?id=${ids.product}`)
      const next = JSON.parse(await textOf(testbed, report))
      next.calculations = ['/projects/Water splitting/H2O']
      await unsent(t, testbed, 'EINVAL', report, JSON.stringify(next))
    })
  })

  t.test('ORDER-1 an unchanged text sends nothing, whatever its titles and the form of its list', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const titles = [' ', '\u2028', '', null, 'a\tb', '%09', ' padded ', '"', '""', '"in" quotes', 'a "b"']
    const odd = (form: (rows: unknown[]) => unknown[]) =>
      service.intercept(/^GET \/report\?/, async (response, { heard }) => {
        const record = JSON.parse(await service.elsewhere('GET', heard.path))
        const rows = titles.map((title, at) => ({ ...record.calculations[0], calcOrder: at + 1, title }))
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(JSON.stringify({ ...record, calculations: form(rows) }))
      })
    for (const form of [(rows: unknown[]) => rows, (rows: unknown[]) => rows.toReversed()]) {
      const mend = odd(form)
      await files.touch(`reports/${ids.report}`)
      await testbed.pass(3200)
      const text = await textOf(testbed, orderFile)
      t.equal(text.split('\n').length, titles.length + 1)
      await service.sends(t, [], () => overwrite(testbed, orderFile, text))
      mend()
    }
  })

  t.test('ORDER-1 a text of the record without a list is none that an order was made from', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const { calculations, ...bare } = JSON.parse(await service.elsewhere('GET', `/report?id=${ids.report}`))
    const mend = service.answer(/^GET \/report\?/, JSON.stringify(bare))
    await textOf(testbed, `reports/${ids.report}.json`)
    mend()
    await testbed.files.touch('reports')
    await testbed.pass(11_000)
    await overwrite(testbed, orderFile, written((await linesOf(testbed)).reverse()))
    t.same(await listOf(testbed), calculations.map(({ calcId }: Row) => String(calcId)).reverse())
  })

  t.test('ORDER-11 a whole new order, of rows in no known text, is an edit of the newest', async t => {
    const testbed = await open(t)
    for (const list of [[ids.transition], [ids.transition, ids.product, ids.bare]]) {
      await listElsewhere(testbed, ids.report, list)
      await testbed.files.touch(`reports/${ids.report}`)
      await testbed.pass(3200)
      await textOf(testbed, orderFile)
    }
    await overwrite(testbed, orderFile, `${ids.indigo}\n`)
    t.same(await listOf(testbed), [ids.indigo])
  })

  t.test('SAVE-22 an order of one row less is an edit of the last, not of a shorter one before', async t => {
    const testbed = await open(t)
    const file = `reports/${ids.report}.json`
    const record = JSON.parse(await textOf(testbed, file))
    const [one, two, three] = (await listOf(testbed)).map(Number)
    for (const calculations of [
      [one, one, two, three],
      [one, two, one, one, two, three],
    ]) {
      await overwrite(testbed, file, JSON.stringify({ ...record, calculations }))
      await linesOf(testbed)
    }
    const lines = (await linesOf(testbed)).toSpliced(4, 1)
    t.equal(await outcome(overwrite(testbed, orderFile, written(lines))), 'done')
    t.same(await linesOf(testbed), lines)
  })

  t.test('STALE-2 a row that two have taken out is out, and the next order goes on from that', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const [first = '', second = '', third = ''] = await linesOf(testbed)
    await service.elsewhere('DELETE', `/calculation?id=${second.split('\t')[0]}`)
    for (const [lines, sent] of [
      [[first, third], []],
      [[third], ['PUT /report/calculations']],
    ] as const) {
      // The same list once more: its places have other numbers then.
      if (sent.length > 0) await listElsewhere(testbed, ids.report, [first, third].map(idIn))
      await service.sends(t, sent, async () =>
        t.equal(await outcome(overwrite(testbed, orderFile, written(lines))), 'done'),
      )
      t.same(await linesOf(testbed), lines)
    }
  })

  t.test('STALE-1 an order and a title from texts of before do not take each other back', async t => {
    const report = `reports/${ids.report}.json`
    const titled = (text: string) => text.replace('"Water"', '"New title"')
    for (const first of ['title', 'order'] as const) {
      const testbed = await open(t)
      const text = await textOf(testbed, report)
      const lines = (await linesOf(testbed)).toReversed()
      const saveTitle = () => outcome(overwrite(testbed, report, titled(text)))
      const saveOrder = () => outcome(overwrite(testbed, orderFile, written(lines)))
      const saves = first === 'title' ? [saveTitle, saveOrder] : [saveOrder, saveTitle]
      const ended: string[] = []
      for (const save of saves) ended.push(await save())
      t.same(ended, ['done', 'ESTALE'], `${first} first`)
      const rows = await rowsOf(testbed)
      t.equal(
        rows.some(row => row.title === 'New title'),
        first === 'title',
      )
      t.equal(String(rows[0]?.calcId) === lines[0]?.split('\t')[0], first === 'order')
    }
  })
}
