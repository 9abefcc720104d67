// A name that another client passes on to another project: what is made, shared or deleted under it is never done in the project of before.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'
import { pauseEnds, removeTree } from './deleting.js'

const [former, present] = ['300', '800']

/** A way to the project of the name Dyes. */
interface Way {
  readonly path: string
  readonly owner?: string
  readonly root?: readonly string[]
  readonly isSpaceUnknown?: boolean
  /** The name leads nowhere any more: the way goes by the number. */
  readonly endsHere?: boolean
  /** The project above the ones that share the name. */
  readonly below?: string
}

const ways: Readonly<Record<string, Way>> = {
  'a listing': { path: 'projects/Dyes' },
  'a listing, further up': { path: 'projects/Dyes/Deep', below: 'Deep' },
  'its path, typed': { path: 'projects/Dyes', isSpaceUnknown: true },
  'its path, as --root': { path: 'projects/Dyes', root: ['/db/demo/Dyes'] },
  'its number, as --root': { path: 'projects/Dyes', root: [former], endsHere: true },
  "its path below a colleague's name": { path: 'db/guest/Dyes', owner: 'guest' },
  "its path below a colleague's name, further up": {
    path: 'db/guest/Dyes/Deep',
    owner: 'guest',
    below: 'Deep',
  },
}

const filled =
  (way: Way) =>
  (seed: Seed): void => {
    const { owner = 'demo' } = way
    for (const name of ['demo', 'guest', 'other']) seed.addUser({ name, password: name })
    addDyes(seed, former, way)
    if (owner !== 'demo') seed.addShare({ project: former, user: 'demo', permission: 'FULLACCESS' })
  }

function addDyes(seed: Seed, id: string, { owner = 'demo', below }: Omit<Way, 'path'>): void {
  const top = seed.addProject({ id, name: 'Dyes', owner })
  const project =
    below === undefined ? top : seed.addProject({ id: `${id}1`, name: below, owner, parent: top })
  seed.addCalculation({ id: `${id}0`, name: 'opt', project, files: { 'a.inp': id } })
}

/** Everything that the service has at this number and below it, shares as well. */
async function contentsOf({ service }: Testbed, { below }: Way, id: string): Promise<string> {
  const own = below === undefined ? id : `${id}1`
  const asked = [
    `/project/descendant?id=${own}&type=project`,
    `/project/descendant?id=${own}&type=calculation`,
    `/project/share?id=${own}`,
  ]
  const told = []
  for (const path of asked) told.push(await service.elsewhere('GET', path).catch(String))
  return told.join('\n')
}

async function passOn({ service }: Testbed, way: Way): Promise<void> {
  const record = await service.elsewhere('GET', `/project?id=${former}`)
  await service.elsewhere('PUT', '/project', record.replace('"name":"Dyes"', '"name":"Dyes-2025"'))
  addDyes(service.seed, present, way)
  if (way.owner !== undefined)
    service.seed.addShare({ project: present, user: 'demo', permission: 'FULLACCESS' })
}

const acts: Readonly<Record<string, (testbed: Testbed, path: string) => Promise<unknown>>> = {
  mkdir: ({ files }, path) => files.mkdir(`${path}/run1`),
  'a new share': (testbed, path) =>
    overwrite(testbed, `${path}/.shares/new.json`, '{"user": "other", "permission": "READ"}'),
  'rm -r': (testbed, path) => removeTree(testbed, `${path}/opt`),
  mv: ({ files }, path) => files.rename(`${path}/opt`, `${path}/opt-old`),
}

export function passedOn(t: Test, open: OpenTestbed): void {
  t.test('THING-8 a path in a report’s list means what it leads to now', async t => {
    const way: Way = { path: 'projects/Dyes' }
    const testbed = await open(t, {
      fill(seed) {
        filled(way)(seed)
        seed.addReport({ id: '42', name: 'Report', owner: 'demo', calculations: [] })
      },
    })
    const { service } = testbed
    const rows = async () =>
      JSON.parse(await service.elsewhere('GET', '/report?id=42')).calculations.map(
        (row: { calcId: number }) => row.calcId,
      )
    await textOf(testbed, 'projects/Dyes/opt/a.inp')
    await textOf(testbed, 'reports/42.json')
    await passOn(testbed, way)
    await overwrite(testbed, 'reports/42/order.txt', 'projects/Dyes/opt\n')
    t.same(await rows(), [8000])
    const text = await service.elsewhere('GET', '/calculation?id=8000')
    await service.elsewhere('PUT', '/calculation', text.replace('"name":"opt"', '"name":"opt of before"'))
    service.seed.addCalculation({ id: '9000', name: 'opt', project: present, files: { 'a.inp': 'new' } })
    await testbed.pass(3_000)
    await overwrite(testbed, 'reports/42/order.txt', 'projects/Dyes/opt\n')
    t.same(await rows(), [9000])
  })

  const all = Object.entries(ways).flatMap(way => Object.entries(acts).map(act => [way, act] as const))
  // Of seven ways and four acts each third pair has all ways and all acts.
  for (const [[how, way], [what, act]] of variants(open, all, 3))
    t.test(`THING-8 ${what} below a name known by ${how} does nothing to the project of before`, async t => {
      const { root, isSpaceUnknown, path } = way
      const testbed = await open(t, {
        fill: filled(way),
        settings: { access: 'manage', ...(root === undefined ? {} : { root }) },
        ...(isSpaceUnknown === true ? { service: { shortcomings: { root: true } } } : {}),
      })
      await namesOf(testbed, path)
      await textOf(testbed, `${path}/.project.json`)
      await textOf(testbed, `${path}/opt/a.inp`)
      await namesOf(testbed, `${path}/.shares`)
      await passOn(testbed, way)
      const [before, found] = [
        await contentsOf(testbed, way, former),
        await contentsOf(testbed, way, present),
      ]
      const outcomes = []
      for (let tries = 0; tries < 3 && outcomes.at(-1) !== 'done'; tries += 1) {
        outcomes.push(await outcome(act(testbed, path)))
        await testbed.pass(1_500)
      }
      await pauseEnds(testbed)
      t.equal(await contentsOf(testbed, way, former), before, outcomes.join())
      if (way.endsHere === true) t.equal(outcomes.at(-1), 'ENOENT')
      else
        t.not(
          await contentsOf(testbed, way, present),
          found,
          `it is done once the name is looked up: ${outcomes.join()}`,
        )
    })
}
