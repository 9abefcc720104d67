// `order.txt`: lines that are moved, taken out and put in are one new list, and what stays keeps its title.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type Ground, namesOf, type OpenGround, outcome, overwrite, textOf } from '../../testbed/testbed.js'

const orderFile = `reports/${ids.report}/order.txt`

interface Row {
  calcId: number
  title: string | null
}

const rowsOf = async ({ service }: Ground, report: string = ids.report): Promise<Row[]> =>
  JSON.parse(await service.elsewhere('GET', `/report?id=${report}`)).calculations
const listOf = async (ground: Ground, report?: string): Promise<string[]> =>
  (await rowsOf(ground, report)).map(row => String(row.calcId))
const linesOf = async (ground: Ground): Promise<string[]> =>
  (await textOf(ground, orderFile)).trimEnd().split('\n')
const written = (lines: readonly string[]): string => lines.map(line => `${line}\n`).join('')

export function order(t: Test, open: OpenGround): void {
  t.test('order.txt', async t => {
    const ground = await open(t)
    const { files, service } = ground

    t.test('ORDER-1 moved lines are exactly one PUT of the list; titles stay', async t => {
      const [first = '', second = '', third = ''] = await linesOf(ground)
      const asked = await service.during(() => overwrite(ground, orderFile, written([third, first, second])))
      t.same(writes(asked), ['PUT /report/calculations'])
      t.same(await listOf(ground), [ids.bare, ids.transition, ids.product])
      t.same(
        (await rowsOf(ground)).map(row => row.title),
        ['Nothing', 'Transition state', 'Water'],
      )
      t.match((await namesOf(ground, `reports/${ids.report}`))[0], /^01-Nothing/)
    })

    t.test('ORDER-2 a line that was taken out and comes back as a number has its title again', async t => {
      const [first = '', second = '', third = ''] = await linesOf(ground)
      await overwrite(ground, orderFile, written([first, third]))
      t.same(await listOf(ground), [ids.bare, ids.product])
      t.equal(second.split('\t')[0], ids.transition)
      await overwrite(ground, orderFile, written([first, third, ids.transition]))
      t.match((await rowsOf(ground)).at(-1), { calcId: Number(ids.transition), title: 'Transition state' })
    })

    t.test('ORDER-3 a line may be a path: of the drive, of the web pages, or below the folder', async t => {
      const [first = ''] = await linesOf(ground)
      await overwrite(ground, orderFile, written([first]))
      for (const path of [
        '/db/demo/Water splitting/H2O',
        '/projects/Water splitting/TS1_opt',
        'projects/Water splitting/H2O',
        '../../projects/Water splitting/TS1_opt',
        `/by-id/calculation/${ids.product}`,
      ]) {
        await overwrite(ground, orderFile, written([first, path]))
        t.equal((await listOf(ground)).length, 2, path)
        await overwrite(ground, orderFile, written([first]))
      }
    })

    t.test('ORDER-4 what is no calculation is refused with its line, and nothing is sent', async t => {
      const [first = ''] = await linesOf(ground)
      const asked = await service.during(async () => {
        for (const wrong of ['999999', 'projects/nowhere', 'nonsense', '12x'])
          t.equal(await outcome(overwrite(ground, orderFile, written([first, wrong]))), 'EINVAL', wrong)
      })
      t.same(writes(asked), [])
      t.same(await namesOf(ground, '.calcfs/drafts'), [
        `${ids.report}-order.txt`,
        `${ids.report}-order.txt.why`,
      ])
      t.match(await textOf(ground, `.calcfs/drafts/${ids.report}-order.txt.why`), /line 2/)
      t.match(await textOf(ground, orderFile), /12x/, 'the file shows the draft')
      await ground.remount()
      t.match(await textOf(ground, orderFile), /12x/, 'after a restart too')
      await overwrite(ground, orderFile, written([first]))
      t.same(await namesOf(ground, '.calcfs/drafts'), [])
    })

    t.test(
      'ORDER-4 a line that could be two things is refused: joined lines, tabs in a title, another path',
      async t => {
        const [first = ''] = await linesOf(ground)
        const asked = await service.during(async () => {
          for (const wrong of [
            `${first} ${ids.product}\tWater\t/by-id/calculation/${ids.product}`,
            `${ids.product}\ta\ttitle\t/by-id/calculation/${ids.product}`,
            `${ids.product}\tWater\t/by-id/calculation/${ids.transition}`,
          ])
            t.equal(await outcome(overwrite(ground, orderFile, written([wrong]))), 'EINVAL', wrong)
        })
        t.same(writes(asked), [])
        await overwrite(ground, orderFile, written([first]))
      },
    )

    t.test('ORDER-4 every kind of line end will do, and a mark at the beginning', async t => {
      const [first = ''] = await linesOf(ground)
      await overwrite(ground, orderFile, `\ufeff${first}\r${ids.product}\r\n${ids.transition}`)
      t.equal((await listOf(ground)).length, 3)
      await overwrite(ground, orderFile, written([first]))
    })

    t.test('ORDER-1 a title is changed in its cell, and taken away by emptying it', async t => {
      const [first = ''] = await linesOf(ground)
      const [id, , path] = first.split('\t')
      await overwrite(ground, orderFile, written([[id, 'Another', path].join('\t')]))
      t.equal((await rowsOf(ground))[0]?.title, 'Another')
      await overwrite(ground, orderFile, written([[id, '', path].join('\t')]))
      t.equal((await rowsOf(ground))[0]?.title ?? '', '')
      await overwrite(ground, orderFile, written([first]))
    })

    t.test('ORDER-5 an empty text never clears the list', async t => {
      const asked = await service.during(async () => {
        await overwrite(ground, orderFile, '')
        t.equal(await outcome(overwrite(ground, orderFile, '\n \n')), 'EINVAL')
      })
      t.same(writes(asked), [])
      await files.unlink(`.calcfs/drafts/${ids.report}-order.txt`)
      await ground.pass(3200)
      t.equal((await listOf(ground)).length, 1)
    })

    t.test('ORDER-6 what somebody else put into the list meanwhile is not thrown out', async t => {
      const [first = ''] = await linesOf(ground)
      const body = JSON.stringify({ id: 42, listCalculations: [first.split('\t')[0], ids.product].join(',') })
      await service.elsewhere('PUT', '/report/calculations', body)
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(ground, orderFile, written([first, ids.transition]))), 'ESTALE')
      })
      t.same(writes(asked), [])
      await files.unlink(`.calcfs/drafts/${ids.report}-order.txt`)
    })

    t.test('ORDER-7 saved as editors save: with a backup put aside, and by a file moved over it', async t => {
      await ground.pass(3200)
      const lines = await linesOf(ground)
      t.equal(lines.length, 2, 'after a conflict the list is read anew')
      const asked = await service.during(async () => {
        await files.rename(orderFile, `${orderFile}~`)
        await overwrite(ground, orderFile, written(lines.toReversed()))
        await files.unlink(`${orderFile}~`)
      })
      t.same(writes(asked), ['PUT /report/calculations'])
      await overwrite(ground, `reports/${ids.report}/sedAbCdEf`, written(lines))
      t.same(writes(await service.during(() => files.rename(`reports/${ids.report}/sedAbCdEf`, orderFile))), [
        'PUT /report/calculations',
      ])
    })

    t.test('ORDER-8 an unchanged text sends nothing', async t => {
      const text = await textOf(ground, orderFile)
      t.same(writes(await service.during(() => overwrite(ground, orderFile, text))), [])
    })

    t.test('ORDER-9 an order that changes what a formula means is refused, with the formulas', async t => {
      const profile = `reports/${ids.profile}/order.txt`
      const lines = (await textOf(ground, profile)).trimEnd().split('\n')
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(ground, profile, written(lines.toReversed()))), 'EINVAL')
      })
      t.same(writes(asked), [])
      t.match(await textOf(ground, `.calcfs/drafts/${ids.profile}-order.txt.why`), /c1\+c2/)
      await files.unlink(`.calcfs/drafts/${ids.profile}-order.txt`)
    })

    t.test('ORDER-10 a calculation in the JSON list may be a path, too', async t => {
      const report = `reports/${ids.report}.json`
      const record = JSON.parse(await textOf(ground, report))
      record.calculations = ['/db/demo/Water splitting/TS1_opt', Number(ids.bare)]
      await overwrite(ground, report, JSON.stringify(record))
      t.same(await listOf(ground), [ids.transition, ids.bare])
    })
  })
}
