// What the drive shows and saves belongs to the thing that was asked for, whatever stands in front of the service.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import type { KernelTestbed } from '../../testbed/mount.js'
import { cml, ids } from '../../testbed/sample-data.js'
import { lines, type TestService, writes } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

/** A cache that ignores the query: questions that match are answered as this other one. Undoes it when called. */
export const answeredAs = (service: TestService, which: RegExp, other: string): (() => void) =>
  service.intercept(which, async response => {
    const text = await service.elsewhere('GET', other)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(text)
  })

interface Item {
  readonly id: number
  readonly name: string
  readonly parentId: number
}

/** A cache that mixes the listings of two projects, and may have another version of the other one. */
const listedAs = (
  service: TestService,
  { kind, of, other }: { kind: string; of: string; other: string },
  change: (items: Item[]) => Item[] = items => items,
): (() => void) =>
  service.intercept(new RegExp(`^GET /project/descendant\\?id=${of}&type=${kind}`), async response => {
    const items = await service.elsewhere('GET', `/project/descendant?id=${other}&type=${kind}&depth=1`)
    response.writeHead(200, { 'content-type': 'application/json' })
    response.end(JSON.stringify(change(JSON.parse(items))))
  })

export const one = '100'
const two = '200'

/** Two projects, each with three calculations and three projects. */
export function fillPair(seed: Seed): void {
  seed.addUser({ name: 'demo', password: 'demo' })
  for (const [id, name] of [
    [one, 'One'],
    [two, 'Two'],
  ] as const) {
    const project = seed.addProject({ id, name, owner: 'demo' })
    for (const at of [1, 2, 3]) {
      seed.addProject({ id: String(Number(id) + at), name: `${name} p${at}`, owner: 'demo', parent: project })
      seed.addCalculation({ id: String(Number(id) + 1000 + at), name: `${name} c${at}`, project })
    }
  }
}

export const ofOne = ['One c1', 'One c2', 'One c3', 'One p1', 'One p2', 'One p3']

/** How a cache's listing of the other project may differ from the one that it has now. */
const versions: Readonly<Record<string, (items: Item[]) => Item[]>> = {
  'in another order': items => items.reverse(),
  'older by an item': items => items.slice(1),
  'newer by an item': items => [...items, { id: 7, name: 'new', parentId: Number(two) }],
}

/** A kernel asks no attribute of a file that cannot be looked up; the command line does. */
const why = async (testbed: Testbed, path: string): Promise<string> =>
  isMount(testbed)
    ? (await testbed.calcfs('why', `${testbed.directory}/${path}`)).stdout
    : ((await testbed.files.xattr(path, 'user.calcfs.error')) ?? '')

const isMount = (testbed: Testbed): testbed is KernelTestbed => testbed.name === 'mount'

export function identity(t: Test, open: OpenTestbed): void {
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
      const testbed = await open(t)
      const undo = answeredAs(testbed.service, record, `/${what}?id=${other}`)
      t.equal(await outcome(textOf(testbed, path)), 'EIO')
      t.equal(await outcome(overwrite(testbed, path, `{"id": ${other}, "description": "Mine"}`)), 'EIO')
      if (what !== 'report')
        t.match(await why(testbed, path), new RegExp(`${own}.*${other}`), 'both ids are named')
      undo()
      await testbed.pass(12_000)
      t.equal(JSON.parse(await textOf(testbed, path)).id, Number(own))
    })

    t.test(`ID-1 a ${what} that answers with another id is no base of a save`, async t => {
      const testbed = await open(t)
      const text = await textOf(testbed, path)
      const undo = answeredAs(testbed.service, record, `/${what}?id=${other}`)
      const before = await testbed.service.elsewhere('GET', `/${what}?id=${other}`)
      const edited = text.replace(/"description": "[^"]*"/, '"description": "Mine"')
      const heard = await testbed.service.during(async () => {
        t.equal(await outcome(overwrite(testbed, path, edited)), 'EIO')
      })
      t.same(writes(heard), [], 'nothing is sent')
      undo()
      t.equal(await testbed.service.elsewhere('GET', `/${what}?id=${other}`), before)
      await overwrite(testbed, path, edited)
      t.match(JSON.parse(await testbed.service.elsewhere('GET', `/${what}?id=${own}`)), {
        description: 'Mine',
      })
    })

    t.test(
      `ID-1 a ${what} read again after its PUT with another id is no proof that it is stored`,
      async t => {
        const testbed = await open(t)
        const text = await textOf(testbed, path)
        const edited = text.replace(/"description": "[^"]*"/, '"description": "Mine"')
        let undo: (() => void) | undefined
        const put = testbed.service.intercept(
          new RegExp(`^PUT /${what}$`),
          async (_response, { carryOut }) => {
            const passOn = await carryOut()
            undo = answeredAs(testbed.service, record, `/${what}?id=${other}`)
            passOn()
          },
        )
        t.equal(await outcome(overwrite(testbed, path, edited)), 'EIO')
        undo?.()
        put()
        t.not((await namesOf(testbed, '.calcfs/drafts')).length, 0, 'the text is kept')
        const heard = await testbed.service.during(() => overwrite(testbed, path, edited))
        t.same(writes(heard), [], 'what is stored is not sent again')
        t.match(JSON.parse(await testbed.service.elsewhere('GET', `/${what}?id=${own}`)), {
          description: 'Mine',
        })
      },
    )
  }

  t.test('ID-2 a listing or list of shares that is another project’s is EIO', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const spoiled = (what: string, query = '') =>
      answeredAs(
        service,
        new RegExp(`^GET /project/${what}\\?id=${ids.empty}${query}`),
        `/project/${what}?id=${ids.water}${query.replace('.*', '&depth=1')}`,
      )
    const undo = [spoiled('descendant', '&type=calculation'), spoiled('share')]
    service.seed.addShare({ project: ids.water, user: 'guest', permission: 'READ' })
    t.equal(await outcome(namesOf(testbed, 'projects/Water splitting/Sub project')), 'EIO')
    t.equal(await outcome(namesOf(testbed, 'projects/Water splitting/Sub project/.shares')), 'EIO')
    for (const one of undo) one()
    await testbed.pass(6000)
    t.same(await namesOf(testbed, 'projects/Water splitting/Sub project'), [
      '.index.tsv',
      '.project.json',
      '.shares',
    ])
    t.same(await namesOf(testbed, 'projects/Water splitting/Sub project/.shares'), [])
  })

  for (const kind of ['project', 'calculation'] as const) {
    const mixed = { kind, of: one, other: two }

    t.test(`ID-2 another project’s ${kind}s are found out in any order, older or newer`, async t => {
      const testbed = await open(t, { fill: fillPair })
      for (const [what, change] of Object.entries(versions)) {
        const undo = listedAs(testbed.service, mixed, change)
        for (const time of ['at once', 'again']) {
          t.equal(await outcome(namesOf(testbed, 'projects/One')), 'EIO', `${what}, ${time}`)
          await testbed.files.touch('projects/One')
        }
        undo()
      }
      await testbed.pass(6000)
      t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne)
    })

    t.test(
      `ID-2 another project’s ${kind}s, none of which is left, are not shown in a known one`,
      async t => {
        const testbed = await open(t, { fill: fillPair })
        t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne)
        const gone = [{ id: 7, name: 'gone', parentId: Number(two) }]
        const undo = listedAs(testbed.service, mixed, () => gone)
        for (const time of ['at once', 'again']) {
          await testbed.files.touch('projects/One')
          t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne, time)
        }
        t.match(await testbed.files.xattr('projects/One', 'user.calcfs.stale'), /those of project 200/)
        undo()
      },
    )
  }

  t.test('ID-2 the listings of two projects that have changed places are EIO', async t => {
    const testbed = await open(t, { fill: fillPair })
    listedAs(testbed.service, { kind: 'calculation', of: one, other: two })
    listedAs(testbed.service, { kind: 'calculation', of: two, other: one })
    for (const name of ['One', 'Two']) t.equal(await outcome(namesOf(testbed, `projects/${name}`)), 'EIO')
  })

  t.test('ID-2 a parent that is always the space’s hides nothing, and is asked about once', async t => {
    const testbed = await open(t, { fill: fillPair })
    const { files, service } = testbed
    const root = service.seed.rootOf('demo')
    service.intercept(/^GET \/project\/descendant/, async (response, { heard }) => {
      const items = await service.elsewhere('GET', heard.path)
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(items.replace(/"parentId":\s*\d+/g, `"parentId":${root}`))
    })
    t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne)
    const asked = await service.during(async () => {
      await files.touch('projects/One')
      t.same((await namesOf(testbed, 'projects/One')).slice(3), ofOne)
    })
    const questions = lines(asked).filter(line => /descendant/.test(line))
    t.not(questions.filter(line => line.includes(`id=${one}&`)).length, 0)
    t.same(
      questions.filter(line => line.includes(`id=${root}&`)),
      [],
    )
    service.seed.addCalculation({ id: '5', name: 'One c4', project: one })
    await files.touch('projects/One')
    await testbed.pass(1100)
    t.ok((await namesOf(testbed, 'projects/One')).includes('One c4'), 'a new one is shown')
  })

  t.test('ID-2 one answer to the questions for projects and for calculations is EIO', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const undo = service.intercept(/^GET \/project\/descendant\?id=101/, response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end('[{"id":7,"name":"one"},{"id":8,"name":"two"}]')
    })
    t.equal(await outcome(namesOf(testbed, 'projects/Water splitting/Sub project')), 'EIO')
    t.equal(await outcome(testbed.files.stat('projects/Water splitting/Sub project/one')), 'EIO')
    undo()
    await testbed.files.touch('projects/Water splitting/Sub project')
    t.same((await namesOf(testbed, 'projects/Water splitting/Sub project')).slice(3), [])
  })

  t.test('ID-2 a parent field that means something else hides nothing', async t => {
    const testbed = await open(t, {
      fill(seed) {
        seed.addUser({ name: 'demo', password: 'demo' })
        seed.addProject({ id: '100', name: 'One', owner: 'demo' })
        const fields = '{"parentId":77}'
        seed.addCalculation({ id: '1', name: 'first', project: '100', fields, files: { 'a.in': 'a' } })
        seed.addCalculation({ id: '2', name: 'second', project: '100', fields, files: { 'a.in': 'b' } })
      },
    })
    t.equal(await textOf(testbed, 'projects/One/second/a.in'), 'b')
    t.same((await namesOf(testbed, 'projects/One')).slice(-2), ['first', 'second'])
  })

  t.test('ID-3 a path that resolves to a thing of another name is EIO', async t => {
    const testbed = await open(t)
    const { service } = testbed
    const path = encodeURIComponent('/db/guest/Dyes')
    const undo = service.intercept(
      /^GET \/navigation\/path\/resolve\?path=%2Fdb%2Fguest%2FDyes/,
      response => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(ids.empty)
      },
    )
    t.equal(await outcome(namesOf(testbed, 'db/guest/Dyes')), 'EIO', path)
    undo()
    await testbed.pass(6000)
    t.match(await namesOf(testbed, 'db/guest/Dyes/'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
  })

  t.test('ID-3 a path in the list of a report that resolves to another calculation is refused', async t => {
    const testbed = await open(t)
    const { service } = testbed
    service.intercept(/^GET \/navigation\/path\/resolve\?.*type=calculation/, response => {
      response.writeHead(200, { 'content-type': 'application/json' })
      response.end(ids.product)
    })
    const order = `reports/${ids.report}/order.txt`
    const lines = await textOf(testbed, order)
    const heard = await service.during(async () => {
      t.not(await outcome(overwrite(testbed, order, `${lines}/db/guest/Dyes/Indigo\n`)), 'done')
    })
    t.same(writes(heard), [])
  })

  t.test('LIST-22 a project that is its own ancestor is a link there, and a walk ends', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const listed = (id: string, children: string) =>
      service.intercept(new RegExp(`^GET /project/descendant\\?id=${id}&type=project`), response => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(children)
      })
    listed(ids.empty, `[{"id":${ids.water},"name":"Back"},{"id":${ids.empty},"name":"Self"}]`)
    const seen: string[] = []
    const walk = async (path: string): Promise<void> => {
      for (const [name, kind] of await files.readdir(path)) {
        seen.push(`${path}/${name}`)
        if (seen.length > 200) throw new Error('the walk does not end')
        if (kind === 'directory') await walk(`${path}/${name}`)
      }
    }
    await walk('projects')
    const inner = 'projects/Water splitting/Sub project'
    t.equal(await files.readlink(`${inner}/Back`), '..')
    t.equal(await files.readlink(`${inner}/Self`), '.')
    t.same(await namesOf(testbed, `${inner}/Back`), await namesOf(testbed, 'projects/Water splitting'))
    t.equal((await files.lstat(`by-id/project/${ids.empty}/Self`)).kind, 'link')
  })

  t.test('LIST-18 an item that is nested too deep loses itself, not the listing', async t => {
    const testbed = await open(t)
    const deep = `{"id":7,"name":"deep","more":${'['.repeat(1000)}${']'.repeat(1000)}}`
    const withDeep = (which: RegExp, other: string) =>
      testbed.service.intercept(which, response => {
        response.writeHead(200, { 'content-type': 'application/json' })
        response.end(`[${deep},${other}]`)
      })
    withDeep(/^GET \/project\/descendant\?id=100&type=calculation/, '{"id":1234,"name":"TS1_opt"}')
    withDeep(/^GET \/project\/share\?id=100/, '{"shareId":5,"permission":"READ","user":"guest"}')
    withDeep(/^GET \/calculation\/files\?id=1234/, '"input.inp"')
    t.match(await namesOf(testbed, 'projects/Water splitting'), [
      '.index.tsv',
      '.project.json',
      '.shares',
      'Sub project',
      'TS1_opt',
    ])
    t.same(await namesOf(testbed, 'projects/Water splitting/.shares'), ['5.json'])
    t.ok((await namesOf(testbed, 'projects/Water splitting/TS1_opt')).includes('input.inp'))
  })

  t.test(
    'LIST-23 what the service lists under a name that programs try everywhere can be entered',
    async t => {
      const testbed = await open(t, {
        fill(seed) {
          seed.addUser({ name: 'demo', password: 'demo' })
          for (const [at, name] of ['.git', '.hidden', '.Trash-1000', 'HEAD', 'CVS'].entries()) {
            const project = seed.addProject({ id: String(200 + at), name, owner: 'demo' })
            seed.addProject({ id: String(300 + at), name, owner: 'demo', parent: project })
            seed.addCalculation({
              id: String(1 + at),
              name: `.DS_Store`,
              project,
              files: { '.hidden': name },
            })
          }
        },
      })
      for (const name of (await namesOf(testbed, 'projects')).filter(one => !/json|tsv|shares/.test(one))) {
        t.ok((await namesOf(testbed, `projects/${name}`)).includes(name), name)
        t.same(await namesOf(testbed, `projects/${name}/.DS_Store`), ['.calculation.json', '.hidden'])
        t.equal(await textOf(testbed, `projects/${name}/.DS_Store/.hidden`), name)
        t.ok((await namesOf(testbed, `projects/${name}/${name}`)).includes('.project.json'))
      }
    },
  )

  t.test('LIST-23 a geometry that is called as programs try everywhere is there', async t => {
    const titles = ['.Trash-1000', '._x', '.Spotlight-V100']
    const testbed = await open(t, {
      fill(seed) {
        seed.addUser({ name: 'demo', password: 'demo' })
        seed.addProject({ id: '200', name: 'Odd', owner: 'demo' })
        for (const [at, name] of titles.entries())
          seed.addCalculation({ id: String(1 + at), name, project: '200', files: { 'output.cml': cml } })
      },
    })
    t.ok((await namesOf(testbed, 'projects/Odd')).length > titles.length)
    for (const title of titles) {
      const folder = `projects/Odd/${title}`
      t.ok((await namesOf(testbed, folder)).includes(`${title}.xyz`))
      t.match(await textOf(testbed, `${folder}/${title}.xyz`), /^3\n/)
    }
  })
}
