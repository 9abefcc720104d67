// A directory that is made is a project, another name is another name on the service, and an empty project goes with rmdir.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { pauseEnds, removeTree } from './deleting.js'

const water = 'projects/Water splitting'

const below = async ({ service }: Testbed, project: string): Promise<{ id: number; name: string }[]> =>
  JSON.parse(await service.elsewhere('GET', `/project/descendant?type=project&id=${project}`))

export function making(t: Test, open: OpenTestbed): void {
  t.test('RENAME-1 a title saved by number is the name in the project at once', async t => {
    const testbed = await open(t)
    for (const [path, before, now] of [
      [`by-id/calculation/${ids.transition}/.calculation.json`, 'TS1_opt', 'Saddle'],
      [`by-id/project/${ids.empty}/.project.json`, 'Sub project', 'Below'],
    ] as const) {
      t.ok((await namesOf(testbed, water)).includes(before))
      await overwrite(testbed, path, (await textOf(testbed, path)).replace(before, now))
      const names = await namesOf(testbed, water)
      t.ok(names.includes(now), names.join())
      t.notOk(names.includes(before))
    }
  })

  t.test('MAKE-2 RENAME-2 a written name is free once another client has renamed its thing', async t => {
    const testbed = await open(t, { settings: { ttlListing: '1s' } })
    const { files, service } = testbed
    await files.mkdir(`${water}/Results`)
    await files.rename(`${water}/TS1_opt`, `${water}/Best`)
    const made = (await below(testbed, ids.water)).find(({ name }) => name === 'Results')
    await service.edit('project', String(made?.id), { name: 'Archived Results' })
    await service.edit('calculation', ids.transition, { name: 'Archived Best' })
    await testbed.pass(3200)
    const names = await namesOf(testbed, water)
    t.ok(names.includes('Archived Results') && names.includes('Archived Best'), names.join())
    for (const name of ['Results', 'Best']) {
      t.equal(await outcome(files.lstat(`${water}/${name}`)), 'ENOENT')
      t.equal(await outcome(files.mkdir(`${water}/${name}`)), 'done')
    }
  })

  t.test('RENAME-2 a name whose calculation waits to be deleted is given once that is gone', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { files, service } = testbed
    await removeTree(testbed, `${water}/TS1_opt`)
    const moved = outcome(files.rename(`${water}/H2O`, `${water}/TS1_opt`))
    await pauseEnds(testbed)
    t.equal(await moved, 'done')
    const sent = writes(service.heard).filter(line => !line.endsWith('/login'))
    t.same(sent, [`DELETE /calculation?id=${ids.transition}`, 'PUT /calculation'])
    t.match(await textOf(testbed, `${water}/TS1_opt/.calculation.json`), `"id": ${ids.product}`)
    t.notOk((await namesOf(testbed, water)).includes('H2O'))
  })

  t.test('mkdir', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('MAKE-1 is a POST of a project below its parent; it is there at once', async t => {
      await service.sends(t, ['POST /project'], () => files.mkdir(`${water}/Fresh project`))
      t.ok((await namesOf(testbed, water)).includes('Fresh project'))
      const [made] = (await below(testbed, ids.water)).filter(({ name }) => name === 'Fresh project')
      const record = JSON.parse(await textOf(testbed, `${water}/Fresh project/.project.json`))
      t.match(record, { id: made?.id, description: /^Made as a directory on \d{4}-\d\d-\d\d$/ })
    })

    t.test('MAKE-1 an escaped name is the title it stands for', async t => {
      await files.mkdir(`${water}/a%2Fb`)
      t.ok((await below(testbed, ids.water)).some(({ name }) => name === 'a/b'))
      t.ok((await namesOf(testbed, water)).includes('a%2Fb'))
    })

    t.test('MAKE-3 a name that is taken is EEXIST; where nothing can be made it is EPERM', async t => {
      await service.sends(t, [], async () => {
        t.equal(await outcome(files.mkdir(`${water}/TS1_opt`)), 'EEXIST')
        t.equal(await outcome(files.mkdir(`${water}/TS1_opt/inside`)), 'EPERM')
        t.equal(await outcome(files.mkdir('reports/folder')), 'EPERM')
        for (const name of [
          '.Trash-1000',
          '.snakemake',
          '__pycache__',
          'node_modules',
          '@eaDir',
          'lost+found',
        ])
          t.match(await outcome(files.mkdir(`${water}/${name}`)), /EPERM/, name)
      })
      service.seed.addProject({ id: '190', name: '.snakemake', owner: 'demo', parent: ids.water })
      await testbed.pass(31_000)
      t.ok((await namesOf(testbed, water)).includes('.snakemake'), 'a project of that name is shown')
      t.equal(await outcome(files.lstat(`${water}/.snakemake/.project.json`)), 'done')
    })

    t.test('MAKE-3 what another client has made since the list was read is taken', async t => {
      await namesOf(testbed, water)
      service.seed.addProject({ id: '910', name: 'Theirs', owner: 'demo', parent: ids.water })
      service.seed.addCalculation({ id: '911', name: 'Theirs too', project: ids.water })
      const asked = await service.during(async () => {
        t.equal(await outcome(files.mkdir(`${water}/Theirs`)), 'EEXIST')
        t.equal(await outcome(files.mkdir(`${water}/Theirs too`)), 'EEXIST')
      })
      service.seed.addCalculation({ id: '912', name: 'And this', project: ids.water })
      const renamed = await service.during(async () => {
        t.equal(await outcome(files.rename(`${water}/TS1_opt`, `${water}/And this`)), 'EEXIST')
      })
      t.same([...writes(asked), ...writes(renamed)], [])
    })

    t.test('MAKE-3 of two at once by two paths of one project, one gets the name', async t => {
      const byId = `by-id/project/${ids.water}`
      await Promise.all([namesOf(testbed, water), namesOf(testbed, byId)])
      const made = [water, byId].map(path => outcome(files.mkdir(`${path}/One of two`)))
      t.same((await Promise.all(made)).sort(), ['EEXIST', 'done'])
      await files.mkdir(`${water}/Other`)
      const renames = [
        files.rename(`${water}/One of two`, `${water}/Only one`),
        files.rename(`${byId}/Other`, `${byId}/Only one`),
      ]
      t.same((await Promise.all(renames.map(outcome))).sort(), ['EEXIST', 'done'])
      for (const [name, often] of [
        ['One of two', [0, 1]],
        ['Only one', [1]],
      ] as const)
        t.ok(
          often.includes((await below(testbed, ids.water)).filter(one => one.name === name).length as never),
        )
    })

    t.test('MAKE-4 a lost answer makes no second project', async t => {
      const mend = service.lose(/^POST \/project$/)
      t.equal(await outcome(files.mkdir(`${water}/Once`)), 'done')
      mend()
      t.equal((await below(testbed, ids.water)).filter(({ name }) => name === 'Once').length, 1)
    })

    t.test('MAKE-4 nor does a second try, when the first check was impossible', async t => {
      const mend = service.lose(/^POST \/project$/, () =>
        service.intercept(/^GET \/project\/desc/, away => void away.destroy()),
      )
      t.match(await outcome(files.mkdir(`${water}/Twice`)), /^E/)
      mend()
      await testbed.pass(2100)
      t.equal(await outcome(files.mkdir(`${water}/Twice`)), 'EEXIST')
      t.equal((await below(testbed, ids.water)).filter(({ name }) => name === 'Twice').length, 1)
    })

    t.test(
      'RMDIR-1 what this mount has made it may remove with --access edit, after a restart too',
      async t => {
        await testbed.remount()
        const asked = await service.during(() => files.rmdir(`${water}/Fresh project`))
        t.match(writes(asked), [/^DELETE \/project\?id=\d+$/])
        t.notOk((await namesOf(testbed, water)).includes('Fresh project'))
        t.equal(await outcome(files.lstat(`${water}/Fresh project`)), 'ENOENT')
        t.equal(await outcome(files.rmdir(`${water}/Sub project`)), 'EPERM')
      },
    )
  })

  for (const other of ['another date', 'another name and the same date'] as const)
    t.test(`MAKE-4 nothing is made in a project that has the number of the one meant (${other})`, async t => {
      const fields = '{"creationDate":"2024-05-01T10:00:00Z"}'
      const fill = (now: string, name: string) => (seed: Seed) => {
        seed.addProject({ id: '70', name, owner: 'demo', fields: now })
        seed.addProject({ id: '71', name: 'Below', owner: 'demo', parent: '70', fields: now })
      }
      const testbed = await open(t, { fill: fill(fields, 'Mine') })
      const { files, service } = testbed
      await namesOf(testbed, 'projects/Mine/Below')
      const isDated = other === 'another date'
      await service.remake(fill(isDated ? fields.replace('2024', '2019') : fields, 'Other'))
      await service.sends(t, [], async () => {
        for (let tries = isDated ? 2 : 1; tries > 0; tries -= 1)
          t.match(await outcome(files.mkdir('projects/Mine/New')), /^(ESTALE|ENOENT)$/)
      })
      t.same((await below(testbed, '70')).length, 1)
      await testbed.pass(11_000)
      t.equal(await outcome(files.mkdir('projects/Other/New')), 'done', 'under its own name it is meant')
    })

  t.test(
    'MAKE-4 a project whose record or lists cannot be read now is not believed to be what it was',
    async t => {
      for (const which of [/^GET \/project\?id=/, /^GET \/project\/desc/]) {
        const testbed = await open(t)
        const { files, service } = testbed
        await namesOf(testbed, water)
        await textOf(testbed, `${water}/.project.json`)
        const mend = service.refuse(which, 500, 'no')
        const asked = await service.during(async () => {
          t.match(await outcome(files.mkdir(`${water}/Unseen`)), /^E/)
        })
        mend()
        t.same(writes(asked), [])
        await testbed.pass(2500)
        t.equal(await outcome(files.mkdir(`${water}/Unseen`)), 'done')
      }
    },
  )

  t.test('MAKE-6 a service that spells names itself has stored them', async t => {
    const testbed = await open(t, { service: { shortcomings: { ownSpelling: true } } })
    const { files, service } = testbed
    const title = async (path: string) => JSON.parse(await textOf(testbed, path)).name
    await service.sends(
      t,
      [
        'POST /project',
        'PUT /calculation',
        'PUT /project',
        'PUT /calculation',
        'PUT /report',
        'POST /report',
      ],
      async () => {
        t.equal(await outcome(files.mkdir(`${water}/new one`)), 'done')
        t.equal(await outcome(files.rename(`${water}/TS1_opt`, `${water}/a b`)), 'done')
        t.equal(await outcome(files.rename(`${water}/Sub project`, `${water}/my ü project`)), 'done')
        t.equal(await outcome(files.mkdir(`${water}/new one`)), 'EEXIST')
        const record = `${water}/H2O/.calculation.json`
        const renamed = (await textOf(testbed, record)).replace('"H2O"', '"heavy water"')
        t.equal(await outcome(overwrite(testbed, record, renamed)), 'done')
        const report = `reports/${ids.report}.json`
        const retitled = (await textOf(testbed, report)).replace('"Supporting"', '"Supporting text"')
        t.equal(await outcome(overwrite(testbed, report, retitled)), 'done')
        const fresh = JSON.stringify({ name: 'New report', reportType: '1' })
        t.equal(await outcome(overwrite(testbed, 'reports/new.json', fresh)), 'done')
      },
    )
    t.equal(await title('reports/new.json'), 'New_report')
    const names = await namesOf(testbed, water)
    for (const name of ['new_one', 'a_b', 'my_ü_project', 'heavy_water']) t.ok(names.includes(name), name)
    t.equal(await title(`${water}/new one/.project.json`), 'new_one', 'the written name answers')
    t.equal(await title(`${water}/a b/.calculation.json`), 'a_b')
    t.equal(await title(`${water}/my ü project/.project.json`), 'my_ü_project')
    await testbed.pass(2_500)
    t.equal(await title(`reports/${ids.report}.json`), 'Supporting_text')
    t.same(await namesOf(testbed, '.calcfs/drafts'), [])
  })

  t.test('MAKE-3 where no root has an id nothing can be made at the top', async t => {
    const { files } = await open(t, { service: { shortcomings: { root: true } } })
    t.equal(await outcome(files.mkdir('projects/New')), 'EPERM')
  })

  t.test('another name', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('RENAME-1 of a project is one PUT, and everything in it is there under the new name', async t => {
      await service.sends(t, ['PUT /project'], () => files.rename(water, 'projects/Water oxidation'))
      t.match(await service.elsewhere('GET', `/project?id=${ids.water}`), /"name":"Water oxidation"/)
      t.equal(await textOf(testbed, 'projects/Water oxidation/TS1_opt/input.inp'), '! B3LYP opt\n')
      t.equal(await outcome(files.lstat(water)), 'ENOENT')
      await files.rename('projects/Water oxidation', water)
    })

    t.test('RENAME-1 of a calculation is one PUT, and its geometry is called like it', async t => {
      t.ok((await namesOf(testbed, `${water}/TS1_opt`)).includes('TS1_opt.xyz'))
      await service.sends(t, ['PUT /calculation'], () => files.rename(`${water}/TS1_opt`, `${water}/TS2_opt`))
      t.ok((await namesOf(testbed, `${water}/TS2_opt`)).includes('TS2_opt.xyz'))
      await files.rename(`${water}/TS2_opt`, `${water}/TS1_opt`)
    })

    t.test('MAKE-3 a name that is taken is refused, and nothing is sent', async t => {
      await service.sends(t, [], async () => {
        t.match(await outcome(files.rename(`${water}/TS1_opt`, `${water}/Sub project`)), /EEXIST|ENOTEMPTY/)
        for (const name of ['desktop.ini', '.x', 'node_modules'])
          t.equal(await outcome(files.rename(`${water}/TS1_opt`, `${water}/${name}`)), 'EPERM', name)
      })
    })
  })

  t.test('rmdir', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { files, service } = testbed

    t.test('RMDIR-1 an empty project is deleted', async t => {
      await service.sends(t, [`DELETE /project?id=${ids.empty}`], () => files.rmdir(`${water}/Sub project`))
      t.notOk((await namesOf(testbed, water)).includes('Sub project'))
    })

    t.test('RMDIR-1 both listings are read again: what came meanwhile is never deleted with it', async t => {
      await files.mkdir(`${water}/Empty`)
      const [made] = (await below(testbed, ids.water)).filter(({ name }) => name === 'Empty')
      t.same(
        (await namesOf(testbed, `${water}/Empty`)).filter(name => !name.startsWith('.')),
        [],
      )
      service.seed.addCalculation({ id: '777', name: 'Late', project: String(made?.id) })
      t.equal(await outcome(files.rmdir(`${water}/Empty`)), 'ENOTEMPTY')
      t.match(await service.elsewhere('GET', '/calculation?id=777'), /Late/)
    })
  })
}
