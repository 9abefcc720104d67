// A service that is away: what is known is shown, nothing is taken for deleted, and it is all well again afterwards.
import type { Test } from 'tap'
import { ids, log } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'
import { until } from '../../testbed/within.js'

const project = 'projects/Water splitting'
const report = `reports/${ids.report}.json`
const lifetimes = { ttlListing: '1s' }
const answersOnTheWay = (): Promise<void> => new Promise(wake => setTimeout(wake, 300))

export function outage(t: Test, open: OpenTestbed): void {
  t.test('an outage', async t => {
    const testbed = await open(t, { settings: lifetimes })
    const { files, service } = testbed
    const known = await namesOf(testbed, project)
    const text = await textOf(testbed, report)
    await textOf(testbed, `${project}/TS1_opt/run.log`)
    const calculations = [{ id: ids.bare }, { id: ids.product, title: 'Named' }]
    service.seed.addReport({ id: '44', name: 'Untitled', owner: 'demo', calculations })
    await textOf(testbed, 'reports/44.json')
    await service.leave()
    await testbed.pass(2500)

    t.test('STALE-5 what was known is shown, and marked', async t => {
      t.same(await namesOf(testbed, project), known)
      t.equal(await textOf(testbed, report), text)
      t.equal(await textOf(testbed, `${project}/TS1_opt/run.log`), log)
      t.ok(await files.xattr(project, 'user.calcfs.stale'))
      t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')), { answers: false })
    })

    t.test('STALE-5 a row whose calculation was never read stands in its folder without a title', async t => {
      const names = await namesOf(testbed, 'reports/44')
      t.equal(names.length, 3)
      t.ok(names.some(name => name.startsWith('01-')) && names.some(name => name.startsWith('02-Named')))
    })

    t.test('STALE-5 what was not known is an error that is no "not there"', async t => {
      t.match(await outcome(files.readdir(`${project}/Sub project`)), /^(EHOSTUNREACH|ETIMEDOUT)$/)
      t.match(await outcome(files.lstat('reports/4711.json')), /^(EHOSTUNREACH|ETIMEDOUT)$/)
    })

    t.test('STALE-5 touch while the service is away forgets nothing', async t => {
      await files.touch(project)
      t.same(await namesOf(testbed, project), known)
    })

    t.test('DRAFT-2 a save while the service is away fails, and the text is kept', async t => {
      const mine = text.replace('"title": "Supporting information"', '"title": "Written in the dark"')
      t.match(await outcome(overwrite(testbed, report, mine)), /^(EHOSTUNREACH|ETIMEDOUT)$/)
      t.equal(await textOf(testbed, report), mine)
      t.equal(await textOf(testbed, `.calcfs/drafts/${ids.report}.json`), mine)
    })

    t.test('STALE-5 when it is back, everything works again', async t => {
      await service.back()
      await until(10_000, 'the drive answers again', async () => {
        return (await outcome(files.readdir(`${project}/Sub project`))) === 'done'
      })
      await testbed.pass(2500)
      t.same(await namesOf(testbed, project), known)
      t.equal(await files.xattr(project, 'user.calcfs.stale'), undefined)
      const draft = await textOf(testbed, report)
      t.equal(await outcome(overwrite(testbed, report, draft)), 'done')
      t.match(await service.elsewhere('GET', `/report?id=${ids.report}`), /Written in the dark/)
    })
  })

  t.test('STALE-5 after a remount during an outage it is as this mount had left it', async t => {
    const testbed = await open(t, { settings: lifetimes })
    const { files, service } = testbed
    const before = await namesOf(testbed, project)
    await files.rename(`${project}/Sub project`, `${project}/Sub renamed`)
    await files.rename(`${project}/TS1_opt`, `${project}/TS1 renamed`)
    const renamed = (name: string): string =>
      name.replace('Sub project', 'Sub renamed').replace('TS1_opt', 'TS1 renamed')
    // What it says of each beside the name is as it was, but the time of the last change.
    const rowsIn = (text: string) => {
      const rows = text.split('\n').map(line => line.split('\t'))
      const changed = rows[0]?.indexOf('modificationDate')
      return rows.map(cells => cells.filter((_, at) => at !== changed)).sort()
    }
    const index = await textOf(testbed, `${project}/.index.tsv`)
    await files.rename(`${project}/H2O`, `${project}/H2O away`)
    await files.rename(`${project}/H2O away`, `${project}/H2O`)
    await service.leave()
    await testbed.remount()
    t.same([...(await namesOf(testbed, project))].sort(), before.map(renamed).sort())
    t.equal(await outcome(files.lstat(`${project}/TS1 renamed`)), 'done')
    t.same(rowsIn(await textOf(testbed, `${project}/.index.tsv`)), rowsIn(index))
    await service.back()
  })

  for (const status of variants(open, [404, 403], 2))
    t.test(`STALE-13 a gateway that says ${status} to everything is an outage`, async t => {
      // It is never silent: no deadline has to be short.
      const testbed = await open(t, { settings: { ...lifetimes, access: 'manage' } })
      const { files, service } = testbed
      const made = 'reports/new-made.json'
      await overwrite(testbed, made, '{"name":"Made","reportType":1}')
      const tops = await namesOf(testbed, 'projects')
      const known = await namesOf(testbed, project)
      await textOf(testbed, `${project}/TS1_opt/run.log`)
      const folder = await namesOf(testbed, `${project}/TS1_opt`)
      const deploy = () => service.page(/^\w+ \/(?!login)/, '<html>We are sorry</html>', status)
      const isKnown = async () => {
        await testbed.pass(2500)
        t.same(await namesOf(testbed, 'projects'), tops)
        t.same(await namesOf(testbed, project), known)
        t.same(await namesOf(testbed, `${project}/TS1_opt`), folder)
        t.equal(await textOf(testbed, `${project}/TS1_opt/run.log`), log)
      }
      const back = deploy()
      await isKnown()
      await service.sends(t, [], async () => {
        t.equal(await outcome(files.lstat('reports/4711.json')), 'EIO', 'what is not known is no "not there"')
        t.equal(
          await outcome(overwrite(testbed, made, '{"name":"Made","reportType":1,"description":"a"}')),
          'EIO',
        )
        t.equal(await outcome(files.rmdir(`${project}/Sub project`)), 'EIO')
      })
      back()
      await testbed.pass(2500)
      await service.sends(t, ['PUT /report'], () =>
        overwrite(testbed, made, '{"name":"Made","reportType":1,"description":"b"}'),
      )
      t.equal(await outcome(files.lstat('reports/4711.json')), 'ENOENT')
      const backAgain = deploy()
      await testbed.remount()
      await isKnown()
      backAgain()
      await isKnown()
    })

  for (const status of variants(open, [404, 400, 403], 2))
    t.test(
      `STALE-11 STALE-13 while ${status} is said to everything one question a second goes out`,
      async t => {
        const testbed = await open(t, { settings: lifetimes })
        const { files, service } = testbed
        const looks = async () => {
          await namesOf(testbed, project)
          const names = await namesOf(testbed, `${project}/TS1_opt`)
          for (const name of names) await files.lstat(`${project}/TS1_opt/${name}`)
          await textOf(testbed, `${project}/TS1_opt/.calculation.json`)
          t.equal(await textOf(testbed, `${project}/TS1_opt/run.log`), log)
        }
        await looks()
        const back = service.page(/^\w+ \/(?!login)/, '<html>We are sorry</html>', status)
        await testbed.pass(2500)
        await looks()
        const began = Date.now()
        const asked = await service.during(async () => {
          for (let often = 0; often < 5; often += 1) await looks()
        })
        const seconds = Math.ceil((Date.now() - began) / 1000)
        // The question, and the two that confirm its refusal.
        t.ok(asked.length <= 3 * (seconds + 1), `${asked.length} requests in ${seconds} s`)
        back()
        service.seed.addCalculation({ id: '951', name: 'Seen again', project: ids.water })
        let tries = 0
        await until(10_000, 'what was made meanwhile', async () => {
          await testbed.pass(1100)
          tries += 1
          const isSeen = (await namesOf(testbed, project)).includes('Seen again')
          // What a look has asked in the background is answered before the next one.
          if (!isSeen) await answersOnTheWay()
          return isSeen
        })
        t.ok(tries <= 3, `seen again at the look number ${tries}`)
      },
    )

  t.test('STALE-13 one thing that is refused by itself keeps no other from being asked for', async t => {
    const testbed = await open(t, { settings: lifetimes })
    const { files, service } = testbed
    await namesOf(testbed, project)
    await textOf(testbed, report)
    service.refuse(new RegExp(`^GET /report\\?id=${ids.report}`), 403)
    service.seed.addCalculation({ id: '952', name: 'Beside', project: ids.water })
    await testbed.pass(2500)
    t.not(await outcome(textOf(testbed, report)), 'done')
    t.ok((await namesOf(testbed, project)).includes('Beside'), 'asked for at once')
    t.equal(await outcome(files.lstat(`${project}/Beside`)), 'done')
  })
}
