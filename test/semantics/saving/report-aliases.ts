// What `new*.json` in reports/ stands for is decided by the text: one that is about another report never changes the first.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { gate, until } from '../../testbed/within.js'

export function reportAliases(t: Test, open: OpenTestbed): void {
  t.test('the name under which a report was made', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const name = 'reports/new-si.json'
    const written = (title: string, description: string, ...calculations: number[]) =>
      JSON.stringify({ title, description, reportType: '1', calculations })
    const titles = async () => {
      const listed = (await namesOf(testbed, 'reports')).filter(one => /^\d+\.json$/.test(one))
      return Promise.all(listed.map(async one => JSON.parse(await textOf(testbed, `reports/${one}`)).title))
    }
    let first = ''
    const firstStored = async () => JSON.parse(await service.elsewhere('GET', `/report?id=${first}`))

    t.test('NEW-11 a copy of another report is another report', async t => {
      await overwrite(testbed, name, written('Dyes', 'Colours', 1235))
      first = String(JSON.parse(await textOf(testbed, name)).id)
      const copied = await textOf(testbed, `reports/${ids.report}.json`)
      const asked = await service.during(() => overwrite(testbed, name, copied))
      t.match(writes(asked), ['POST /report'])
      t.match(await firstStored(), { title: 'Dyes', description: 'Colours' })
      t.not(String(JSON.parse(await textOf(testbed, name)).id), first, 'the name stands for the new one')
      const again = await service.during(() =>
        overwrite(
          testbed,
          name,
          copied.replace(/"description": "[^"]*"|"title": "Supporting information"/, '"title": "Again"'),
        ),
      )
      t.notOk(writes(again).includes('POST /report'), 'the same buffer once more is an update')
    })

    t.test('NEW-11 a text that has nothing in common with the report is refused', async t => {
      const own = 'reports/new-own.json'
      await overwrite(testbed, own, written('Acids', 'Sour', 1235))
      first = String(JSON.parse(await textOf(testbed, own)).id)
      const asked = await service.during(async () => {
        t.equal(await outcome(overwrite(testbed, own, written('Bases', 'Bitter', 1236))), 'EINVAL')
        t.equal(await outcome(overwrite(testbed, own, '{"name":"Salts","reportType":1}')), 'EINVAL')
      })
      t.same(writes(asked), [])
      t.match(await firstStored(), { title: 'Acids', description: 'Sour' })
      t.match(await textOf(testbed, own), /Salts/, 'the text is kept')
      for (const text of [
        written('Acids', 'Very sour', 1236, 1235),
        written('Acids and bases', 'Very sour', 1236, 1235),
        written('Acids and bases', 'Sour', 1236, 1235, 1234),
      ]) {
        const saved = await service.during(() => overwrite(testbed, own, text))
        t.notOk(writes(saved).includes('POST /report'), 'an editor at work on it updates it')
        t.match(await firstStored(), { title: JSON.parse(text).title })
      }
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
      t.same(
        (await titles()).filter(title => title === 'Bases' || title === 'Salts'),
        [],
      )
    })

    t.test('NEW-11 another report written while the first is on the way', async t => {
      const own = 'reports/new-late.json'
      const { open: letPass, opened } = gate()
      const mend = service.intercept(/^POST \/report/, async (_response, { carryOut }) => {
        const answer = await carryOut()
        await opened
        answer()
      })
      const posts = () =>
        service.heard.filter(({ method, path }) => method === 'POST' && path === '/report').length
      const before = posts()
      const file = await testbed.files.open(own, 'w')
      await file.write(written('One', 'First', 1235), 0)
      const end = outcome(file.close())
      await until(5000, 'the POST', async () => posts() > before)
      const other = await testbed.files.open(own, 'r+')
      await other.truncate(0)
      await other.write(written('Two', 'Second', 1236), 0)
      mend()
      letPass()
      await end
      t.equal(await outcome(other.close()), 'EINVAL')
      t.ok((await titles()).includes('One'))
      t.notOk((await titles()).includes('Two'))
    })

    t.test('DRAFT-1 the record of another thing is refused, also with its id taken out', async t => {
      const calculation = 'projects/Water splitting/TS1_opt/.calculation.json'
      const other = 'projects/Water splitting/H2O/.calculation.json'
      const report = `reports/${ids.report}.json`
      const pairs = [
        [calculation, other],
        ['projects/Water splitting/.project.json', 'projects/Water splitting/Sub project/.project.json'],
        [report, `reports/${ids.profile}.json`],
      ] as const
      const asked = await service.during(async () => {
        for (const [to, from] of pairs) {
          const text = await textOf(testbed, from)
          const before = await textOf(testbed, to)
          t.equal(await outcome(overwrite(testbed, to, text)), 'EINVAL', to)
          t.equal(
            await outcome(overwrite(testbed, to, text.replace(/\s*"id": \d+,/, ''))),
            'EINVAL',
            `${to}, no id`,
          )
          await overwrite(testbed, to, before)
        }
      })
      t.same(writes(asked), [])
    })
  })
}
