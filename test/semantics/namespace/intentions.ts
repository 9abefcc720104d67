// Removals that may be more than they seem: one file of a calculation, several at once, and a project walked in any order.
import type { Test } from 'tap'
import { fillSampleData, ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { pauseEnds, removeTree, there } from './deleting.js'

const water = 'projects/Water splitting'
const manage = { settings: { access: 'manage' } }
const deletion = (id: string): string => `DELETE /calculation?id=${id}`

/** Entry by entry, the last first, as file managers and rsync do; what is refused is passed by. */
async function removeBackwards({ files }: Testbed, path: string): Promise<void> {
  const entries = await files.readdir(path).catch(() => new Map<string, string>())
  for (const [name, kind] of [...entries].reverse()) {
    const entry = `${path}/${name}`
    if (kind === 'directory') await removeBackwards({ files } as Testbed, entry)
    else await outcome(files.unlink(entry))
  }
  await outcome(files.rmdir(path))
}

const isBack = (testbed: Testbed, path: string): Promise<void> =>
  until(4_000, `${path} is back`, async () => (await outcome(testbed.files.lstat(path))) === 'done')

/** `calcfs status` and `calcfs why` ask the same places. */
async function statusOf(testbed: Testbed): Promise<{ deleting: { path: string }[]; unlinked: string[] }> {
  // The text that was shown before is shown for the lease.
  await testbed.pass(2_100)
  return JSON.parse(await textOf(testbed, '.calcfs/status.json'))
}

export function intentions(t: Test, open: OpenTestbed): void {
  t.test('one file of a calculation', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed

    t.test('DEL-13 is refused at once where nothing has listed its folder', async t => {
      t.equal(await outcome(files.unlink(`${water}/TS1_opt/run.log`)), 'EPERM')
    })

    t.test('DEL-13 else it stays to be read, and status says that it was not deleted', async t => {
      const before = await namesOf(testbed, `${water}/TS1_opt`)
      const asked = await service.during(async () => {
        t.equal(await outcome(files.unlink(`${water}/TS1_opt/input.inp`)), 'done')
        t.same(await namesOf(testbed, `${water}/TS1_opt`), before)
        t.equal(await textOf(testbed, `${water}/TS1_opt/input.inp`), '! B3LYP opt\n')
        t.match(await statusOf(testbed), { unlinked: ['/projects/Water splitting/TS1_opt/input.inp'] })
      })
      t.same(writes(asked), [])
    })

    t.test('DEL-13 touch takes it back', async t => {
      await files.touch(`${water}/TS1_opt/input.inp`)
      t.match(await statusOf(testbed), { unlinked: [] })
    })

    t.test('DEL-13 an emptied folder is full again where no rmdir follows', async t => {
      const folder = `${water}/TS1_opt`
      const before = await namesOf(testbed, folder)
      for (const name of before) await files.unlink(`${folder}/${name}`)
      await testbed.pass(3_200)
      t.same(await namesOf(testbed, folder), before)
    })

    t.test('DEL-24 and rmdir of it is ENOTEMPTY, also once the few that were left are unlinked', async t => {
      const folder = `${water}/TS1_opt`
      const asked = await service.during(async () => {
        t.equal(await outcome(files.rmdir(folder)), 'ENOTEMPTY')
        await removeTree(testbed, folder, 'run.log')
        await testbed.pass(3_200)
        const all = await namesOf(testbed, folder)
        for (const name of all.filter(name => /^(run\.log|.*\.xyz)$/.test(name)))
          await files.unlink(`${folder}/${name}`)
        t.equal(await outcome(files.rmdir(folder)), 'ENOTEMPTY')
        await pauseEnds(testbed)
      })
      t.same(writes(asked), [])
    })

    t.test(
      'DEL-24 an rm -r that asks before each step may be slow, as nothing lists the folder meanwhile',
      async t => {
        const folder = `${water}/No geometry`
        const asked = await service.during(async () => {
          for (const name of await namesOf(testbed, folder)) {
            await files.unlink(`${folder}/${name}`)
            await testbed.pass(3_500)
          }
          t.equal(await outcome(files.rmdir(folder)), 'done')
          await pauseEnds(testbed)
        })
        t.same(writes(asked), [deletion(ids.bare)])
      },
    )
  })

  t.test('rm -r that is called off', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const path = `${water}/TS1_opt`

    t.test('DEL-14 touch of the calculation takes it back in the pause, as it was', async t => {
      const asked = await service.during(async () => {
        await removeTree(testbed, path)
        t.equal(await outcome(files.lstat(path)), 'ENOENT')
        await files.touch(path)
        t.ok((await namesOf(testbed, water)).includes('TS1_opt'))
        t.equal(await textOf(testbed, `${path}/input.inp`), '! B3LYP opt\n')
        await pauseEnds(testbed)
        t.equal(await outcome(files.rmdir(path)), 'ENOTEMPTY', 'and nothing of it counts as unlinked')
      })
      t.same(writes(asked), [])
    })

    t.test('DEL-14 so does touch of its project, also by its number', async t => {
      const asked = await service.during(async () => {
        await removeTree(testbed, path)
        await files.touch(`by-id/project/${ids.water}`)
        await isBack(testbed, path)
        await pauseEnds(testbed)
      })
      t.same(writes(asked), [])
    })

    t.test('DEL-14 why tells of a touch that took it back, and of no file that was to be made', async t => {
      await removeTree(testbed, path)
      await files.touch(path)
      t.match(await files.xattr(path, 'user.calcfs.error'), /deleting: it was not deleted.*was touched/)
    })

    t.test('DEL-3 while it waits the index does not list it either', async t => {
      const index = `${water}/.index.tsv`
      t.match(await textOf(testbed, index), /TS1_opt/)
      await removeTree(testbed, path)
      // The text that was shown before is shown for the lease.
      await testbed.pass(2_100)
      t.notMatch(await textOf(testbed, index), /TS1_opt/)
      t.match(await textOf(testbed, index), /H2O/)
      await files.touch(path)
      await testbed.pass(2_100)
      t.match(await textOf(testbed, index), /TS1_opt/)
    })

    t.test('DEL-15 while it waits status says so', async t => {
      await removeTree(testbed, path)
      const status: { deleting: object[] } = JSON.parse(await textOf(testbed, '.calcfs/status.json'))
      t.match(status.deleting, [{ path: `/${path}`, what: `calculation ${ids.transition}` }])
      await files.touch(water)
    })

    t.test('DEL-20 an unmount in the pause deletes nothing, and the next mount says so', async t => {
      const asked = await service.during(async () => {
        await removeTree(testbed, path)
        await testbed.remount()
        await pauseEnds(testbed)
        // What the drive that has ended left behind would come by its own clock.
        await testbed.pass(3_300)
      })
      t.same(writes(asked), [])
      t.match(await files.xattr(path, 'user.calcfs.error'), /was not deleted/)
    })

    t.test('DEL-19 what another client changes in the pause is not deleted', async t => {
      await textOf(testbed, `${path}/.calculation.json`)
      const asked = await service.during(async () => {
        await removeTree(testbed, path)
        const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.transition}`))
        const body = JSON.stringify({ ...record, description: 'needed after all' })
        await service.elsewhere('PUT', '/calculation', body)
        await pauseEnds(testbed)
      })
      t.same(writes(asked), [])
      t.match(await files.xattr(path, 'user.calcfs.error'), /changed it since/)
    })
  })

  t.test('several calculations in one go', async t => {
    const testbed = await open(t, {
      ...manage,
      fill(seed) {
        fillSampleData(seed)
        for (const id of ['1301', '1302'])
          seed.addCalculation({ id, name: `Spare ${id}`, project: ids.water, files: { a: 'b' } })
        seed.addProject({ id: '31', name: 'Pair', owner: 'demo', parent: ids.water })
        for (const id of ['1311', '1312'])
          seed.addCalculation({ id, name: `Pair ${id}`, project: '31', files: { a: 'b' } })
        seed.addProject({ id: '32', name: 'Mixed', owner: 'demo', parent: ids.water })
        seed.addProject({ id: '33', name: 'Inner', owner: 'demo', parent: '32' })
        for (const id of ['1321', '1322'])
          seed.addCalculation({ id, name: `Mixed ${id}`, project: '32', files: { a: 'b' } })
      },
    })
    const { files, service } = testbed

    t.test('DEL-16 two of many: both go, after one pause', async t => {
      const first = await service.during(async () => {
        await removeTree(testbed, `${water}/Spare 1301`)
        await testbed.pass(2_000)
        await removeTree(testbed, `${water}/Spare 1302`)
        await testbed.pass(1_200)
        await files.readdir(water)
      })
      t.same(writes(first), [], 'the pause begins again with the second')
      const then = await service.during(() => pauseEnds(testbed))
      t.same(writes(then).sort(), [deletion('1301'), deletion('1302')])
    })

    t.test('DEL-16 all of a project (rm -r PROJECT/*): none', async t => {
      const asked = await service.during(async () => {
        await removeTree(testbed, `${water}/Pair/Pair 1311`)
        t.equal(await outcome(removeTree(testbed, `${water}/Pair/Pair 1312`)), 'EPERM')
        await isBack(testbed, `${water}/Pair/Pair 1311`)
        await pauseEnds(testbed)
      })
      t.same(writes(asked), [])
      t.match(await files.xattr(`${water}/Pair/Pair 1311`, 'user.calcfs.error'), /all of its calculations/)
    })

    t.test('DEL-16 a calculation and a project next to it: neither', async t => {
      const mixed = `${water}/Mixed`
      const asked = await service.during(async () => {
        await removeTree(testbed, `${mixed}/Mixed 1321`)
        await removeBackwards(testbed, `${mixed}/Inner`)
        t.equal(await outcome(removeTree(testbed, `${mixed}/Mixed 1322`)), 'EPERM')
        await pauseEnds(testbed)
      })
      t.same(writes(asked), [])
      t.ok(await there(testbed, '/project?id=33'), 'nor is the empty project, of which rm -r was tried')
    })
  })

  t.test('DEL-17 more than --max-deletes a minute: what waits stays, too', async t => {
    const testbed = await open(t, {
      ...manage,
      fill(seed) {
        fillSampleData(seed)
        for (const id of ['1303', '1304', '1305', '1306'])
          seed.addCalculation({ id, name: `Spare ${id}`, project: ids.water, files: { a: 'b' } })
      },
    })
    const { files, service } = testbed
    const asked = await service.during(async () => {
      for (const id of ['1303', '1304', '1305']) await removeTree(testbed, `${water}/Spare ${id}`)
      t.equal(await outcome(removeTree(testbed, `${water}/Spare 1306`)), 'EPERM')
      t.equal(await outcome(removeTree(testbed, `${water}/H2O`)), 'EPERM', 'nor what follows')
      t.equal(await outcome(files.unlink(`reports/${ids.report}.json`)), 'EPERM', 'reports count as well')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
    t.match(await files.xattr(`${water}/Spare 1303`, 'user.calcfs.error'), /max-deletes/)
  })

  t.test('DEL-17 so many reports at once (rm reports/*.json): none', async t => {
    const many = ['51', '52', '53', '54', '55']
    const testbed = await open(t, {
      ...manage,
      fill(seed) {
        fillSampleData(seed)
        for (const id of many) seed.addReport({ id, name: `R${id}`, owner: 'demo', calculations: [] })
      },
    })
    const { files, service } = testbed
    for (const id of many) await files.lstat(`reports/${id}.json`)
    const asked = await service.during(async () => {
      for (const id of many.slice(0, 3)) t.equal(await outcome(files.unlink(`reports/${id}.json`)), 'done')
      for (const id of many.slice(3)) t.equal(await outcome(files.unlink(`reports/${id}.json`)), 'EPERM')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
    for (const id of many) t.equal(await outcome(files.lstat(`reports/${id}.json`)), 'done')
  })

  t.test('DEL-4 a project that is walked backwards, as file managers and rsync do it', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const asked = await service.during(async () => {
      await removeBackwards(testbed, water)
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
    t.ok((await namesOf(testbed, water)).includes('H2O'))
    t.match(await files.xattr(`${water}/H2O`, 'user.calcfs.error'), /not deleted/)
  })

  t.test('DEL-18 a project is the same by whatever path it is reached', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const asked = await service.during(async () => {
      await removeTree(testbed, `${water}/TS1_opt`)
      await removeTree(testbed, `by-id/calculation/${ids.product}`)
      await outcome(files.unlink(`by-id/project/${ids.water}/.index.tsv`))
      t.equal(await outcome(removeTree(testbed, `${water}/No geometry`)), 'EPERM')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
  })

  t.test('DEL-18 rm -r of a report as a folder deletes nothing', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const folder = `reports/${ids.report}`
    const asked = await service.during(async () => {
      for (const [name] of await files.readdir(folder)) await outcome(files.unlink(`${folder}/${name}`))
      t.equal(await outcome(files.rmdir(folder)), 'EPERM')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
  })

  t.test('RMDIR-4 rmdir of a project takes back what waits in it', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const asked = await service.during(async () => {
      await removeTree(testbed, `${water}/TS1_opt`)
      t.equal(await outcome(files.rmdir(water)), 'ENOTEMPTY')
      await isBack(testbed, `${water}/TS1_opt`)
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
  })

  t.test('RMDIR-4 with --access edit, too, a project goes by rmdir alone, never in an rm -r', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    await files.mkdir(`${water}/Made`)
    const asked = await service.during(async () => {
      await removeBackwards(testbed, `${water}/Made`)
      t.equal(await outcome(files.rmdir(`${water}/Made`)), 'EPERM')
    })
    t.same(writes(asked), [])
    await files.mkdir(`${water}/Other`)
    t.equal(await outcome(files.rmdir(`${water}/Other`)), 'done', 'by itself it goes')
  })
}
