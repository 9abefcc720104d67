// A list of numbers alone: the service fills in places and empty titles, and the text that was saved is still that text.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { listOf } from './order.js'

const lists = {
  two: [ids.transition, ids.product],
  other: [ids.bare, ids.transition],
  new: [ids.bare, ids.indigo],
  longer: [ids.bare, ids.product, ids.indigo],
} as const
type List = keyof typeof lists

export function plainLists(t: Test, open: OpenTestbed): void {
  t.test('a report whose list is numbers alone', async t => {
    const testbed = await open(t)
    const { service } = testbed
    let made = 0

    const writtenAs = (row: (id: string) => unknown) => (name: string, list: List) =>
      JSON.stringify({ name, reportType: 1, calculations: lists[list].map(row) })
    const forms = {
      numbers: writtenAs(Number),
      'rows without titles': writtenAs(id => ({ calcId: Number(id) })),
    }
    const report = async (text: (name: string, list: List) => string, first: List) => {
      made += 1
      const path = `reports/new-${made}.json`
      const save = (list: List) => outcome(overwrite(testbed, path, text(`List ${made}`, list)))
      await save(first)
      const { id } = JSON.parse(await textOf(testbed, path))
      const own = `reports/${id}.json`
      const order = `reports/${id}/order.txt`
      const inForce = async (): Promise<string> => (await listOf(testbed, id)).join()
      const doors = {
        'order.txt': (list: List) => overwrite(testbed, order, `${lists[list].join('\n')}\n`),
        async 'its number'(list: List) {
          const record = JSON.parse(await textOf(testbed, own))
          const calculations = lists[list].map(Number)
          await overwrite(testbed, own, JSON.stringify({ ...record, calculations }))
        },
      }
      return { id, path, own, order, save, inForce, doors }
    }

    for (const [form, text] of Object.entries(forms)) {
      t.test(`SAVE-5 NEW-4 a list of ${form} that was read since is unchanged`, async t => {
        for (const read of ['path', 'own', 'order'] as const) {
          const one = await report(text, 'two')
          for (const list of ['longer', 'two'] as const) {
            t.equal(await one.save(list), 'done')
            await textOf(testbed, one[read])
            await service.sends(t, [], async () => t.equal(await one.save(list), 'done', read))
            t.equal(await one.inForce(), lists[list].join())
          }
        }
      })

      t.test(`NEW-4 a list of ${form} takes back what was saved under other names`, async t => {
        for (const door of ['order.txt', 'its number'] as const)
          for (const [first, then] of [
            ['two', 'longer'],
            ['other', 'two'],
          ] as const) {
            const one = await report(text, first)
            await one.doors[door](then)
            t.equal(await one.inForce(), lists[then].join())
            t.equal(await one.save(first), 'done', `${first}, ${then} by ${door}`)
            t.equal(await one.inForce(), lists[first].join())
          }
      })
    }

    t.test('NEW-4 it takes back titles and rows that its number was given', async t => {
      const one = await report(forms.numbers, 'two')
      const record = JSON.parse(await textOf(testbed, one.own))
      const [first, ...others] = record.calculations
      const more = [ids.bare, ids.indigo, ids.bare].map(id => ({ calcId: Number(id), title: 'More' }))
      const calculations = [{ ...first, title: 'First' }, ...others, ...more]
      await overwrite(testbed, one.own, JSON.stringify({ ...record, calculations }))
      t.equal(await one.save('two'), 'done')
      t.equal(await one.inForce(), lists.two.join())
    })

    t.test('SAVE-5 a text with its number and rows that have no titles is unchanged, too', async t => {
      const one = await report(forms.numbers, 'two')
      const before = JSON.parse(await textOf(testbed, one.own))
      const calculations = lists.new.map((id, at) => ({ calcId: Number(id), calcOrder: at + 1 }))
      const mine = JSON.stringify({ ...before, calculations })
      await overwrite(testbed, one.own, mine)
      await textOf(testbed, one.path)
      await service.sends(t, [], async () =>
        t.equal(await outcome(overwrite(testbed, one.own, mine)), 'done'),
      )
      await overwrite(testbed, one.own, mine.replace(`"List ${made}"`, '"Renamed"'))
      t.match(await service.elsewhere('GET', `/report?id=${one.id}`), '"Renamed"')
      t.equal(await one.inForce(), lists.new.join())
    })

    t.test(
      'SAVE-16 one that is stored of a save that failed is taken back by the text of before',
      async t => {
        for (const isTitleNew of [false, true]) {
          const one = await report(forms.numbers, 'two')
          const before = await textOf(testbed, one.own)
          const mine = JSON.stringify({ ...JSON.parse(before), calculations: lists.new.map(Number) })
          const mend = service.beforeAnswer(/^PUT \/report\/calculations$/, () =>
            service.refuse(/^GET \/report\?/, 500),
          )
          t.match(await outcome(overwrite(testbed, one.own, mine)), /^E/)
          mend()
          t.equal(await one.inForce(), lists.new.join(), 'it is stored')
          await testbed.files.unlink(`.calcfs/drafts/${one.id}.json`)
          const back = isTitleNew ? before.replace(`"List ${made}"`, '"Renamed"') : before
          const ended = await outcome(overwrite(testbed, one.own, back))
          t.match(ended, isTitleNew ? /^(done|ESTALE)$/ : 'done')
          if (ended === 'done') t.equal(await one.inForce(), lists.two.join())
        }
      },
    )

    t.test(
      'STALE-2 a list that is stored is not taken for another client’s change while the rest waits',
      async t => {
        const one = await report(forms.numbers, 'two')
        const before = JSON.parse(await textOf(testbed, one.own))
        const mine = JSON.stringify({ ...before, name: 'Slow', calculations: lists.new.map(Number) })
        const mend = service.beforeAnswer(/^PUT \/report\/calculations$/, () => testbed.pass(6000))
        t.equal(await outcome(overwrite(testbed, one.own, mine)), 'done')
        mend()
        t.equal(await one.inForce(), lists.new.join())
        t.match(await service.elsewhere('GET', `/report?id=${one.id}`), '"Slow"')
      },
    )
  })
}
