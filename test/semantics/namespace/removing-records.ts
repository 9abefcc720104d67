// A report or share that is removed: deleted after the pause, and kept where its program may only have meant its own copy.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { pauseEnds, removeTree } from './deleting.js'

const report = `reports/${ids.report}.json`
const manage = { settings: { access: 'manage' } }

export function removingRecords(t: Test, open: OpenTestbed): void {
  t.test('rm of a record', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed

    t.test('DEL-14 a report created again within the pause is an edit and no deletion', async t => {
      const text = (await textOf(testbed, report)).replace('"Supporting"', '"Kept"')
      await service.sends(t, ['PUT /report'], async () => {
        await files.unlink(report)
        await overwrite(testbed, report, text)
        await testbed.pass(3200)
        await files.lstat(report)
      })
    })

    t.test('DEL-14 a report renamed away is never deleted', async t => {
      await service.sends(t, [], async () => {
        await files.rename(report, `${report}~`)
        await testbed.pass(3200)
        t.equal((await files.lstat(report)).kind, 'file')
      })
    })

    t.test('DEL-3 a report is hidden at once, and deleted when the burst ends', async t => {
      await testbed.pass(61_000)
      await service.sends(t, [`DELETE /report?id=${ids.report}`], async () => {
        await files.unlink(report)
        t.equal(await outcome(files.lstat(report)), 'ENOENT')
        await testbed.pass(3200)
        await gone(testbed, `/report?id=${ids.report}`)
      })
      t.equal(await outcome(files.lstat(report)), 'ENOENT')
      t.notOk((await namesOf(testbed, 'reports')).includes(`${ids.report}.json`))
    })

    t.test('DEL-15 a DELETE that is refused brings the file back, and says why', async t => {
      const mend = service.refuse(/^DELETE \/report/, 403, 'not yours')
      const path = `reports/${ids.profile}.json`
      await files.unlink(path)
      await testbed.pass(3200)
      await until(5000, 'the file is back', async () => (await outcome(files.lstat(path))) === 'done')
      mend()
      t.match(await files.xattr(path, 'user.calcfs.error'), /not yours/)
    })

    t.test('DEL-28 a report that its program takes away after it has saved it stays', async t => {
      const path = `reports/${ids.profile}.json`
      const text = await textOf(testbed, path)
      await service.sends(t, ['PUT /report'], async () => {
        await overwrite(testbed, path, text.replace(/"description": "[^"]*"/, '"description": "Copied"'))
        t.equal(await outcome(files.unlink(path)), 'done')
        await testbed.pass(50_000)
        t.equal(await outcome(files.unlink(path)), 'done')
        await pauseEnds(testbed)
      })
      t.match(await textOf(testbed, path), /"Copied"/)
    })

    t.test('DEL-28 of one with an unsaved text rm drops that text, which the history keeps', async t => {
      const path = `reports/${ids.profile}.json`
      await service.sends(t, [], async () => {
        t.equal(await outcome(overwrite(testbed, path, 'no JSON')), 'EINVAL')
        t.equal(await textOf(testbed, path), 'no JSON')
        t.equal(await outcome(files.unlink(path)), 'done')
        await testbed.pass(3_200)
        await until(5000, 'the file is back', async () => (await outcome(files.lstat(path))) === 'done')
        await pauseEnds(testbed)
      })
      t.match(await textOf(testbed, path), /"Copied"/)
      t.match(await files.xattr(path, 'user.calcfs.error'), /given up .*history/)
      t.same(await namesOf(testbed, '.calcfs/drafts'), [])
    })
  })

  t.test('DEL-28 an unsaved text stays where the burst is refused', async t => {
    const testbed = await open(t, { settings: { access: 'manage', maxDeletes: '1' } })
    const { files, service } = testbed
    await service.sends(t, [], async () => {
      const ways = [`reports/${ids.report}.json`, `reports/${ids.profile}.json`]
      for (const path of ways)
        t.equal(await outcome(overwrite(testbed, path, `no JSON of ${path}`)), 'EINVAL')
      t.same(
        [await outcome(files.unlink(ways[0] ?? '')), await outcome(files.unlink(ways[1] ?? ''))],
        ['done', 'EPERM'],
      )
      await pauseEnds(testbed)
      for (const path of ways) t.equal(await textOf(testbed, path), `no JSON of ${path}`)
      t.equal((await namesOf(testbed, '.calcfs/drafts')).filter(name => !/why|theirs/.test(name)).length, 2)
    })
  })

  t.test('DEL-3 by the name that it was made with a report is deleted as by its number', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const made = 'reports/new-made.json'
    const text = '{"name":"Made here","reportType":1}'
    const before = await namesOf(testbed, 'reports')
    await overwrite(testbed, made, text)
    const isNew = (name: string) => /^\d+\.json$/.test(name) && !before.includes(name)
    const [file = ''] = (await namesOf(testbed, 'reports')).filter(isNew)
    const id = file.replace('.json', '')
    await service.sends(t, [], async () => {
      t.equal(await outcome(files.unlink(made)), 'done')
      await pauseEnds(testbed)
      t.equal(await outcome(files.lstat(made)), 'done', 'within a minute it may be its own copy')
      await testbed.pass(61_000)
      t.equal(await outcome(files.unlink(made)), 'done')
      t.equal(await outcome(files.lstat(`reports/${file}`)), 'ENOENT', 'hidden by its number, too')
      t.equal(await outcome(overwrite(testbed, made, text)), 'done')
      await pauseEnds(testbed)
      t.match(await textOf(testbed, `reports/${file}`), /Made here/, 'saved again it is no removal')
    })
    await testbed.pass(61_000)
    await service.sends(t, [`DELETE /report?id=${id}`], async () => {
      await files.unlink(made)
      t.equal(await outcome(files.lstat(made)), 'ENOENT')
      await testbed.pass(3200)
      await gone(testbed, `/report?id=${id}`)
    })
    t.equal(await outcome(files.lstat(made)), 'ENOENT')
  })

  t.test('DEL-14 what touch, or a program that saves, makes again takes its burst back', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const calculation = 'projects/Water splitting/TS1_opt'
    const before = await namesOf(testbed, calculation)
    await service.sends(t, [], async () => {
      await removeTree(testbed, calculation)
      await files.unlink(report)
      await (await files.open(report, 'w')).close()
      await pauseEnds(testbed)
      t.same(await namesOf(testbed, calculation), before)
      t.equal(await outcome(files.lstat(report)), 'done')
    })
  })
}

async function gone(testbed: Testbed, path: string): Promise<void> {
  await until(5000, `${path} is gone`, async () => {
    await testbed.files.readdir('reports')
    return (await testbed.service.elsewhere('GET', path).catch(() => 'null')) === 'null'
  })
}
