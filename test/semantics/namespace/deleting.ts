// What is deleted with --access manage: a calculation by rm -r alone, a record after the pause, and nothing by the way.
import type { Test } from 'tap'
import { ids } from '../../testbed/sample-data.js'
import { writes } from '../../testbed/service.js'
import { type Ground, namesOf, type OpenGround, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

const water = 'projects/Water splitting'
const calculation = `${water}/TS1_opt`
const report = `reports/${ids.report}.json`
const tenMinutes = 10 * 60_000
const manage = { settings: { access: 'manage' } }

/** As `rm -r` does it, in the order of the listing; `stopAt` stops it at an entry. */
export async function removeTree(ground: Ground, path: string, stopAt?: string): Promise<void> {
  for (const [name, kind] of await ground.files.readdir(path)) {
    if (name === stopAt) return
    if (kind === 'directory') await removeTree(ground, `${path}/${name}`)
    else await ground.files.unlink(`${path}/${name}`)
  }
  await ground.files.rmdir(path)
}

export const there = async ({ service }: Ground, path: string): Promise<boolean> =>
  service.elsewhere('GET', path).then(
    () => true,
    () => false,
  )

export function deleting(t: Test, open: OpenGround): void {
  for (const what of ['calculation', 'share'] as const) {
    t.test(
      `DEL-25 a deleted ${what} is not shown again where the service goes away right after it`,
      async t => {
        const ground = await open(t, manage)
        const { files, service } = ground
        const folder = what === 'share' ? `${water}/.shares` : water
        if (what === 'share')
          await overwrite(ground, `${folder}/new.json`, '{"user":"guest","permission":"READ"}')
        const isIt = (one: string): boolean =>
          what === 'share' ? /^\d+\.json$/.test(one) : one === 'TS1_opt'
        const [name = ''] = (await namesOf(ground, folder)).filter(isIt)
        t.ok(name)
        if (what === 'share') await files.unlink(`${folder}/${name}`)
        else await removeTree(ground, `${folder}/${name}`)
        await ground.pass(3_200)
        // Nothing is listed between the answer and the outage.
        await until(5_000, 'it is deleted', async () => {
          const { deleting } = JSON.parse(await textOf(ground, '.calcfs/status.json'))
          return deleting.length === 0 && writes(service.heard).some(line => line.startsWith('DELETE'))
        })
        await service.leave()
        t.notOk((await namesOf(ground, folder)).includes(name))
        await service.back()
      },
    )
  }

  t.test('RECORD-4 nothing is deleted by a name that a save has changed', async t => {
    const ground = await open(t, manage)
    const { service } = ground
    for (const [name, now, record] of [
      ['Sub project', 'Kept', '.project.json'],
      ['TS1_opt', 'Saddle', '.calculation.json'],
    ] as const) {
      await namesOf(ground, water)
      const path = `${water}/${name}`
      await overwrite(
        ground,
        `${path}/${record}`,
        (await textOf(ground, `${path}/${record}`)).replace(name, now),
      )
      t.ok((await namesOf(ground, water)).includes(now))
      const asked = await service.during(async () => {
        if (name === 'TS1_opt') t.equal(await outcome(removeTree(ground, path)), 'ENOENT')
        else t.equal(await outcome(ground.files.rmdir(path)), 'ENOENT')
        await pauseEnds(ground)
      })
      t.same(writes(asked), [])
      t.ok((await namesOf(ground, water)).includes(now))
    }
  })

  t.test('THING-5 a calculation that another client has moved is not deleted by its old place', async t => {
    const ground = await open(t, manage)
    const { files, service } = ground
    await namesOf(ground, calculation)
    const record = JSON.parse(await service.elsewhere('GET', `/calculation?id=${ids.transition}`))
    t.equal(String(record.parentId), ids.water)
    service.spoil(/^GET \/calculation\?id=1234$/, response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(JSON.stringify({ ...record, parentId: Number(ids.empty) }))
    })
    const asked = await service.during(async () => {
      await removeTree(ground, calculation)
      await pauseEnds(ground)
    })
    t.same(writes(asked), [])
    t.match(await files.xattr(calculation, 'user.calcfs.error'), /moved it/)
  })

  t.test('rm -r of a calculation', async t => {
    const ground = await open(t, manage)
    const { files, service } = ground

    t.test('DEL-1 interrupted it deletes nothing; rmdir is ENOTEMPTY while anything is left', async t => {
      const asked = await service.during(async () => {
        await removeTree(ground, calculation, 'run.log')
        t.equal(await outcome(files.rmdir(calculation)), 'ENOTEMPTY')
      })
      t.same(writes(asked), [])
      await ground.pass(2_200)
      t.ok((await namesOf(ground, calculation)).includes('input.inp'), 'a backup lacks nothing')
      t.equal(await textOf(ground, `${calculation}/input.inp`), '! B3LYP opt\n')
    })

    t.test('DEL-2 what was unlinked before a restart does not count', async t => {
      await ground.remount()
      await files.unlink(`${calculation}/.calculation.json`)
      for (const name of await namesOf(ground, calculation))
        if (!/^(input\.inp|output\.cml|empty\.txt|\.calc.*)$/.test(name))
          await files.unlink(`${calculation}/${name}`)
      t.equal(await outcome(files.rmdir(calculation)), 'ENOTEMPTY')
    })

    if (ground.name === 'in-process') {
      t.test('DEL-2 nor does what was unlinked ten minutes ago', async t => {
        for (const name of await namesOf(ground, calculation)) await files.unlink(`${calculation}/${name}`)
        await ground.pass(tenMinutes)
        t.equal(await outcome(files.rmdir(calculation)), 'ENOTEMPTY')
      })
    }

    t.test('DEL-3 whole it is one DELETE, after the pause; until then it is not to be seen', async t => {
      const asked = await service.during(() => removeTree(ground, calculation))
      t.same(writes(asked), [])
      t.notOk((await namesOf(ground, water)).includes('TS1_opt'))
      t.equal(await outcome(files.lstat(calculation)), 'ENOENT')
      t.equal(await outcome(files.lstat(`by-id/calculation/${ids.transition}`)), 'ENOENT')
      t.equal(await outcome(files.lstat(`by-id/project/${ids.water}/TS1_opt/run.log`)), 'ENOENT')
      const sent = await service.during(() => pauseEnds(ground))
      t.same(writes(sent), [`DELETE /calculation?id=${ids.transition}`])
      t.notOk((await namesOf(ground, water)).includes('TS1_opt'))
      t.notOk(await there(ground, `/calculation?id=${ids.transition}`))
    })

    t.test('DEL-4 rm -r of a project deletes nothing at all', async t => {
      const asked = await service.during(async () => {
        for (const [name] of await files.readdir(water)) {
          const path = `${water}/${name}`
          const inside = await files.readdir(path).catch(() => new Map<string, string>())
          for (const [file] of inside) await outcome(files.unlink(`${path}/${file}`))
          await outcome(inside.size > 0 ? files.rmdir(path) : files.unlink(path))
        }
        t.equal(await outcome(files.rmdir(water)), 'ENOTEMPTY')
      })
      t.same([...writes(asked), ...writes(await service.during(() => pauseEnds(ground)))], [])
      t.match(await files.xattr(water, 'user.calcfs.error'), /rmdir/)
      t.ok((await namesOf(ground, `${water}/H2O`)).includes('output.cml'))
    })

    if (ground.name === 'in-process') {
      t.test('DEL-4 a minute later one of its calculations can be taken away', async t => {
        t.equal(await outcome(removeTree(ground, `${water}/H2O`)), 'EPERM')
        await ground.pass(61_000)
        const asked = await service.during(async () => {
          await removeTree(ground, `${water}/H2O`)
          await pauseEnds(ground)
        })
        t.same(writes(asked), [`DELETE /calculation?id=${ids.product}`])
      })
    }
  })

  t.test('rm -r where the service does not answer as it should', async t => {
    const ground = await open(t, manage)
    const { files, service } = ground

    t.test('DEL-4 a project whose record cannot be read is not deleted either', async t => {
      const mend = service.spoil(/^GET \/project\?/, response => void response.writeHead(500).end('no'))
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

    t.test('RMDIR-2 empty lists are not believed while what was listed before is still there', async t => {
      await namesOf(ground, `by-id/project/${ids.water}`)
      const mend = service.spoil(/^GET \/project\/descendant/, response => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('[]')
      })
      const asked = await service.during(async () => {
        t.equal(await outcome(files.rmdir(`by-id/project/${ids.water}`)), 'ENOTEMPTY')
      })
      mend()
      t.same(writes(asked), [])
    })

    t.test('RMDIR-2 a project whose children make no sense is not taken for empty', async t => {
      const odd = /^GET \/project\/descendant/
      const mend = service.spoil(odd, response => {
        response.writeHead(200, { 'content-type': 'application/json' }).end('[{"oid":7}]')
      })
      await files.touch('projects')
      const asked = await service.during(async () => {
        t.equal(await outcome(files.rmdir(`by-id/project/${ids.water}`)), 'ENOTEMPTY')
      })
      mend()
      t.same(writes(asked), [])
    })

    t.test('DEL-11 rm -r of the reports, or of all shares, deletes none of them', async t => {
      service.seed.addShare({ project: ids.water, user: 'guest', permission: 'READ' })
      await files.touch(water)
      await files.lstat(report)
      const asked = await service.during(async () => {
        for (const directory of ['reports', `${water}/.shares`]) {
          for (const [name, kind] of await files.readdir(directory))
            if (kind === 'file') await outcome(files.unlink(`${directory}/${name}`))
          t.equal(await outcome(files.rmdir(directory)), 'EPERM')
        }
        await ground.pass(3200)
        await files.readdir('reports')
      })
      t.same(writes(asked), [])
    })
  })

  t.test('rm of a record', async t => {
    const ground = await open(t, manage)
    const { files, service } = ground

    t.test('DEL-5 a report made anew within the pause is an edit and no deletion', async t => {
      const text = (await textOf(ground, report)).replace('"Supporting"', '"Kept"')
      const asked = await service.during(async () => {
        await files.unlink(report)
        await overwrite(ground, report, text)
        await ground.pass(3200)
        await files.lstat(report)
      })
      t.same(writes(asked), ['PUT /report'])
    })

    t.test('DEL-5 so is the record of a project, and its calculations can be taken away at once', async t => {
      service.seed.addCalculation({ id: '1250', name: 'Spare', project: ids.water, files: { a: 'b' } })
      await files.touch(water)
      const record = `${water}/.project.json`
      const text = (await textOf(ground, record)).replace(/"description": "[^"]*"/, '"description": "Anew"')
      const asked = await service.during(async () => {
        await files.unlink(record)
        await overwrite(ground, record, text)
        await removeTree(ground, `${water}/Spare`)
        await pauseEnds(ground)
      })
      t.same(writes(asked), ['PUT /project', 'DELETE /calculation?id=1250'])
    })

    t.test('DEL-6 a report renamed away is never deleted', async t => {
      const asked = await service.during(async () => {
        await files.rename(report, `${report}~`)
        await ground.pass(3200)
        t.equal((await files.lstat(report)).kind, 'file')
      })
      t.same(writes(asked), [])
    })

    t.test('DEL-7 after the pause the report is deleted', async t => {
      const asked = await service.during(async () => {
        await files.unlink(report)
        t.equal(await outcome(files.lstat(report)), 'ENOENT')
        await ground.pass(3200)
        await gone(ground, `/report?id=${ids.report}`)
      })
      t.same(writes(asked), [`DELETE /report?id=${ids.report}`])
      t.equal(await outcome(files.lstat(report)), 'ENOENT')
      t.notOk((await namesOf(ground, 'reports')).includes(`${ids.report}.json`))
    })

    t.test('DEL-8 a DELETE that is refused brings the file back, and says why', async t => {
      const mend = service.spoil(
        /^DELETE \/report/,
        response => void response.writeHead(403).end('not yours'),
      )
      const path = `reports/${ids.profile}.json`
      await files.unlink(path)
      await ground.pass(3200)
      await until(5000, 'the file is back', async () => (await outcome(files.lstat(path))) === 'done')
      mend()
      t.match(await files.xattr(path, 'user.calcfs.error'), /not yours/)
    })

    t.test('DEL-9 an unmount completes what waits', async t => {
      await files.unlink(`reports/${ids.profile}.json`)
      await ground.remount()
      t.notOk(await there(ground, `/report?id=${ids.profile}`).then(isThere => isThere && false))
      t.equal(await outcome(files.lstat(`reports/${ids.profile}.json`)), 'ENOENT')
    })
  })

  t.test('DEL-10 with --access edit a record that was removed is back, and nothing is sent', async t => {
    const ground = await open(t)
    const asked = await ground.service.during(async () => {
      await ground.files.unlink(report)
      await ground.pass(3200)
      t.equal((await ground.files.lstat(report)).kind, 'file')
    })
    t.same(writes(asked), [])
  })
}

/** The pause is over, and what was due has been asked for: the service hears nothing more. */
export async function pauseEnds(ground: Ground): Promise<void> {
  await ground.pass(3_200)
  await ground.files.readdir('projects')
  for (let heard = -1; heard !== ground.service.heard.length; ) {
    heard = ground.service.heard.length
    await new Promise(wake => setTimeout(wake, 400))
  }
}

async function gone(ground: Ground, path: string): Promise<void> {
  await until(5000, `${path} is gone`, async () => {
    await ground.files.readdir('reports')
    return (await ground.service.elsewhere('GET', path).catch(() => 'null')) === 'null'
  })
}
