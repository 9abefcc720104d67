// A record has several names: what is saved under one of them is known to the others, in the order in which it was saved.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const shares = 'projects/Water splitting/.shares'
const newShare = `${shares}/new.json`
const newReport = 'reports/new-names.json'
const drafts = (testbed: Testbed) => namesOf(testbed, '.calcfs/drafts')

interface Share {
  readonly shareId: number
  readonly permission: string
}

const guest = (permission: string) => JSON.stringify({ user: 'guest', permission })
const report = (title: string, description: string, calculations: readonly number[] = [1235, 1236]) =>
  JSON.stringify({ title, description, reportType: '1', calculations })

export function otherNames(t: Test, open: OpenTestbed): void {
  t.test('a share by the name it was made with and by its number', async t => {
    const testbed = await open(t, { settings: { access: 'manage' } })
    const { service } = testbed
    await overwrite(testbed, newShare, guest('READ'))
    const given = async (): Promise<Share> => {
      const [share] = JSON.parse(await service.elsewhere('GET', `/project/share?id=${ids.water}`))
      return share
    }
    const own = `${shares}/${(await given()).shareId}.json`
    const whole = (permission: string) =>
      JSON.stringify({
        shareId: Number(/(\d+)\.json$/.exec(own)?.[1]),
        projectId: Number(ids.water),
        user: 'guest',
        permission,
      })

    async function saves(path: string, text: string): Promise<readonly string[]> {
      return writes(await service.during(() => overwrite(testbed, path, text)))
    }

    t.test('SHARE-2 what its number was given is taken back by the text of before', async t => {
      for (const isRead of [false, true]) {
        t.same(await saves(own, whole('FULLACCESS')), ['PUT /project/share'])
        if (isRead) await textOf(testbed, own)
        t.same(await saves(newShare, guest('READ')), ['PUT /project/share'])
        t.equal((await given()).permission, 'READ')
        t.same(await saves(newShare, guest('READ')), [], 'and an unchanged text sends nothing')
      }
    })

    t.test('SHARE-2 so it is by a text that was saved under both, and by a third one', async t => {
      await saves(newShare, guest('WRITE'))
      await saves(own, whole('READ'))
      t.same(await saves(newShare, guest('WRITE')), ['PUT /project/share'])
      t.equal((await given()).permission, 'WRITE')
      await saves(own, whole('FULLACCESS'))
      t.same(await saves(newShare, guest('READ')), ['PUT /project/share'])
      t.equal((await given()).permission, 'READ')
    })

    t.test('SHARE-2 a text in the form that is shown and one in the form it was made with', async t => {
      await overwrite(testbed, newShare, (await textOf(testbed, newShare)).replace('READ', 'WRITE'))
      await saves(own, whole('FULLACCESS'))
      t.same(await saves(newShare, guest('WRITE')), ['PUT /project/share'])
      t.equal((await given()).permission, 'WRITE')
    })

    t.test('SAVE-15 another client’s change stays, and is in doubt once a program has read it', async t => {
      await saves(newShare, guest('READ'))
      const theirs = JSON.stringify({ ...(await given()), permission: 'FULLACCESS' })
      await service.elsewhere('PUT', '/project/share', theirs)
      t.same(await saves(newShare, guest('READ')), [])
      t.equal(await outcome(overwrite(testbed, newShare, guest('WRITE'))), 'ESTALE')
      t.match(await textOf(testbed, newShare), /WRITE/, 'the draft is shown')
      await testbed.files.unlink(`.calcfs/drafts/${(await drafts(testbed))[0]}`)
      await testbed.files.touch(shares)
      await testbed.pass(3200)
      t.match(await textOf(testbed, newShare), /FULLACCESS/)
      t.equal(await outcome(overwrite(testbed, newShare, guest('READ'))), 'ESTALE')
      t.equal((await given()).permission, 'FULLACCESS')
    })
  })

  t.test('a report by the name it was made with, its number and its order', async t => {
    const testbed = await open(t)
    const { service } = testbed
    await overwrite(testbed, newReport, report('Names', 'first'))
    const id = String(JSON.parse(await textOf(testbed, newReport)).id)
    const own = `reports/${id}.json`
    const stored = async () => JSON.parse(await service.elsewhere('GET', `/report?id=${id}`))
    const rows = async () =>
      (await stored()).calculations.map(({ calcId }: { calcId: number }) => Number(calcId))
    const change = async (from: string, to: string) =>
      overwrite(testbed, own, (await textOf(testbed, own)).replace(from, to))

    t.test('NEW-3 the text of before takes back what its number has changed', async t => {
      for (const isRead of [false, true]) {
        await change('"first"', '"second"')
        if (isRead) await textOf(testbed, own)
        await overwrite(testbed, newReport, report('Names', 'first'))
        t.equal((await stored()).description, 'first')
        const asked = await service.during(() => overwrite(testbed, newReport, report('Names', 'first')))
        t.same(writes(asked), [])
      }
    })

    t.test('NEW-3 and an edit of one field is an edit of what its number has saved', async t => {
      await change('"first"', '"second"')
      await overwrite(testbed, newReport, report('Names', 'third'))
      t.equal((await stored()).description, 'third')
      await change('"Names"', '"Renamed"')
      await overwrite(testbed, newReport, report('Names', 'fourth'))
      t.match(await stored(), { title: 'Renamed', description: 'fourth' }, 'what differs is the edit')
      await change('"Renamed"', '"Renamed again"')
      await overwrite(testbed, newReport, report('Names', 'fourth'))
      t.match(await stored(), { title: 'Names', description: 'fourth' }, 'the same text takes back')
    })

    t.test('NEW-3 the list of before takes back the order that order.txt has given it', async t => {
      const order = `reports/${id}/order.txt`
      const lines = (await textOf(testbed, order)).trimEnd().split('\n')
      await overwrite(testbed, order, `${lines.toReversed().join('\n')}\n`)
      t.same(await rows(), [1236, 1235])
      await overwrite(testbed, newReport, report('Names', 'fourth'))
      t.same(await rows(), [1235, 1236])
      await overwrite(testbed, newReport, report('Names', 'fourth', [1236, 1235]))
      await textOf(testbed, newReport)
      const asked = await service.during(() =>
        overwrite(testbed, newReport, report('Names', 'fourth', [1236, 1235])),
      )
      t.same(writes(asked), [], 'also where the service fills its rows in')
    })

    t.test('SAVE-16 after a save that was refused nothing of the next text is missing', async t => {
      const mend = service.intercept(/^PUT \/report/, response => void response.writeHead(500).end('no'))
      t.not(await outcome(overwrite(testbed, newReport, report('Names', 'fifth', [1236, 1235]))), 'done')
      mend()
      await overwrite(testbed, newReport, report('Other names', 'fifth', [1236, 1235]))
      t.match(await stored(), { title: 'Other names', description: 'fifth' })
      t.same(await drafts(testbed), [])
    })
  })
}
