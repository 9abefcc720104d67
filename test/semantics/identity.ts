// What the drive shows and saves belongs to the thing that was asked for, whatever stands in front of the service.
import type { Test } from 'tap'
import { type Ground, namesOf, type OpenGround, outcome, overwrite, textOf } from '../ground/ground.js'
import { type TestService, writes } from '../ground/service.js'
import { ids } from '../ground/world.js'

/** A cache that ignores the query: questions that match are answered as this other one. Undoes it when called. */
export const answeredAs = (service: TestService, which: RegExp, other: string): (() => void) =>
  service.spoil(which, async response => {
    const text = await service.elsewhere('GET', other)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(text)
  })

const why = async ({ files }: Ground, path: string): Promise<string> =>
  (await files.xattr(path, 'user.calcfs.error')) ?? ''

export function identity(t: Test, open: OpenGround): void {
  const records = [
    { what: 'project', own: ids.water, other: ids.empty, path: 'projects/Water splitting/.project.json' },
    {
      what: 'calculation',
      own: ids.transition,
      other: ids.product,
      path: 'projects/Water splitting/TS1_opt/.calculation.json',
    },
    { what: 'report', own: ids.report, other: ids.profile, path: `reports/${ids.report}.json` },
  ] as const

  for (const { what, own, other, path } of records) {
    const record = new RegExp(`^GET /${what}\\?id=${own}$`)

    t.test(`ID-1 a ${what} that answers with another id is EIO and shown nowhere`, async t => {
      const ground = await open(t)
      const undo = answeredAs(ground.service, record, `/${what}?id=${other}`)
      t.equal(await outcome(textOf(ground, path)), 'EIO')
      t.equal(await outcome(overwrite(ground, path, `{"id": ${other}, "description": "Mine"}`)), 'EIO')
      if (what !== 'report')
        t.match(await why(ground, path), new RegExp(`${own}.*${other}`), 'both ids are told')
      undo()
      await ground.pass(12_000)
      t.equal(JSON.parse(await textOf(ground, path)).id, Number(own))
    })

    t.test(`ID-1 a ${what} that answers with another id is no base of a save`, async t => {
      const ground = await open(t)
      const text = await textOf(ground, path)
      const undo = answeredAs(ground.service, record, `/${what}?id=${other}`)
      const before = await ground.service.elsewhere('GET', `/${what}?id=${other}`)
      const edited = text.replace(/"description": "[^"]*"/, '"description": "Mine"')
      const heard = await ground.service.during(async () => {
        t.equal(await outcome(overwrite(ground, path, edited)), 'EIO')
      })
      t.same(writes(heard), [], 'nothing is sent')
      undo()
      t.equal(await ground.service.elsewhere('GET', `/${what}?id=${other}`), before)
      await overwrite(ground, path, edited)
      t.match(JSON.parse(await ground.service.elsewhere('GET', `/${what}?id=${own}`)), {
        description: 'Mine',
      })
    })

    t.test(
      `ID-1 a ${what} read again after its PUT with another id is no proof that it is stored`,
      async t => {
        const ground = await open(t)
        const text = await textOf(ground, path)
        const edited = text.replace(/"description": "[^"]*"/, '"description": "Mine"')
        let undo: (() => void) | undefined
        const put = ground.service.spoil(new RegExp(`^PUT /${what}$`), async (_response, { carryOut }) => {
          const passOn = await carryOut()
          undo = answeredAs(ground.service, record, `/${what}?id=${other}`)
          passOn()
        })
        t.equal(await outcome(overwrite(ground, path, edited)), 'EIO')
        undo?.()
        put()
        t.not((await namesOf(ground, '.calcfs/drafts')).length, 0, 'the text is kept')
        const heard = await ground.service.during(() => overwrite(ground, path, edited))
        t.same(writes(heard), [], 'what is stored is not sent again')
        t.match(JSON.parse(await ground.service.elsewhere('GET', `/${what}?id=${own}`)), {
          description: 'Mine',
        })
      },
    )
  }

  t.test('ID-2 a listing or list of shares that is another project’s is EIO', async t => {
    const ground = await open(t)
    const { service } = ground
    const spoiled = (what: string, query = '') =>
      answeredAs(
        service,
        new RegExp(`^GET /project/${what}\\?id=${ids.empty}${query}`),
        `/project/${what}?id=${ids.water}${query.replace('.*', '&depth=1')}`,
      )
    const undo = [spoiled('descendant', '&type=calculation'), spoiled('share')]
    service.seed.addShare({ project: ids.water, user: 'guest', permission: 'READ' })
    t.equal(await outcome(namesOf(ground, 'projects/Water splitting/Sub project')), 'EIO')
    t.equal(await outcome(namesOf(ground, 'projects/Water splitting/Sub project/.shares')), 'EIO')
    for (const one of undo) one()
    await ground.pass(6000)
    t.same(await namesOf(ground, 'projects/Water splitting/Sub project'), [
      '.index.tsv',
      '.project.json',
      '.shares',
    ])
    t.same(await namesOf(ground, 'projects/Water splitting/Sub project/.shares'), [])
  })

  t.test('ID-2 a parent field that means something else hides nothing', async t => {
    const ground = await open(t, {
      fill(seed) {
        seed.addUser({ name: 'demo', password: 'demo' })
        seed.addProject({ id: '100', name: 'One', owner: 'demo' })
        const fields = '{"parentId":77}'
        seed.addCalculation({ id: '1', name: 'first', project: '100', fields, files: { 'a.in': 'a' } })
        seed.addCalculation({ id: '2', name: 'second', project: '100', fields, files: { 'a.in': 'b' } })
      },
    })
    t.equal(await textOf(ground, 'projects/One/second/a.in'), 'b')
    t.same((await namesOf(ground, 'projects/One')).slice(-2), ['first', 'second'])
  })

  t.test('ID-3 a path that resolves to a thing of another name is EIO', async t => {
    const ground = await open(t)
    const { service } = ground
    const path = encodeURIComponent('/db/guest/Dyes')
    const undo = service.spoil(/^GET \/navigation\/path\/resolve\?path=%2Fdb%2Fguest%2FDyes/, response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(ids.empty)
    })
    t.equal(await outcome(namesOf(ground, 'db/guest/Dyes')), 'EIO', path)
    undo()
    await ground.pass(6000)
    t.match(await namesOf(ground, 'db/guest/Dyes/'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
  })

  t.test('ID-3 a path in the list of a report that resolves to another calculation is refused', async t => {
    const ground = await open(t)
    const { service } = ground
    service.spoil(/^GET \/navigation\/path\/resolve\?.*type=calculation/, response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(ids.product)
    })
    const order = `reports/${ids.report}/order.txt`
    const lines = await textOf(ground, order)
    const heard = await service.during(async () => {
      t.not(await outcome(overwrite(ground, order, `${lines}/db/guest/Dyes/Indigo\n`)), 'done')
    })
    t.same(writes(heard), [])
  })
}
