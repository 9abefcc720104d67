// What is deleted with --access manage: a calculation by rm -r alone, a record after the pause, and nothing by the way.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { succeeds, until } from '../../testbed/within.js'

const water = 'projects/Water splitting'
const calculation = `${water}/TS1_opt`
const manage = { settings: { access: 'manage' } }

/** As `rm -r` does it, in the order of the listing; `stopAt` stops it at an entry. */
export async function removeTree(testbed: Testbed, path: string, stopAt?: string): Promise<void> {
  for (const [name, kind] of await testbed.files.readdir(path)) {
    if (name === stopAt) return
    if (kind === 'directory') await removeTree(testbed, `${path}/${name}`)
    else await testbed.files.unlink(`${path}/${name}`)
  }
  await testbed.files.rmdir(path)
}

export const there = ({ service }: Testbed, path: string): Promise<boolean> =>
  succeeds(service.elsewhere('GET', path))

export function deleting(t: Test, open: OpenTestbed): void {
  for (const what of ['calculation', 'share'] as const) {
    t.test(
      `DEL-12 a deleted ${what} is not shown again where the service goes away right after it`,
      async t => {
        const testbed = await open(t, manage)
        const { files, service } = testbed
        const folder = what === 'share' ? `${water}/.shares` : water
        if (what === 'share')
          await overwrite(testbed, `${folder}/new.json`, '{"user":"guest","permission":"READ"}')
        const isIt = (one: string): boolean =>
          what === 'share' ? /^\d+\.json$/.test(one) : one === 'TS1_opt'
        const [name = ''] = (await namesOf(testbed, folder)).filter(isIt)
        t.ok(name)
        if (what === 'share') await files.unlink(`${folder}/${name}`)
        else await removeTree(testbed, `${folder}/${name}`)
        await testbed.pass(3_200)
        // Nothing is listed between the answer and the outage.
        await until(5_000, 'it is deleted', async () => {
          const { deleting } = JSON.parse(await textOf(testbed, '.calcfs/status.json'))
          return deleting.length === 0 && writes(service.heard).some(line => line.startsWith('DELETE'))
        })
        await service.leave()
        t.notOk((await namesOf(testbed, folder)).includes(name))
        await service.back()
      },
    )
  }

  t.test('RENAME-1 nothing is deleted by a name that a save has changed', async t => {
    const testbed = await open(t, manage)
    const { service } = testbed
    for (const [name, now, record] of [
      ['Sub project', 'Kept', '.project.json'],
      ['TS1_opt', 'Saddle', '.calculation.json'],
    ] as const) {
      await namesOf(testbed, water)
      const path = `${water}/${name}`
      await overwrite(
        testbed,
        `${path}/${record}`,
        (await textOf(testbed, `${path}/${record}`)).replace(name, now),
      )
      t.ok((await namesOf(testbed, water)).includes(now))
      await service.sends(t, [], async () => {
        if (name === 'TS1_opt') t.equal(await outcome(removeTree(testbed, path)), 'ENOENT')
        else t.equal(await outcome(testbed.files.rmdir(path)), 'ENOENT')
        await pauseEnds(testbed)
      })
      t.ok((await namesOf(testbed, water)).includes(now))
    }
  })

  t.test('THING-3 a calculation that another client has moved is not deleted by its old place', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    await namesOf(testbed, calculation)
    const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.transition}`))
    t.equal(String(record.parentId), ids.water)
    service.answer(/^GET \/calculation\?id=1234$/, () =>
      JSON.stringify({ ...record, parentId: Number(ids.empty) }),
    )
    await service.sends(t, [], async () => {
      await removeTree(testbed, calculation)
      await pauseEnds(testbed)
    })
    t.match(await files.xattr(calculation, 'user.calcfs.error'), /moved it/)
  })

  t.test('THING-3 nothing is deleted or renamed by a name that another client has changed', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed
    await files.mkdir(`${water}/Made here`)
    await namesOf(testbed, water)
    await namesOf(testbed, calculation)
    await service.edit('calculation', ids.transition, { name: 'Keep this' })
    const [made] = JSON.parse(
      await service.elsewhere('GET', `/project/descendant?id=${ids.water}&type=project&depth=1`),
    ).filter(({ name }: { name: string }) => name === 'Made here')
    await service.edit('project', made.id, { name: 'Keep that' })
    await service.sends(t, [], async () => {
      t.match(await outcome(files.rename(calculation, `${water}/mine`)), /^(ESTALE|ENOENT)$/)
      t.match(await outcome(files.rmdir(`${water}/Made here`)), /^(ESTALE|ENOENT)$/)
    })
    const other = JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.product}`))
    await namesOf(testbed, `${water}/${other.name}`)
    await service.edit('calculation', ids.product, { name: 'Keep it' })
    await service.sends(t, [], async () => {
      await outcome(removeTree(testbed, `${water}/${other.name}`))
      await pauseEnds(testbed)
    })
    t.equal(JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.product}`)).name, 'Keep it')
  })

  t.test('rm -r of a calculation', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed

    t.test('DEL-3 whole it is one DELETE, after the pause; until then it is not to be seen', async t => {
      await service.sends(t, [], () => removeTree(testbed, calculation))
      t.notOk((await namesOf(testbed, water)).includes('TS1_opt'))
      t.equal(await outcome(files.lstat(calculation)), 'ENOENT')
      t.equal(await outcome(files.lstat(`by-id/calculation/${ids.transition}`)), 'ENOENT')
      t.equal(await outcome(files.lstat(`by-id/project/${ids.water}/TS1_opt/run.log`)), 'ENOENT')
      await service.sends(t, [`DELETE /calculation?id=${ids.transition}`], () => pauseEnds(testbed))
      t.notOk((await namesOf(testbed, water)).includes('TS1_opt'))
      t.notOk(await there(testbed, `/calculation?id=${ids.transition}`))
    })
  })

  t.test('rm -r where the service does not answer as it should', async t => {
    const testbed = await open(t, manage)
    const { files, service } = testbed

    t.test('DEL-4 a project whose record cannot be read is not deleted either', async t => {
      const mend = service.refuse(/^GET \/project\?/, 500, 'no')
      const asked = await service.during(async () => {
        for (const [name] of await files.readdir(water)) {
          const path = `${water}/${name}`
          if ((await outcome(files.lstat(path))) !== 'done') continue
          const inside = await files.readdir(path).catch(() => new Map<string, string>())
          for (const [file] of inside) await outcome(files.unlink(`${path}/${file}`))
          await outcome(inside.size > 0 ? files.rmdir(path) : files.unlink(path))
        }
      })
      mend()
      t.same(writes(asked), [])
    })

    t.test('RMDIR-1 a project whose children make no sense is not taken for empty', async t => {
      await testbed.pass(3_200)
      const odd = /^GET \/project\/descendant/
      const mend = service.answer(odd, '[{"oid":7}]')
      await files.touch('projects')
      const asked = await service.during(async () => {
        t.equal(await outcome(files.rmdir(`by-id/project/${ids.water}`)), 'ENOTEMPTY')
      })
      mend()
      t.same(writes(asked), [])
    })
  })
}

/** The pause is over, and what was due is deleted, or stays: the service hears nothing more. */
export async function pauseEnds(testbed: Testbed): Promise<void> {
  await testbed.pass(3_200)
  await testbed.files.readdir('projects')
  const isUnderWay = async () => JSON.parse(await textOf(testbed, '.calcfs/status.json')).deleting.length > 0
  for (let heard = -1; heard !== testbed.service.heard.length || (await isUnderWay()); ) {
    heard = testbed.service.heard.length
    await new Promise(wake => setTimeout(wake, 400))
  }
}
