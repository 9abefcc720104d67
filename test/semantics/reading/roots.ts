// What stands at the top of projects/: the user's own space, what was given with --root, or what was found by its path.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { ids } from '../../testbed/sample-data.js'
import { namesOf, type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { variants } from '../../testbed/variants.js'
import { warmMount } from '../../testbed/warm-mount.js'

const brief = { ttlListing: '1s' }
/** Longer than each lifetime, and than the kernel believes anything. */
const later = 2500

/** Two projects of each user, each with one calculation; those of the guest may be changed by demo. */
function twoEach(seed: Seed): void {
  seed.addUser({ name: 'guest', password: 'guest' })
  for (const [id, owner, name] of [
    ['101', 'demo', 'One'],
    ['102', 'demo', 'Two'],
    ['201', 'guest', 'One'],
    ['202', 'guest', 'Two'],
  ] as const) {
    const project = seed.addProject({ id, name, owner })
    seed.addCalculation({ id: `${id}0`, name: `of ${id}`, project, files: { 'a.inp': id } })
    if (owner === 'guest') seed.addShare({ project, user: 'demo', permission: 'FULLACCESS' })
  }
}

/** All but what tells that the platform is there. */
const everything = /^GET \/(?!user\/info)/
const paths = /^GET \/navigation\/path\/resolve/

/** The calculations in a project, or the errno. */
async function inside(testbed: Testbed, path: string): Promise<readonly string[] | string> {
  let names: string[] = []
  const end = await outcome(namesOf(testbed, path).then(all => (names = all)))
  return end === 'done' ? names.filter(name => name.startsWith('of ')) : end
}

const rename = ({ service }: Testbed, id: string, name: string) => service.edit('project', id, { name })

function absent({ service }: Testbed, status: number, which: RegExp): () => void {
  return service.refuse(which, status, '{}')
}

export function roots(t: Test, open: OpenTestbed): void {
  t.test('where the root does not resolve', async t => {
    const testbed = await open(t, { service: { shortcomings: { root: true } } })
    const { files } = testbed

    t.test('ROOT-1 projects/ has no project, and the mount says what to type', async t => {
      t.same(await namesOf(testbed, 'projects'), ['README.txt'])
      const file = await textOf(testbed, 'projects/README.txt')
      t.match(file, /^cd NAME /m)
      t.match(file, /^calcfs mount --root /m)
      t.equal((await files.lstat('projects/README.txt')).size, Buffer.byteLength(file))
      t.equal(await outcome(files.unlink('projects/README.txt')), 'EPERM')
      t.same(await namesOf(testbed, 'db/demo'), [])
      t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')).top, /cd projects\/NAME/)
    })

    t.test('ROOT-1 a name that is typed is looked up by its path', async t => {
      t.match(await namesOf(testbed, 'projects/Water splitting'), ['.index.tsv', '.project.json'])
      t.equal(await textOf(testbed, 'projects/Water splitting/TS1_opt/input.inp'), '! B3LYP opt\n')
      t.equal(await outcome(files.lstat('projects/No such project')), 'ENOENT')
      t.match(await namesOf(testbed, 'db/guest/Dyes'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
    })

    t.test('ROOT-1 what was found is remembered, over restarts too', async t => {
      t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
      await testbed.remount()
      t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
    })
  })

  t.test('ROOT-5 one --root that is a user’s space shows what is in it', async t => {
    const testbed = await open(t, { settings: { root: ['/db/demo'] } })
    t.same(await namesOf(testbed, 'projects'), ['.index.tsv', '.project.json', '.shares', 'Water splitting'])
  })

  t.test('ROOT-5 any other --root is an entry, by path or by id, one or several', async t => {
    const one = await open(t, { settings: { root: ['/db/guest/Dyes'] } })
    t.same(await namesOf(one, 'projects'), ['Dyes'])
    const several = await open(t, { settings: { root: ['/db/guest/Dyes', ids.empty] } })
    t.same(await namesOf(several, 'projects'), ['Dyes', 'Sub project'])
    t.match(await namesOf(several, 'projects/Dyes'), ['.index.tsv', '.project.json', '.shares', 'Indigo'])
  })
}

/** Renamed, deleted, or only not answered. */
export function missingRoots(t: Test, open: OpenTestbed): void {
  for (const { below, two: pair } of [
    { below: 'projects', two: ['101', '102'] },
    { below: 'db/guest', two: ['201', '202'] },
  ] as const) {
    t.test(`ROOT-1 a name that was typed below ${below} is looked up by its own path`, async t => {
      const service = { shortcomings: { root: true } }
      const testbed = await open(t, { fill: twoEach, service, settings: brief })
      const [one, two] = pair
      const found = async (name: string) => inside(testbed, `${below}/${name}/`)
      t.same([await found('One'), await found('Two')], [[`of ${one}`], [`of ${two}`]])
      await rename(testbed, one, 'Away')
      await rename(testbed, two, 'One')
      await rename(testbed, one, 'Two')
      await testbed.pass(later)
      t.same([await found('One'), await found('Two')], [[`of ${two}`], [`of ${one}`]])
      if (below === 'projects') t.same(await namesOf(testbed, below), ['One', 'Two'])
      await rename(testbed, one, 'Away')
      await rename(testbed, two, 'Two')
      await testbed.pass(later)
      t.same([await found('Two'), await found('One')], [[`of ${two}`], 'ENOENT'])
      await testbed.remount()
      t.same([await found('Two'), await found('One')], [[`of ${two}`], 'ENOENT'])
    })
  }

  t.test('ROOT-6 a --root that is gone is left out, and the others stay', async t => {
    for (const root of [
      ['101', '201', '/db/demo/Two', '/db/guest/Two'],
      ['/db/demo/One', '/db/guest/One', '102', '202'],
    ]) {
      const settings = { ...brief, root }
      const testbed = await open(t, { fill: twoEach, settings })
      t.equal((await namesOf(testbed, 'projects')).length, 4)
      await testbed.service.elsewhere('DELETE', '/project?id=101')
      await testbed.pass(later)
      const left = await namesOf(testbed, 'projects')
      t.equal(left.length, 3)
      t.same(await inside(testbed, 'projects/Two'), ['of 102'])
      t.match(JSON.parse(await textOf(testbed, '.calcfs/status.json')).top, `--root ${root[0]}`)
      t.match(
        JSON.parse(await textOf(testbed, '.calcfs/status.json')).top,
        /^projects\/ shows what was given with --root/,
      )
      await testbed.remount()
      t.same(await namesOf(testbed, 'projects'), left)
    }
  })

  t.test('ROOT-6 a --root that was never there is left out, and the others are found', async t => {
    const settings = { ...brief, root: ['101', '/db/demo/None', '999'] }
    const opening = open(t, { fill: twoEach, settings })
    if (open === warmMount)
      return t.rejects(
        opening,
        /--root \/db\/demo\/None, --root 999: 127\.0\.0\.1:\d+ knows no such project/,
        'ROOT-6: it is not mounted',
      )
    const testbed = await opening
    t.same(await namesOf(testbed, 'projects'), ['One'])
    t.same(await inside(testbed, 'projects/One'), ['of 101'])
    t.equal(await outcome(testbed.files.lstat('projects/None')), 'ENOENT')
    t.match(
      JSON.parse(await textOf(testbed, '.calcfs/status.json')).top,
      /--root \/db\/demo\/None.*--root 999/,
    )
  })

  for (const status of variants(open, [404, 400, 501], 2)) {
    t.test(`ROOT-6 a space that had an id is no empty one while the service says ${status}`, async t => {
      const testbed = await open(t, { fill: twoEach, settings: brief })
      const { files } = testbed
      const file = 'projects/One/of 101/a.inp'
      const known = await namesOf(testbed, 'projects')
      t.equal(await textOf(testbed, file), '101')
      const well = absent(testbed, status, paths)
      await testbed.pass(later)
      t.same(await namesOf(testbed, 'projects'), known)
      t.equal(await textOf(testbed, file), '101')
      await testbed.remount()
      t.same(await namesOf(testbed, 'projects'), known)
      well()
      const mend = absent(testbed, status, everything)
      for (const again of [false, true]) {
        if (again) await testbed.remount()
        await testbed.pass(later)
        for (const path of ['projects', 'projects/One', 'db/demo'])
          t.not(await outcome(files.readdir(path)), 'done', `ls ${path}`)
        for (const path of ['projects/One', file, 'db/demo/One'])
          t.notMatch(await outcome(files.lstat(path)), /^(done|ENOENT)$/, path)
      }
      mend()
      await testbed.pass(later)
      t.same(await namesOf(testbed, 'projects'), known)
      t.equal(await textOf(testbed, file), '101')
    })
  }

  for (const [what, which] of [
    ['resolves no path', paths],
    ['refuses everything', /^GET \//],
  ] as const)
    t.test(`ROOT-1 what was found by its path stays while the service ${what}`, async t => {
      const service = { shortcomings: { root: true } }
      const testbed = await open(t, { fill: twoEach, service, settings: brief })
      const found = async () => [
        await inside(testbed, 'projects/One'),
        await inside(testbed, 'db/guest/Two/'),
      ]
      t.same(await found(), [['of 101'], ['of 202']])
      const mend = absent(testbed, 404, which)
      await testbed.pass(later)
      t.same(await found(), [['of 101'], ['of 202']])
      await testbed.remount()
      t.same(await found(), [['of 101'], ['of 202']])
      mend()
      await testbed.pass(later)
      t.same(await found(), [['of 101'], ['of 202']])
      t.same(await namesOf(testbed, 'projects'), ['One'])
    })
}
