// What an instance without some operations shows: the nine paths of the public listing are enough, and three refusals make an operation lacking.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { cml } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, overwrite, type Testbed, textOf } from '../../testbed/testbed.js'

const brief = { ttlListing: '1s' }
/** Longer than each lifetime, and than the kernel believes anything. */
const later = 2500

/** Five projects in one, each with a calculation that has a geometry. */
function fiveProjects(seed: Seed): void {
  const top = seed.addProject({ id: '100', name: 'Top', owner: 'demo' })
  for (const at of [1, 2, 3, 4, 5]) {
    const project = seed.addProject({ id: `${100 + at}`, name: `P${at}`, owner: 'demo', parent: top })
    seed.addCalculation({ id: `${200 + at}`, name: 'c', project, files: { 'output.cml': cml } })
  }
}

const fifth = 'projects/Top/P5'
const folderOf = (at: number): string => `projects/Top/P${at}/c`
const geometryOf = (at: number): string => `${folderOf(at)}/c.xyz`

const refuse = ({ service }: Testbed, which: RegExp, status: number): (() => void) =>
  service.refuse(which, status, '{}')

/** What is listed below a directory and is not there, as `cp -r` meets it. */
async function deadNames(testbed: Testbed, directory: string): Promise<readonly string[]> {
  const dead: string[] = []
  for (const name of await namesOf(testbed, directory)) {
    const path = `${directory}/${name}`
    const status = await testbed.files.lstat(path).catch(() => undefined)
    if (status === undefined) dead.push(path)
    else if (status.kind === 'directory') dead.push(...(await deadNames(testbed, path)))
  }
  return dead
}

const lackingIn = async (testbed: Testbed): Promise<string> =>
  JSON.stringify(JSON.parse(await textOf(testbed, '.calcfs/status.json')).lacking)

export function poorInstances(t: Test, open: OpenTestbed): void {
  t.test('POOR-2 where no user is told, the name of the sign-in is the user', async t => {
    const testbed = await open(t, { service: { shortcomings: { onlyNinePaths: true, root: true } } })
    t.same(await namesOf(testbed, 'projects'), ['README.txt'])
    t.same(await namesOf(testbed, 'db'), ['README.txt', 'demo'])
    t.notOk((await namesOf(testbed, '.calcfs')).includes('user.json'))
    t.match(await lackingIn(testbed), '/user/info')
  })

  t.test('POOR-1 one geometry that is missing says nothing of the operation', async t => {
    const testbed = await open(t, { fill: fiveProjects })
    refuse(testbed, /^(GET|HEAD) \/calculation\/xyz\?id=201/, 404)
    t.equal(await outcome(textOf(testbed, geometryOf(1))), 'ENOENT')
    for (const at of [2, 3, 4, 5]) t.match(await textOf(testbed, geometryOf(at)), /^3\n/)
    t.equal(await lackingIn(testbed), '[]')
  })

  t.test('POOR-1 after three the operation is lacking, until the next mount', async t => {
    const testbed = await open(t, { fill: fiveProjects, settings: brief })
    const { service } = testbed
    const well = refuse(testbed, /^(GET|HEAD) \/calculation\/xyz/, 404)
    for (const at of [1, 2, 3]) t.equal(await outcome(textOf(testbed, geometryOf(at))), 'ENOENT')
    t.match(await lackingIn(testbed), '/calculation/xyz')
    const asked = await service.during(async () => {
      t.same(await namesOf(testbed, folderOf(5)), ['.calculation.json', 'output.cml'])
    })
    t.notMatch(asked.map(({ path }) => path).join(' '), 'xyz')
    well()
    await testbed.remount()
    t.match(await textOf(testbed, geometryOf(5)), /^3\n/)
  })

  t.test('POOR-1 an operation that has answered here is never lacking, over restarts', async t => {
    const testbed = await open(t, { fill: fiveProjects })
    t.match(await textOf(testbed, geometryOf(5)), /^3\n/)
    await testbed.remount()
    refuse(testbed, /^(GET|HEAD) \/calculation\/xyz/, 404)
    for (const at of [1, 2, 3]) t.equal(await outcome(textOf(testbed, geometryOf(at))), 'ENOENT')
    t.ok((await namesOf(testbed, folderOf(4))).includes('c.xyz'))
    t.equal(await lackingIn(testbed), '[]')
  })

  t.test('POOR-2 no name of a nine-path instance leads nowhere, in no mount', async t => {
    const testbed = await open(t, {
      fill: fiveProjects,
      settings: { root: ['100'] },
      service: { shortcomings: { onlyNinePaths: true, root: true } },
    })
    for (const mount of ['the first', 'the second']) {
      // Asked at the start of each mount anyway.
      await outcome(textOf(testbed, '.calcfs/user.json'))
      t.same(await deadNames(testbed, 'projects/Top'), [], `${mount} mount`)
      t.same(await namesOf(testbed, fifth), ['.index.tsv', '.project.json', 'c'])
      t.same(await namesOf(testbed, folderOf(5)), ['.calculation.json', 'output.cml'])
      await testbed.remount()
    }
  })

  for (const status of [404, 405, 501])
    t.test(`POOR-2 ${status} for the shares of all projects: none are shown`, async t => {
      const testbed = await open(t, { fill: fiveProjects, settings: brief })
      refuse(testbed, /^\w+ \/project\/share/, status)
      for (const at of [1, 2, 3]) t.same(await namesOf(testbed, `projects/Top/P${at}/.shares`), [])
      await testbed.pass(later)
      t.same(await namesOf(testbed, fifth), ['.index.tsv', '.project.json', 'c'])
      t.equal(await outcome(overwrite(testbed, `${fifth}/.shares/new.json`, '{}')), 'ENOENT')
    })

  t.test(
    'POOR-1 three calculations without a list of files, and the next ones are asked for theirs',
    async t => {
      const testbed = await open(t, { fill: fiveProjects })
      refuse(testbed, /^GET \/calculation\/files\?id=20[123]/, 404)
      for (const at of [1, 2, 3]) t.same(await namesOf(testbed, folderOf(at)), ['.calculation.json'])
      t.match(await namesOf(testbed, folderOf(4)), ['.calculation.json', 'c.xyz', 'output.cml'])
    },
  )
}

export function listsInDoubt(t: Test, open: OpenTestbed): void {
  t.test('LIST-21 files that were listed are not gone by a 404 of their list alone', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    const known = await namesOf(testbed, folder)
    t.ok(known.includes('run.log') && known.includes('TS1_opt.xyz'))
    const mend = service.refuse(/^GET \/calculation\/files\?/, 404, '{}')
    const look = async (): Promise<readonly string[]> => {
      await testbed.pass(3200)
      await files.touch(folder)
      return namesOf(testbed, folder)
    }
    t.same(await look(), known)
    t.equal(await textOf(testbed, `${folder}/input.inp`), '! B3LYP opt\n')
    t.same(await look(), known)
    mend()
    t.same(await look(), known)
    const gone = service.refuse(/^GET \/calculation\/files\?/, 404, '{}')
    t.same(await look(), known)
    if (testbed.name === 'in-process') {
      await testbed.pass(130_000)
      t.same(await look(), known)
    }
    gone()
    t.same(await look(), known)
  })

  t.test('STALE-5 a list that is refused says nothing of what is in it', async t => {
    const testbed = await open(t)
    const { files, service } = testbed
    const folder = 'projects/Water splitting/TS1_opt'
    await namesOf(testbed, 'projects/Water splitting')
    service.refuse(/^GET \/calculation\/files\?/, 400, '{}')
    t.equal(await outcome(files.lstat(`${folder}/run.log`)), 'EINVAL')
    t.equal(await outcome(files.readdir(folder)), 'EINVAL')
  })
}
