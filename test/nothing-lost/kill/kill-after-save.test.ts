// kill -9 right after a save, an emptying or a removal that was answered: the next mount knows what was saved, and what waits.
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { removeTree } from '../../semantics/namespace/deleting.js'
import { smallDisk } from '../../testbed/disk/small-disk.js'
import { type MountTestbed, realMount } from '../../testbed/mount.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { settled } from '../acts.js'
import { killedDuring } from './scene.js'

const shares = 'projects/Water splitting/.shares'

const numbered = (row: object, at: number) => ({ ...row, calcOrder: at + 1 })

const killed = async (testbed: MountTestbed, work: Promise<unknown>): Promise<void> => {
  await work
  await testbed.kill9()
  await testbed.mount()
}

t.test('kill -9 right after a change that was answered well', async t => {
  const testbed = await realMount(t, { settings: { access: 'manage' } })
  const { files, service } = testbed
  await overwrite(testbed, `${shares}/new.json`, JSON.stringify({ user: 'guest', permission: 'READ' }))
  const share = `${shares}/${(await namesOf(testbed, shares)).find(name => /^\d+\.json$/.test(name))}`

  await t.test('SAVE-16 a permission that was changed is the one that is shown and compared', async t => {
    const before = await textOf(testbed, share)
    const permission = JSON.parse(before).permission
    const after = before.replace(permission, permission === 'READ' ? 'FULLACCESS' : 'READ')
    // What was read is on the disk by then; what the save teaches alone is not.
    await testbed.pass(500)
    await killed(testbed, overwrite(testbed, share, after))
    t.equal(await textOf(testbed, share), after)
    await service.sends(t, ['PUT /project/share'], 'the text of before takes it back', () =>
      overwrite(testbed, share, before),
    )
    t.match(await service.elsewhere('GET', `/project/share?id=${ids.water}`), `"${permission}"`)
  })

  await t.test('DRAFT-2 a text that waits when its file is emptied is shown, and dropped whole', async t => {
    const [path, text] = [`reports/${ids.report}.json`, '{ no JSON']
    t.equal(await outcome(overwrite(testbed, path, text)), 'EINVAL')
    await killed(testbed, files.truncate(path, 0))
    t.equal(await textOf(testbed, path), text)
    await files.truncate(path, 0)
    t.equal((await testbed.calcfs('status', testbed.directory)).code, 7, 'it waits still')
    const { code, stdout } = await testbed.calcfs('drafts', 'drop', `${testbed.directory}/${path}`, '--json')
    t.same([code, readFileSync(JSON.parse(stdout).kept, 'utf8')], [0, text])
  })

  await t.test(
    'SAVE-16 a project that was made is listed, and one that was renamed has its new name',
    async t => {
      await killed(testbed, files.mkdir('projects/Water splitting/Made'))
      t.ok((await namesOf(testbed, 'projects/Water splitting')).includes('Made'))
      await killed(testbed, files.rename('projects/Water splitting/Made', 'projects/Water splitting/Renamed'))
      const names = await namesOf(testbed, 'projects/Water splitting')
      t.ok(names.includes('Renamed') && !names.includes('Made'), names.join())
      await killed(testbed, files.rmdir('projects/Water splitting/Renamed'))
      t.notOk((await namesOf(testbed, 'projects/Water splitting')).includes('Renamed'))
    },
  )

  await t.test('DEL-14 a report and a calculation that wait to be deleted are there, and stay', async t => {
    const [report, calculation] = [`reports/${ids.profile}.json`, 'projects/Water splitting/No geometry']
    await textOf(testbed, report)
    await service.sends(t, [], async () => {
      await files.unlink(report)
      await killed(testbed, removeTree(testbed, calculation))
      // Longer than the pause after which they are deleted.
      await testbed.pass(3_600)
    })
    t.match(await textOf(testbed, report), '"Profile"')
    t.equal(await textOf(testbed, `${calculation}/job.mop`), 'PM7\n')
  })
})

if (process.platform === 'linux' && process.getuid?.() === 0)
  t.test('SAVE-16 what was saved while the disk of the cache is full is shown', async t => {
    const disk = await smallDisk(t)
    const testbed = await realMount(t, { settings: { cacheDir: disk.directory } })
    const path = `reports/${ids.report}.json`
    const before = await textOf(testbed, path)
    await testbed.pass(500)
    await disk.leave(0)
    await killed(testbed, overwrite(testbed, path, before.replace('"title": "', '"title": "New ')))
    t.match(await textOf(testbed, path), '"title": "New ')
  })

t.test('ORDER-1 kill -9 between a new order and its titles, which that service forgets', async t => {
  const testbed = await realMount(t, { service: { shortcomings: { loseRowTitles: true } } })
  const path = `reports/${ids.report}.json`
  const titles = async () => {
    const { calculations } = JSON.parse(await testbed.service.elsewhere('GET', `/report?id=${ids.report}`))
    return calculations.map(({ title }: { title: string | null }) => title)
  }
  const record = JSON.parse(await textOf(testbed, path))
  const text = JSON.stringify({ ...record, calculations: record.calculations.toReversed().map(numbered) })
  await killedDuring(testbed, [/^PUT \/report$/, 'before'], path, text)
  await settled(join(testbed.home, 'state', 'calcfs'))
  t.same(await titles(), [null, null, null])
  t.equal(await textOf(testbed, path), text, 'they wait')
  // The half of it that was carried out reads like another client's change.
  t.equal(await outcome(overwrite(testbed, path, text)), 'ESTALE')
  await textOf(testbed, `.calcfs/drafts/${ids.report}.theirs.json`)
  t.equal(await outcome(overwrite(testbed, path, text)), 'done')
  t.same(await titles(), ['Nothing', 'Water', 'Transition state'])
})

t.test('DRAFT-7 of a text that was stored in part before kill -9 the next open shows that part', async t => {
  const testbed = await realMount(t)
  const path = `reports/${ids.report}.json`
  const record = JSON.parse(await textOf(testbed, path))
  const calculations = record.calculations.toReversed().map(numbered)
  await testbed.pass(500)
  const text = JSON.stringify({ ...record, title: 'Another', calculations })
  await killedDuring(testbed, [/^PUT \/report$/, 'before'], path, text)
  await settled(join(testbed.home, 'state', 'calcfs'))
  t.equal((await testbed.calcfs('drafts', 'drop', `${testbed.directory}/${path}`)).code, 0)
  t.match(JSON.parse(await textOf(testbed, path)), { title: record.title, calculations })
})
