// Bursts of removals: hidden at once, then gone or back as a whole; and what failed blocks nothing.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import {
  isThere,
  namesOf,
  type OpenTestbed,
  outcome,
  overwrite,
  type Testbed,
  textOf,
} from '../../testbed/testbed.js'
import { drawnFrom, variants } from '../../testbed/variants.js'
import { pauseEnds, removeTree } from './deleting.js'

const water = 'projects/Water splitting'
const calculation = `${water}/TS1_opt`
const manage = { settings: { access: 'manage' } }
const deletion = (id: string): string => `DELETE /calculation?id=${id}`

/** `calcfs status` and `calcfs why` ask the same places. */
async function statusOf(
  testbed: Testbed,
): Promise<{ deleting: { path: string }[]; removedInVain: string[] }> {
  // The text that was shown before is shown for the lease.
  await testbed.pass(2_100)
  return JSON.parse(await textOf(testbed, '.calcfs/status.json'))
}

/** Three projects, each with calculations, shares and an empty project; and reports. */
async function openMixed(t: Test, open: OpenTestbed): Promise<Testbed> {
  const testbed = await open(t, {
    settings: { ...manage.settings, deadlineMetadata: '2m', deadlineSave: '2m' },
    adds(seed) {
      for (const user of ['ada', 'ben']) seed.addUser({ name: user, password: user })
      for (const id of ['51', '52', '53', '54'])
        seed.addReport({ id, name: `R${id}`, owner: 'demo', calculations: [] })
      for (const id of ['201', '202', '203']) {
        const project = seed.addProject({ id, name: `P${id}`, owner: 'demo', parent: ids.water })
        for (const at of ['1', '2'])
          seed.addCalculation({ id: `${id}${at}`, name: `C${at}`, project, files: { a: 'b' } })
        seed.addProject({ id: `${id}9`, name: 'Empty', owner: 'demo', parent: project })
        for (const user of ['ada', 'ben']) seed.addShare({ project, user, permission: 'READ' })
      }
    },
  })
  await namesOf(testbed, 'reports')
  for (const id of ['51', '52', '53', '54']) await testbed.files.lstat(`reports/${id}.json`)
  return testbed
}

interface Removable {
  readonly path: string
  readonly remove: () => Promise<void>
}

async function removables(testbed: Testbed): Promise<readonly Removable[]> {
  const { files } = testbed
  const found: Removable[] = []
  const add = (path: string, remove: () => Promise<void>) => found.push({ path, remove })
  for (const id of ['51', '52', '53', '54'])
    add(`reports/${id}.json`, () => files.unlink(`reports/${id}.json`))
  for (const id of ['201', '202', '203']) {
    const place = `${water}/P${id}`
    for (const at of ['1', '2']) add(`${place}/C${at}`, () => removeTree(testbed, `${place}/C${at}`))
    for (const name of await namesOf(testbed, `${place}/.shares`))
      add(`${place}/.shares/${name}`, () => files.unlink(`${place}/.shares/${name}`))
  }
  return found
}

export function bursts(t: Test, open: OpenTestbed): void {
  t.test('one file of a calculation', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    const before = await namesOf(testbed, calculation)

    t.test('DEL-1 is hidden at once, and back when the burst ends; why and status say so', async t => {
      await service.sends(t, [], async () => {
        t.equal(await outcome(files.unlink(`${calculation}/input.inp`)), 'done')
        t.equal(await outcome(files.lstat(`${calculation}/input.inp`)), 'ENOENT')
        t.notOk((await namesOf(testbed, calculation)).includes('input.inp'))
        await pauseEnds(testbed)
        t.same(await namesOf(testbed, calculation), before)
        t.equal(await textOf(testbed, `${calculation}/input.inp`), '! B3LYP opt\n')
      })
      t.match(await files.xattr(`${calculation}/input.inp`, 'user.calcfs.error'), /not deleted: .*rm -r/)
      t.ok((await statusOf(testbed)).removedInVain.includes(`/${calculation}/input.inp`))
    })

    t.test('DEL-1 what an earlier burst unlinked counts for no rmdir', async t => {
      await service.sends(t, [], async () => {
        await removeTree(testbed, calculation, 'run.log')
        await testbed.pass(3_200)
        t.same(await namesOf(testbed, calculation), before)
        for (const name of before.filter(name => /^(run\.log|.*\.xyz)$/.test(name)))
          await files.unlink(`${calculation}/${name}`)
        t.equal(await outcome(files.rmdir(calculation)), 'ENOTEMPTY')
        await pauseEnds(testbed)
      })
      t.same(await namesOf(testbed, calculation), before)
    })
  })

  t.test('a burst that is called off', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed

    t.test('DEL-14 touch of the calculation takes it back, as it was, and why tells', async t => {
      await service.sends(t, [], async () => {
        await removeTree(testbed, calculation)
        t.equal(await outcome(files.lstat(calculation)), 'ENOENT')
        await files.touch(calculation)
        t.ok((await namesOf(testbed, water)).includes('TS1_opt'))
        t.equal(await textOf(testbed, `${calculation}/input.inp`), '! B3LYP opt\n')
        await pauseEnds(testbed)
        t.match(await files.xattr(calculation, 'user.calcfs.error'), /it was not deleted.*was touched/)
        t.equal(await outcome(files.rmdir(calculation)), 'ENOTEMPTY', 'nothing of it counts as unlinked')
      })
    })

    t.test('DEL-15 while it waits status says so', async t => {
      await testbed.pass(2_100)
      await removeTree(testbed, calculation)
      const { deleting } = JSON.parse(await textOf(testbed, '.calcfs/status.json'))
      t.match(deleting, [{ path: `/${calculation}`, what: `calculation ${ids.transition}` }])
      await files.touch(water)
    })

    t.test('DEL-14 an unmount deletes nothing that waits', async t => {
      await service.sends(t, [], async () => {
        await removeTree(testbed, calculation)
        await files.unlink(`reports/${ids.report}.json`)
        await testbed.remount()
        await pauseEnds(testbed)
        // What the drive that has ended left behind would come by its own clock.
        await testbed.pass(3_300)
      })
      for (const path of [calculation, `reports/${ids.report}.json`])
        t.equal(await outcome(files.lstat(path)), 'done', path)
    })

    t.test('DEL-12 what another client changes meanwhile is not deleted', async t => {
      await textOf(testbed, `${calculation}/.calculation.json`)
      await service.sends(t, [], async () => {
        await removeTree(testbed, calculation)
        await service.edit('calculation', ids.transition, { description: 'needed after all' })
        await pauseEnds(testbed)
      })
      t.match(await files.xattr(calculation, 'user.calcfs.error'), /changed it since/)
    })
  })

  t.test('several at once', async t => {
    const testbed = await openMixed(t, open)
    const { service } = testbed

    t.test('DEL-14 what is back counts no more for the limit', async t => {
      const { files } = testbed
      await service.sends(t, [], async () => {
        for (const at of ['P201/C1', 'P201/C2', 'P202/C1', 'P202/C2']) {
          t.equal(await outcome(removeTree(testbed, `${water}/${at}`)), 'done', at)
          await files.touch(`${water}/${at}`)
        }
        for (const id of ['51', '52', '53', '54']) {
          t.equal(await outcome(files.unlink(`reports/${id}.json`)), 'done', id)
          await (await files.open(`reports/${id}.json`, 'w')).close()
        }
        await pauseEnds(testbed)
      })
    })

    t.test('DEL-3 go together, once nothing was removed for three seconds', async t => {
      await service.sends(t, [], 'the pause begins again with the second', async () => {
        await removeTree(testbed, `${water}/P201/C1`)
        await testbed.pass(2_000)
        await removeTree(testbed, `${water}/P201/C2`)
        await testbed.pass(1_200)
        await testbed.files.readdir(water)
      })
      const then = await service.during(() => pauseEnds(testbed))
      t.same(writes(then).sort(), [deletion('2011'), deletion('2012')])
    })

    t.test('DEL-4 empty projects count, and those that this mount has made do not', async t => {
      const { files } = testbed
      const removed = await service.during(async () => {
        for (const id of ['201', '202', '203']) await files.rmdir(`${water}/P${id}/Empty`)
        t.equal(await outcome(removeTree(testbed, calculation)), 'EPERM')
        await testbed.pass(3_200)
        for (const name of ['M1', 'M2', 'M3', 'M4']) await files.mkdir(`${water}/${name}`)
        for (const name of ['M1', 'M2', 'M3', 'M4'])
          t.equal(await outcome(files.rmdir(`${water}/${name}`)), 'done')
        await pauseEnds(testbed)
      })
      t.equal(writes(removed).filter(line => line.startsWith('DELETE /project')).length, 7)
      t.ok(await isThere(testbed, calculation))
    })
  })

  // On a mount each answer of the slow one costs a second and more by the clock.
  for (const how of variants(open, ['fast', 'slow'] as const, 2)) {
    const { seed, pick } = drawnFrom()
    t.test(`DEL-4 the fourth of a burst is EPERM, and all is back (${how} link, seed ${seed})`, async t => {
      const testbed = await openMixed(t, open)
      const { service } = testbed
      const all = await removables(testbed)
      // Each answer takes three seconds, in which the call waits.
      const mend = how === 'fast' ? () => {} : service.beforeAnswer(/./, () => testbed.pass(3_000))
      for (let round = 0; round < 3; round += 1) {
        const chosen = pick.shuffled(all).slice(0, 4 + pick.whole(0, 1))
        const told = chosen.map(({ path }) => path).join(', ')
        const ends: string[] = []
        const asked = await service.during(async () => {
          for (const { remove } of chosen) ends.push(await outcome(remove()))
          for (const { path } of chosen) t.ok(await isThere(testbed, path), `${path} is back at once`)
          await pauseEnds(testbed)
        })
        t.same(
          ends,
          chosen.map((_, at) => (at < 3 ? 'done' : 'EPERM')),
          told,
        )
        t.same(writes(asked), [], told)
        const [first] = chosen
        t.match(await testbed.files.xattr(first?.path ?? '', 'user.calcfs.error'), /max-deletes/)
        t.ok((await statusOf(testbed)).removedInVain.includes(`/${first?.path}`), told)
      }
      mend()
      const [one] = pick.shuffled(all)
      const gone = await service.during(async () => {
        t.equal(await outcome(one?.remove() ?? Promise.reject()), 'done')
        await pauseEnds(testbed)
      })
      t.match(writes(gone), [/^DELETE /], 'three seconds later the next one goes')
    })
  }

  t.test('DEL-4 a removal of what is not a thing of its own refuses the burst', async t => {
    const testbed = await openMixed(t, open)
    const { files, service } = testbed
    await textOf(testbed, `reports/${ids.report}.json`)
    const [byName] = await namesOf(testbed, 'reports/by-name')
    t.ok(byName)
    const own: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['.project.json', () => files.unlink(`${water}/P202/.project.json`)],
      ['.index.tsv', () => files.unlink(`by-id/project/${ids.water}/.index.tsv`)],
      ['.shares', () => files.rmdir(`${water}/P203/.shares`)],
      ['INDEX.tsv', () => files.unlink('reports/INDEX.tsv')],
      ['by-name', () => files.rmdir('reports/by-name')],
      ['a name in by-name', () => files.unlink(`reports/by-name/${byName}`)],
      ['a report as a folder', () => files.rmdir(`reports/${ids.report}`)],
      ['reports', () => files.rmdir('reports')],
      ['projects', () => files.rmdir('projects')],
      ['db', () => files.rmdir('db')],
      ['by-id/project', () => files.rmdir('by-id/project')],
      ['status.json', () => files.unlink('.calcfs/status.json')],
    ]
    for (const [what, remove] of variants(open, own, 4)) {
      await service.sends(t, [], what, async () => {
        await removeTree(testbed, `${water}/P202/C1`)
        t.match(await outcome(remove()), /^EPERM$/, what)
        t.ok(await isThere(testbed, `${water}/P202/C1`), `${what}: the calculation is back at once`)
        t.equal(
          await outcome(files.unlink('reports/51.json')),
          'EPERM',
          'and the rest of the burst is refused',
        )
        t.equal(await outcome(files.rmdir(`${water}/P202/Empty`)), 'EPERM')
        await pauseEnds(testbed)
      })
      t.match(await files.xattr(`${water}/P202/C1`, 'user.calcfs.error'), /was to be removed with it/)
    }
    await service.sends(t, [deletion('2021')], async () => {
      await removeTree(testbed, `${water}/P202/C1`)
      await pauseEnds(testbed)
    })
  })

  t.test('DEL-4 a refused removal leaves what a program writes as it was', async t => {
    const testbed = await openMixed(t, open)
    const { files, service } = testbed
    const shares = `${water}/P201/.shares`
    const [share = ''] = await namesOf(testbed, shares)
    for (const [path, from, to, sent] of [
      [`${shares}/${share}`, 'READ', 'WRITE', 'PUT /project/share'],
      ['reports/51.json', 'R51', 'R5x', 'PUT /report'],
    ] as const) {
      const text = (await textOf(testbed, path)).replace(from, to)
      await service.sends(t, [sent], path, async () => {
        const file = await files.open(path, 'w')
        await file.write(text, 0)
        t.equal(await outcome(files.unlink(`${water}/P202/.project.json`)), 'EPERM')
        t.equal(await outcome(files.unlink(path)), 'EPERM')
        t.equal(await outcome(file.close()), 'done')
      })
      await pauseEnds(testbed)
    }
  })

  t.test('DEL-4 a removal that fails blocks nothing: the next one works at once', async t => {
    const testbed = await openMixed(t, open)
    const { files, service } = testbed
    const row = (await namesOf(testbed, `reports/${ids.report}`)).find(name => /^01-/.test(name))
    const text = await textOf(testbed, 'reports/54.json')
    await overwrite(testbed, 'reports/54.json', text.replace('"R54"', '"Renamed"'))
    const failing: readonly (readonly [string, () => Promise<unknown>, string])[] = [
      ['rmdir of a project', () => files.rmdir(`${water}/P201`), 'ENOTEMPTY'],
      ['rmdir of a calculation', () => files.rmdir(`${water}/P201/C2`), 'ENOTEMPTY'],
      ['rm of nothing', () => files.unlink(`${water}/P201/C2/nothing`), 'ENOENT'],
      ['rm of a directory', () => files.rmdir(`${water}/P201/C2/a`), 'ENOTDIR'],
      ['rm of a report that was saved just now', () => files.unlink('reports/54.json'), 'done'],
      ['rm of a row', () => files.unlink(`reports/${ids.report}/${row}`), 'EPERM'],
    ]
    const { seed, pick } = drawnFrom()
    const targets = pick.shuffled(['201', '202', '203'])
    for (const [at, tries] of [failing.slice(0, 2), failing.slice(2, 4), failing.slice(4)].entries()) {
      const place = `${water}/P${targets[at]}`
      const [share] = await namesOf(testbed, `${place}/.shares`)
      const asked = await service.during(async () => {
        for (const [what, fail, end] of pick.shuffled(tries))
          t.equal(await outcome(fail()), end, `${what}, seed ${seed}`)
        t.equal(await outcome(files.unlink(`${place}/.shares/${share}`)), 'done')
        t.equal(await outcome(removeTree(testbed, `${place}/C1`)), 'done')
        await pauseEnds(testbed)
      })
      t.match(writes(asked).sort(), [deletion(`${targets[at]}1`), /^DELETE \/project\/share/])
    }
  })
}
