// The records of projects and calculations are saved like those of reports: one PUT, the edited fields and nothing else.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const water = 'projects/Water splitting'
const project = `${water}/.project.json`
const calculation = `${water}/TS1_opt/.calculation.json`

const described = /(?<="description": ")[^"]*/

export function otherRecords(t: Test, open: OpenTestbed): void {
  t.test('records of projects and calculations', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const stored = async (path: string) => JSON.parse(await service.elsewhere('GET', path))

    t.test('DRAFT-1 the record of another thing is refused, also with its id taken out', async t => {
      const pairs = [
        [calculation, `${water}/H2O/.calculation.json`],
        [project, `${water}/Sub project/.project.json`],
        [`reports/${ids.report}.json`, `reports/${ids.profile}.json`],
      ] as const
      await service.sends(t, [], async () => {
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
    })

    for (const { what, path, id } of [
      { what: 'project', path: project, id: ids.water },
      { what: 'calculation', path: calculation, id: ids.transition },
    ]) {
      t.test(`SAVE-1 an edited ${what} is one PUT of the record as it was read`, async t => {
        const noted = withNote(await service.elsewhere('GET', `/${what}?id=${id}`))
        await service.elsewhere('PUT', `/${what}`, noted)
        await files.touch(path.replace(/\/[^/]*$/, ''))
        await testbed.pass(3200)
        const text = (await textOf(testbed, path)).replace(described, 'Edited')
        await service.sends(t, [`PUT /${what}`], () => overwrite(testbed, path, text))
        t.match(await stored(`/${what}?id=${id}`), { description: 'Edited' })
        t.match(await service.elsewhere('GET', `/${what}?id=${id}`), /"note":\{"n":0\.10\}/)
        t.equal(JSON.parse(await textOf(testbed, path)).description, 'Edited')
      })
    }

    t.test('RENAME-1 a rename may take the old name at once, also of what was made here', async t => {
      for (const folder of ['One', 'Two']) await files.mkdir(`${water}/${folder}`)
      const record = (folder: string) => `${water}/${folder}/.project.json`
      const renamed = (await textOf(testbed, record('One'))).replace('"One"', '"First"')
      await overwrite(testbed, record('One'), renamed)
      await files.rename(`${water}/Two`, `${water}/One`)
      t.match(await textOf(testbed, record('One')), '"One"')
      t.match(await textOf(testbed, record('First')), '"First"')
      const listed = await namesOf(testbed, water)
      t.same(
        ['One', 'Two', 'First'].filter(name => listed.includes(name)),
        ['One', 'First'],
      )
    })

    t.test('RENAME-1 MAKE-3 an old name that a sibling has by now is taken', async t => {
      const edit = async (folder: string, record: string, to: string) => {
        const path = `${water}/${folder}/${record}`
        const text = await textOf(testbed, path)
        await overwrite(testbed, path, text.replace(/"name": "[^"]*"/, `"name": "${to}"`))
      }
      const elsewhere = async (name: string) => {
        await service.edit('calculation', ids.transition, { name })
        await testbed.pass(3200)
      }
      const calculationNow = async () => (await stored(`/calculation?id=${ids.transition}`)).name
      for (const given of ['by an edit of its record', 'by another client']) {
        const [free, last] = [`Free ${given}`, `Last ${given}`]
        await files.mkdir(`${water}/${free}`)
        await edit(free, '.project.json', last)
        if (given === 'by another client') await elsewhere(free)
        else await edit(await calculationNow(), '.calculation.json', free)
        await service.sends(t, [], async () => {
          t.equal(await outcome(files.rename(`${water}/${last}`, `${water}/${free}`)), 'EEXIST', given)
        })
        t.equal(await calculationNow(), free, 'the name stays with the calculation')
        t.ok((await namesOf(testbed, water)).includes(last))
      }
    })
  })

  t.test('NAME-1 a name that passes on by edits of two records means the second one at once', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { files, service } = testbed
    for (const name of ['First', 'Second']) {
      await files.mkdir(`${water}/${name}`)
      await namesOf(testbed, `${water}/${name}/.shares`)
      await textOf(testbed, `${water}/${name}/.project.json`)
    }
    const retitle = async (from: string, to: string): Promise<void> => {
      const record = `${water}/${from}/.project.json`
      await overwrite(testbed, record, (await textOf(testbed, record)).replace(`"${from}"`, `"${to}"`))
    }
    const { id } = JSON.parse(await textOf(testbed, `${water}/Second/.project.json`))
    await retitle('First', 'Away')
    await retitle('Second', 'First')
    await overwrite(testbed, `${water}/First/.shares/new.json`, '{"user":"guest","permission":"FULLACCESS"}')
    t.match(await service.elsewhere('GET', `/project/share?id=${id}`), '"guest"')
    t.equal(JSON.parse(await textOf(testbed, `${water}/First/.project.json`)).id, id)
  })

  t.test('MAKE-6 a value that reads back otherwise than sent is not stored, and the text stays', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { service } = testbed
    const shares = `${water}/.shares`
    await overwrite(testbed, `${shares}/new.json`, '{"user":"guest","permission":"WRITE"}')
    const share = `${shares}/${(await namesOf(testbed, shares)).find(name => /^\d+\.json$/.test(name))}`
    const long = 'A long description. '.repeat(20)
    for (const [path, which, from, to, change] of [
      [share, /^PUT \/project\/share/, /WRITE/, 'READ', ['READ', 'FULLACCESS']],
      [calculation, /^PUT \/calculation/, described, long, [long, long.slice(0, 255)]],
      [project, /^PUT \/project$/, described, 'Gap of -5 eV', ['of -5', 'of 5']],
    ] as const) {
      const text = (await textOf(testbed, path)).replace(from, to)
      const mend = service.rewrite(which, body => body.replace(change[0], change[1]))
      t.equal(await outcome(overwrite(testbed, path, text)), 'EIO', path)
      mend()
      const drafts = await namesOf(testbed, '.calcfs/drafts')
      const draft = drafts.find(name => name.endsWith('.json')) ?? 'none'
      t.equal(await textOf(testbed, `.calcfs/drafts/${draft}`), text, path)
      t.match(await textOf(testbed, `.calcfs/drafts/${draft}.why`), /the server ignored the change/)
      await testbed.files.unlink(`.calcfs/drafts/${draft}`)
    }
  })

  t.test('MAKE-6 a name in the own spelling of the service is stored where the answer is lost', async t => {
    const testbed = await open(t, { service: { shortcomings: { ownSpelling: true } } })
    const { files, service } = testbed
    const report = `reports/${ids.report}.json`
    await service.sends(t, ['PUT /calculation', 'PUT /report'], async () => {
      const mends = [/^PUT \/calculation$/, /^PUT \/report$/].map(which => service.lose(which))
      t.equal(await outcome(files.rename(`${water}/TS1_opt`, `${water}/a b`)), 'done')
      const text = (await textOf(testbed, report)).replace('"Supporting"', '"Supporting text"')
      t.equal(await outcome(overwrite(testbed, report, text)), 'done')
      for (const mend of mends) mend()
    })
    t.ok((await namesOf(testbed, water)).includes('a_b'))
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])

    // The save is cut short: neither its answer nor the record can be read, and the next mount looks.
    const record = `${water}/H2O/.calculation.json`
    const text = (await textOf(testbed, record)).replace('"H2O"', '"heavy water"')
    const mend = service.lose(/^PUT \/calculation$/, () =>
      service.intercept(/^GET \/calculation\?/, found => void found.destroy()),
    )
    t.match(await outcome(overwrite(testbed, record, text)), /^E/)
    t.not((await namesOf(testbed, '.calcfs/drafts')).length, 0)
    mend()
    const later = await service.during(async () => {
      await testbed.remount()
      await until(10_000, 'the draft goes', async () => {
        return (await namesOf(testbed, '.calcfs/drafts')).length === 0
      })
    })
    t.match(await textOf(testbed, record), '"heavy_water"')
    t.same(writes(later), [])
  })
}

/** As if the platform had an unknown field. */
const withNote = (record: string): string => record.replace(/\}$/, ',"note":{"n":0.10}}')
