// rm of a number that the service has given to another report or share: what no program was shown is not deleted.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'
import { brief } from '../reading/recreated-service.js'
import { pauseEnds } from './deleting.js'

const settings = { ...brief, access: 'manage' }

const dated = (day: string) => `{"creationDate":"2026-11-${day}T00:00:00.000Z"}`

/** One report and one share. */
const filled =
  ({ day, name, person }: { day: string; name: string; person: string }) =>
  (seed: Seed): void => {
    for (const user of ['demo', 'guest', 'other']) seed.addUser({ name: user, password: user })
    const project = seed.addProject({ id: '100', name: 'All', owner: 'demo', fields: dated('01') })
    seed.addReport({ id: '42', name, owner: 'demo', fields: dated(day), calculations: [] })
    seed.addShare({ project, user: person, permission: 'READ' })
  }

const mine = { day: '01', name: 'mine', person: 'guest' }

const report = 'reports/42.json'

async function shareOf(testbed: Testbed): Promise<string> {
  const [name = ''] = (await namesOf(testbed, 'projects/All/.shares')).filter(one => /^\d+\.json$/.test(one))
  return `projects/All/.shares/${name}`
}

export function unshown(t: Test, open: OpenTestbed): void {
  const kinds = [
    { what: 'report', how: 'of another date', other: { ...mine, day: '22', name: 'others' } },
    { what: 'report', how: 'of another name', other: { ...mine, name: 'others' } },
    { what: 'share', how: 'for another user', other: { ...mine, person: 'other' } },
  ]
  for (const { what, how, other } of kinds)
    for (const when of ['while mounted', 'over a remount']) {
      t.test(`THING-7 a ${what} ${how} is not deleted until it is opened (${when})`, async t => {
        const testbed = await open(t, { fill: filled(mine), settings })
        const { files, service } = testbed
        const path = what === 'report' ? report : await shareOf(testbed)
        await textOf(testbed, path)
        await service.remake(filled(other))
        if (when === 'over a remount') await testbed.remount()
        await testbed.pass(2_500)
        const asked = await service.during(async () => {
          await namesOf(testbed, 'reports')
          await textOf(testbed, 'reports/INDEX.tsv')
          t.equal(await outcome(files.unlink(path)), 'ESTALE')
          await files.stat(path)
          t.equal(await outcome(files.unlink(path)), 'ESTALE', 'a look at its time shows nothing of it')
          await pauseEnds(testbed)
        })
        t.same(writes(asked), [])
        t.match(await textOf(testbed, path), what === 'report' ? /others/ : /other/)
        t.equal(await outcome(files.unlink(path)), 'done')
        await until(15_000, 'it is deleted', async () => {
          await testbed.pass(1_000)
          return writes(service.heard).some(line => line.startsWith('DELETE'))
        })
      })
    }

  t.test('THING-7 a report of another date is not deleted where an unsent text lies there', async t => {
    const testbed = await open(t, { fill: filled(mine), settings })
    const { files, service } = testbed
    const text = await textOf(testbed, report)
    const undo = service.intercept(/^PUT \/report/, response => {
      response.writeHead(403)
      response.end('no')
    })
    const file = await files.open(report, 'w')
    await file.write(text.replace('"mine"', '"draft"'), 0)
    t.equal(await outcome(file.close()), 'EACCES')
    undo()
    await service.remake(filled({ ...mine, day: '22', name: 'others' }))
    await testbed.remount()
    await testbed.pass(2_500)
    const asked = await service.during(async () => {
      t.equal(await outcome(files.unlink(report)), 'ESTALE')
      await pauseEnds(testbed)
    })
    t.same(writes(asked), [])
  })

  t.test('THING-7 a report that this drive has given a new name is deleted', async t => {
    const testbed = await open(t, { fill: filled(mine), settings })
    const { files, service } = testbed
    const text = await textOf(testbed, report)
    const file = await files.open(report, 'w')
    await file.write(text.replace('"mine"', '"named here"'), 0)
    await file.close()
    await testbed.pass(2_500)
    t.equal(await outcome(files.unlink(report)), 'done')
    await until(15_000, 'it is deleted', async () => {
      await testbed.pass(1_000)
      return writes(service.heard).some(line => line.startsWith('DELETE'))
    })
  })
}
