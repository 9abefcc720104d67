// How long the name of a new file stands for what it has made: past a save that failed, and not past the end of its record.
import type { Test } from 'tap'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const drafts = (testbed: Testbed) => namesOf(testbed, '.calcfs/drafts')

export function keptNames(t: Test, open: OpenTestbed): void {
  t.test('the name of a new report', async t => {
    const testbed = await open(t)
    const { files, service } = testbed

    t.test('NEW-2 an end in order frees no name whose last save failed', async t => {
      const path = 'reports/new-owed.json'
      const text = (description: string) => JSON.stringify({ name: 'Owed', reportType: 1, description })
      await overwrite(testbed, path, text('a'))
      const { id } = JSON.parse(await textOf(testbed, path))
      const mend = service.intercept(/^PUT \/report$/, response => void response.writeHead(500).end('no'))
      t.not(await outcome(overwrite(testbed, path, text('b'))), 'done')
      mend()
      for (const times of ['once', 'twice']) {
        await testbed.remount()
        const asked = await service.during(async () => {
          if (times === 'twice') await overwrite(testbed, path, text('b'))
        })
        t.notOk(writes(asked).includes('POST /report'), times)
      }
      t.equal(JSON.parse(await service.elsewhere('GET', `/report?id=${id}`)).description, 'b')
      t.same(await drafts(testbed), [])
      await testbed.remount()
      t.same(
        writes(await service.during(() => overwrite(testbed, path, text('b')))),
        ['POST /report'],
        'once it is saved, an end in order does',
      )
    })

    t.test('NEW-9 a backup that is put back makes no other one', async t => {
      for (const isOwn of [false, true]) {
        const path = `reports/new-backup-${isOwn}.json`
        const text = (description: string) => JSON.stringify({ name: 'Backup', reportType: 1, description })
        await overwrite(testbed, path, text('old'))
        const { id } = JSON.parse(await textOf(testbed, path))
        if (isOwn) await overwrite(testbed, path, text('old as well'))
        await service.elsewhere('DELETE', `/report?id=${id}`)
        // As `cp -b` does it.
        const copy = async () => {
          await files.rename(path, `${path}~`)
          const end = await outcome(overwrite(testbed, path, text('new')))
          return end === 'done' ? [end] : [end, await outcome(files.rename(`${path}~`, path))]
        }
        const asked = await service.during(async () => t.same(await copy(), ['ENOENT', 'ENOENT']))
        t.same(writes(asked), [])
        t.equal(await textOf(testbed, path), text('new'), 'the text that was refused is shown')
        t.ok((await drafts(testbed)).includes(`new-backup-${isOwn}.json.why`))
        t.match(await textOf(testbed, `${path}~`), /old/, 'and the backup stays')
        const again = await service.during(async () => t.same(await copy(), ['done'], 'the same once more'))
        t.same(writes(again), ['POST /report'])
        t.equal(JSON.parse(await textOf(testbed, path)).description, 'new')
        t.same(await drafts(testbed), [])
        await files.unlink(`${path}~`)
      }
    })

    t.test('NEW-9 another report that has its number by now is not written', async t => {
      for (const before of ['nothing', 'a save', 'a save and an end in order']) {
        const path = `reports/new-again-${before.replaceAll(' ', '-')}.json`
        const text = (description: string) => JSON.stringify({ name: 'Again', reportType: 1, description })
        const save = (description: string) => outcome(overwrite(testbed, path, text(description)))
        await overwrite(testbed, path, text('mine'))
        const { id } = JSON.parse(await textOf(testbed, path))
        const stored = JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))
        await service.elsewhere('DELETE', `/report?id=${id}`)
        if (before !== 'nothing') t.equal(await save('edit'), 'ENOENT')
        if (before === 'a save and an end in order') await testbed.remount()
        const theirs = { ...stored, description: 'theirs', creationDate: '2031-01-01T00:00:00.000Z' }
        const mend = service.intercept(new RegExp(`^GET /report\\?id=${id}$`), response => {
          response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(theirs))
        })
        const asked = await service.during(async () => {
          if (before === 'nothing') t.equal(await save('edit'), 'ENOENT')
          t.equal(await save('edit'), 'done', before)
        })
        mend()
        t.same(writes(asked), ['POST /report'])
        t.not(JSON.parse(await textOf(testbed, path)).id, id)
        t.same(await drafts(testbed), [])
      }
    })
  })
}
