// An id may change its meaning: a service set up again, or restored from a backup, gives it to another thing.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { cml } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'
import { until } from '../../testbed/within.js'

export const molecules = ['water', 'ammonia', 'methane', 'ethene', 'benzene', 'indigo']
/** All files of one name have one length, so that neither a length nor a page's size tells one from another. */
export const outputOf = (name: string): string => cml.replace('water', name.padEnd(9, '_'))
const inputOf = (name: string): string => `! opt ${name.padEnd(9)}\n`
const descriptionOf = (name: string): string => `All about ${name}`

/** The same calculations, numbered in this order; `fields` for each. */
export const numbered =
  (order: readonly string[], fields: (name: string) => string | undefined = () => undefined) =>
  (seed: Seed): void => {
    seed.addUser({ name: 'guest', password: 'guest' })
    seed.addUser({ name: 'other', password: 'other' })
    const halves = [order.slice(0, 3), order.slice(3)]
    for (const [at, names] of halves.entries()) {
      const project = seed.addProject({
        id: String(100 + at),
        name: `With ${names[0]}`,
        owner: 'demo',
        description: '',
        ...fieldsOf(fields(names[0] ?? '')),
      })
      for (const [place, name] of names.entries()) {
        seed.addCalculation({
          id: String(1 + at * 3 + place),
          name,
          project,
          description: descriptionOf(name),
          files: { 'output.cml': outputOf(name), 'a.inp': inputOf(name) },
          ...fieldsOf(fields(name)),
        })
      }
      seed.addShare({ project, user: at === 0 ? 'guest' : 'other', permission: 'READ' })
    }
    seed.addReport({
      id: '42',
      name: `Of ${order[0]}`,
      owner: 'demo',
      description: '',
      calculations: [{ id: '1' }, { id: '2' }],
    })
  }

export const fieldsOf = (fields: string | undefined) => (fields === undefined ? {} : { fields })

/** No answer counts for long. */
export const brief = { ttlListing: '1s' }

/** Nor is one shown later where the service is silent, as on a machine that has much to do: it is an error then. */
const neverOld = { ...brief, staleLimit: '0s' }

/** Once the service answers. */
async function answered<Value>(work: () => Promise<Value>): Promise<Value> {
  for (;;) {
    try {
      return await work()
    } catch (thrown) {
      const isSilence =
        thrown instanceof Error && 'code' in thrown && /^(ETIMEDOUT|EHOSTUNREACH)$/.test(String(thrown.code))
      if (!isSilence) throw thrown
    }
  }
}

export async function everything(testbed: Testbed): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>()
  for (const project of await namesOf(testbed, 'projects')) {
    if (project.startsWith('.')) continue
    for (const name of await namesOf(testbed, `projects/${project}`)) {
      if (name.startsWith('.')) continue
      const files = await namesOf(testbed, `projects/${project}/${name}`)
      for (const file of files.filter(one => !one.startsWith('.')))
        found.set(`${name}/${file}`, await textOf(testbed, `projects/${project}/${name}/${file}`))
    }
  }
  return found
}

export const forward = [...molecules]
const backward = molecules.toReversed()

export function recreateService(t: Test, open: OpenTestbed): void {
  const turned = [...molecules.slice(2), ...molecules.slice(0, 2)]
  // Two dates within one second, of which one is a whole second, may be one moment in two precisions.
  let made = 0
  const ownDate = () => {
    made += 1
    const date = new Date(Date.UTC(2026, 0, 1, 0, 0, made, 1 + (made % 998))).toISOString()
    return `{"creationDate":"${date}","modificationDate":"${date}"}`
  }
  const services = [
    { what: 'a service', fields: ownDate, shortcomings: {} },
    { what: 'a service that lists no dates', fields: ownDate, shortcomings: { bareListings: true } },
  ] as const

  const all = (['while it is mounted', 'over a remount'] as const).flatMap(how =>
    services.map(service => ({ how, ...service })),
  )
  for (const { how, what, fields, shortcomings } of variants(open, all, 5)) {
    t.test(`THING-1 of ${what} set up again in another order ${how} no old content is shown`, async t => {
      const testbed = await open(t, {
        fill: numbered(forward, fields),
        service: { shortcomings },
        settings: neverOld,
      })
      const before = await answered(() => everything(testbed))
      t.equal(before.get('water/output.cml'), outputOf('water'))
      for (const order of how === 'over a remount' ? [turned, forward] : [backward, turned]) {
        await testbed.service.remake(numbered(order, fields))
        await testbed.pass(2500)
        if (how === 'over a remount') await testbed.remount()
        // An answer of the earlier service may be on its way still: it comes as a new one.
        const halves = [order.slice(0, 3), order.slice(3)]
        await until(20_000, 'the new names', async () => {
          await testbed.pass(2500)
          const projects = await answered(() => namesOf(testbed, 'projects'))
          for (const [first = '', ...others] of halves) {
            if (!projects.includes(`With ${first}`)) return false
            const names = await answered(() => namesOf(testbed, `projects/With ${first}`))
            if (![first, ...others].every(name => names.includes(name))) return false
          }
          return true
        })
        t.same(await answered(() => everything(testbed)), before, order.join())
      }
    })
  }

  // With `manage` an empty project of the same name is shown as any other, and may be removed.
  const kinds = [
    ['edit', 'New'],
    ['edit', 'Other'],
    ['manage', 'Other'],
  ] as const
  for (const [access, other] of kinds)
    t.test(
      `THING-3 rmdir leaves a project alone that has the id of one made here (${access}, ${other})`,
      async t => {
        const testbed = await open(t, { fill: numbered(forward), settings: { ...brief, access } })
        await testbed.files.mkdir('projects/New')
        const { id } = JSON.parse(await textOf(testbed, 'projects/New/.project.json'))
        await testbed.service.remake(seed => {
          numbered(forward)(seed)
          const fields = '{"creationDate":"2019-05-01T10:00:00Z"}'
          seed.addProject({ id: String(id), name: other, owner: 'demo', fields })
        })
        if (other === 'Other') await testbed.pass(2500)
        const kept = () => testbed.service.elsewhere('GET', `/project?id=${id}`)
        // A user that may delete any empty project may delete the other one by its own name.
        for (const path of access === 'edit' ? ['projects/New', 'projects/Other'] : ['projects/New']) {
          t.not(await outcome(testbed.files.rmdir(path)), 'done', path)
          t.match(await kept(), other)
        }
      },
    )

  t.test('THING-1 what is read by its number is the new one, its geometry and its times as well', async t => {
    const testbed = await open(t, { fill: numbered(forward), settings: neverOld })
    const { files, service } = testbed
    const path = 'by-id/calculation/1'
    const seen = async () => {
      const [xyz = ''] = (await namesOf(testbed, path)).filter(name => name.endsWith('.xyz'))
      return {
        text: await textOf(testbed, `${path}/output.cml`),
        xyz: await textOf(testbed, `${path}/${xyz}`),
        time: (await files.stat(`${path}/output.cml`)).mtimeMs,
        folder: (await files.stat(path)).mtimeMs,
        record: JSON.parse(await textOf(testbed, `${path}/.calculation.json`)).name,
      }
    }
    const before = await answered(seen)
    t.match(before, { text: outputOf('water'), record: 'water' })
    await service.remake(numbered(backward))
    await testbed.pass(2500)
    // On a busy machine what was known is shown while the question takes its time.
    await until(60_000, 'the new record', async () => (await answered(seen)).record === 'indigo')
    const after = await answered(seen)
    t.match(after, { text: outputOf('indigo'), record: 'indigo' })
    t.not(after.time, before.time, 'pages that the kernel keeps go with the time')
    t.not(after.folder, before.folder)
    t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')), { otherThings: /[1-9]/ })
  })
}

/** What is written, deleted or known for longer. */
export function editedAnew(t: Test, open: OpenTestbed): void {
  for (const { what, path, other } of [
    { what: 'project', path: 'by-id/project/100/.project.json', other: '/project?id=100' },
    { what: 'calculation', path: 'by-id/calculation/2/.calculation.json', other: '/calculation?id=2' },
    { what: 'report', path: 'reports/42.json', other: '/report?id=42' },
  ]) {
    const edited = (text: string) => text.replace(/"description": "[^"]*"/, '"description": "Mine"')

    t.test(`THING-3 a text of the earlier ${what} is kept and never sent to the other`, async t => {
      const testbed = await open(t, { fill: numbered(forward), settings: brief })
      const { service } = testbed
      const text = await textOf(testbed, path)
      await service.remake(numbered(backward))
      const before = await service.elsewhere('GET', other)
      await service.sends(t, [], async () => {
        t.equal(await outcome(overwrite(testbed, path, edited(text))), 'ESTALE')
      })
      t.equal(await service.elsewhere('GET', other), before)
      await testbed.pass(2500)
      const drafts = await namesOf(testbed, '.calcfs/drafts')
      t.equal(drafts.length, 2, 'the text and its why')
      t.equal(await textOf(testbed, `.calcfs/drafts/${drafts[0]}`), edited(text))
      t.match(await textOf(testbed, `.calcfs/drafts/${drafts[1]}`), /another thing/)
      t.equal(
        JSON.parse(await textOf(testbed, path)).name,
        JSON.parse(before).name,
        'the file shows the other one',
      )
      await service.sends(t, [], () => overwrite(testbed, path, '{'.repeat(3)).catch(() => {}))
    })

    t.test(
      `THING-3 an unsent text of the earlier ${what} is not shown in the other’s place, over a restart too`,
      async t => {
        const testbed = await open(t, { fill: numbered(forward), settings: brief })
        const { service } = testbed
        const text = await textOf(testbed, path)
        const undo = service.refuse(new RegExp(`^PUT /${what}`), 403, 'no')
        t.equal(await outcome(overwrite(testbed, path, edited(text))), 'EACCES')
        undo()
        t.equal(await textOf(testbed, path), edited(text))
        await service.remake(numbered(backward))
        const before = JSON.parse(await service.elsewhere('GET', other))
        await testbed.remount()
        await until(10_000, 'the other one is shown', async () => {
          await testbed.pass(2100)
          return JSON.parse(await textOf(testbed, path)).name === before.name
        })
        t.equal(
          await textOf(testbed, `.calcfs/drafts/${what === 'report' ? '' : `${what}-`}${before.id}.json`),
          edited(text),
        )
        await overwrite(testbed, path, edited(await textOf(testbed, path)))
        t.match(JSON.parse(await service.elsewhere('GET', other)), { name: before.name, description: 'Mine' })
      },
    )
  }

  t.test(
    'THING-3 a text that is being written when its id becomes another thing’s is kept whole',
    async t => {
      const testbed = await open(t, { fill: numbered(forward) })
      const { files, service } = testbed
      const path = 'by-id/calculation/2/.calculation.json'
      const text = (await textOf(testbed, path)).replace(/"description": "[^"]*"/, '"description": ""')
      const file = await files.open(path, 'w')
      await service.remake(numbered(backward))
      await testbed.pass(11_000)
      await files.stat('by-id/calculation/2')
      await namesOf(testbed, 'by-id/calculation/2')
      await file.write(text, 0)
      await service.sends(t, [], async () => t.equal(await outcome(file.close()), 'ESTALE'))
      await testbed.pass(2500)
      t.equal(await textOf(testbed, '.calcfs/drafts/calculation-2.json'), text)
      t.match(JSON.parse(await textOf(testbed, path)), { name: 'benzene' })
    },
  )

  t.test('THING-3 a share never gives a permission to another user or project', async t => {
    const testbed = await open(t, { fill: numbered(forward) })
    const { service } = testbed
    const shares = 'by-id/project/100/.shares'
    const [own = ''] = (await namesOf(testbed, shares)).filter(name => name.endsWith('.json'))
    const text = await textOf(testbed, `${shares}/${own}`)
    const put = service.refuse(/^(POST|PUT) \/project\/share/, 403, 'no')
    t.not(
      await outcome(overwrite(testbed, `${shares}/new.json`, '{"user":"other","permission":"FULLACCESS"}')),
      'done',
    )
    put()
    // The same numbers, other projects and users.
    await service.remake(seed => {
      numbered(backward)(seed)
    })
    service.answer(
      /^GET \/project\/share\?id=100/,
      () => `[${text.replace('"guest"', '"other"').replace('guest@', 'other@')}]`,
    )
    await service.sends(t, [], async () => {
      const more = text.replace('READ', 'FULLACCESS')
      t.equal(await outcome(overwrite(testbed, `${shares}/${own}`, more)), 'ESTALE')
      t.equal(
        await outcome(overwrite(testbed, `${shares}/new.json`, '{"user":"other","permission":"WRITE"}')),
        'ESTALE',
      )
    })
  })

  t.test('THING-3 what was removed in one thing is not deleted in another', async t => {
    const testbed = await open(t, { fill: numbered(forward), settings: { access: 'manage' } })
    const { files, service } = testbed
    await namesOf(testbed, 'projects/With water/water')
    const folder = 'projects/With water/water'
    for (const name of await namesOf(testbed, folder)) await files.unlink(`${folder}/${name}`)
    await service.remake(numbered(backward))
    await service.sends(t, [], async () => {
      const before = service.heard.length
      // The answer may come before the pause in which it can be taken back; most often the project above is found out.
      if ((await outcome(files.rmdir(folder))) !== 'done') return
      await until(15_000, 'a look at what is to be deleted', async () => {
        await testbed.pass(1000)
        await namesOf(testbed, 'projects')
        return service.heard.slice(before).some(({ path }) => path === '/calculation?id=1')
      })
      await testbed.pass(1000)
      await namesOf(testbed, 'projects')
    })
    t.match(JSON.parse(await service.elsewhere('GET', '/calculation?id=1')), { name: 'indigo' })
  })
}

export function oneDate(t: Test, open: OpenTestbed): void {
  t.test('THING-1 a rename or a move makes no other thing', async t => {
    const dated = (name: string) => `{"creationDate":"2024-05-0${1 + molecules.indexOf(name)}T10:00:00Z"}`
    const testbed = await open(t, { fill: numbered(forward, dated), settings: brief })
    const { service } = testbed
    await everything(testbed)
    const contentsAsked = async (path: string, name: string) => {
      const asked = await service.during(async () => t.equal(await textOf(testbed, path), outputOf(name)))
      return asked.filter(({ path }) => path.startsWith('/calculation/files/bitstream')).length
    }
    await testbed.files.rename('projects/With water/ammonia', 'projects/With water/mine')
    await testbed.pass(2500)
    t.equal(await contentsAsked('projects/With water/mine/output.cml', 'ammonia'), 0, 'renamed here')
    t.ok((await namesOf(testbed, 'projects/With water')).includes('mine'))
    await testbed.pass(2500)
    t.ok((await namesOf(testbed, 'projects/With water')).includes('mine'))
    await testbed.files.rename('projects/With water/mine', 'projects/With water/ammonia')
    for (const later of [0, 2500, 2500]) {
      await testbed.pass(later)
      t.equal(await contentsAsked('projects/With water/ammonia/output.cml', 'ammonia'), 0, 'and back')
      t.ok((await namesOf(testbed, 'projects/With water')).includes('ammonia'))
    }
    await service.edit('calculation', '1', { name: 'renamed' })
    await testbed.pass(2500)
    const path = 'projects/With water/renamed/output.cml'
    t.equal(await contentsAsked(path, 'water'), 0, 'renamed elsewhere')
  })
}
