// Names: whatever the service holds becomes a legal, unique, stable file name, and every listed name is found.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { anyTitle } from '../../long/titles.js'
import { namesOf, type OpenTestbed, outcome, type Testbed, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

const { seed: drawn, pick } = drawnFrom()
/** Titles that a database can hold: those of every day's trouble first, then any. */
const hostile = [
  ...['a/b', '..', 'line\nend', 'trailing ', '.project.json', 'TS~c12', '日本語 Ω', '-rf'],
  ...Array.from({ length: 40 }, () => anyTitle(pick)),
].filter(title => title !== '' && !/\p{Surrogate}/u.test(title) && !title.includes('\0'))

function fill(seed: Seed): void {
  hostile.forEach((name, at) => {
    seed.addProject({ id: String(200 + at), name, owner: 'demo' })
  })
  const parent = seed.addProject({ id: '300', name: 'Equal', owner: 'demo' })
  seed.addProject({ id: '301', name: 'same', owner: 'demo', parent })
  seed.addProject({ id: '302', name: 'same.xyz', owner: 'demo', parent })
  seed.addCalculation({ id: '9', name: 'same', project: parent, files: { 'a.txt': 'nine\n' } })
  seed.addCalculation({ id: '7', name: 'same', project: parent, files: { 'a.txt': 'seven\n' } })
  seed.addCalculation({
    id: '11',
    name: 'alone',
    project: parent,
    files: { 'a/b': 'slash\n', '..': 'dots\n' },
  })
}

const childrenOf = async (testbed: Testbed, path: string): Promise<string[]> =>
  (await namesOf(testbed, path)).filter(name => !/^\.(project\.json|index\.tsv|shares)$/.test(name))

export function names(t: Test, open: OpenTestbed): void {
  t.test('names', async t => {
    const testbed = await open(t, { fill })
    const { files } = testbed

    t.test(
      `NAME-1 every name becomes one legal name of its own, which leads to its thing (seed ${drawn})`,
      async t => {
        const listed = await childrenOf(testbed, 'projects')
        t.equal(listed.length, hostile.length + 1)
        t.ok(listed.every(name => Buffer.byteLength(name) <= 255))
        for (const name of [
          'a%2Fb',
          '%2E%2E',
          'line%0Aend',
          'trailing%20',
          '%2Eproject.json',
          '日本語 Ω',
          '-rf',
        ])
          t.ok(
            listed.some(one => one.replace(/~p\d+$/, '') === name),
            name,
          )
        for (const name of listed) {
          const { id, name: title } = JSON.parse(await textOf(testbed, `projects/${name}/.project.json`))
          t.equal(title, id === 300 ? 'Equal' : hostile[id - 200], name)
        }
      },
    )

    t.test(
      `NAME-1 a listed name that is given to a new project is the title again (seed ${drawn})`,
      async t => {
        const listed = await childrenOf(testbed, 'projects')
        const written = new Map<string, string>()
        for (const name of listed.filter(one => !/~p\d+$/.test(one)).slice(0, 12)) {
          const end = await outcome(files.mkdir(`projects/Equal/${name}`))
          // Names that programs give by themselves make no project.
          if (end !== 'EPERM') t.equal(end, 'done', name)
          if (end === 'done')
            written.set(name, JSON.parse(await textOf(testbed, `projects/${name}/.project.json`)).name)
        }
        const made = await testbed.service.elsewhere('GET', '/project/descendant?id=300&type=project')
        const titles = JSON.parse(made).map((one: { name: string }) => one.name)
        for (const [name, title] of written) t.ok(titles.includes(title), name)
        for (const name of written.keys()) await files.rmdir(`projects/Equal/${name}`)
      },
    )

    t.test('NAME-3 of equal names the project keeps the bare one; ids tell the others', async t => {
      t.same(await childrenOf(testbed, 'projects/Equal'), ['alone', 'same', 'same.xyz', 'same~c7', 'same~c9'])
      t.equal(await textOf(testbed, 'projects/Equal/same~c7/a.txt'), 'seven\n')
      t.equal(await textOf(testbed, 'projects/Equal/same~c9/a.txt'), 'nine\n')
    })

    t.test('NAME-3 the marked name is found whichever thing has the bare one', async t => {
      t.equal((await files.lstat('projects/Equal/alone~c11')).kind, 'directory')
      t.equal(
        await textOf(testbed, 'projects/Equal/same~p301/.project.json'),
        await textOf(testbed, 'projects/Equal/same/.project.json'),
      )
      t.equal(await outcome(files.lstat('projects/Equal/alone~c7777')), 'ENOENT')
    })

    t.test('NAME-1 files of a calculation are escaped the same way', async t => {
      t.same(await namesOf(testbed, 'projects/Equal/alone'), ['%2E%2E', '.calculation.json', 'a%2Fb'])
      t.equal(await textOf(testbed, 'projects/Equal/alone/a%2Fb'), 'slash\n')
      t.equal(await textOf(testbed, 'projects/Equal/alone/%2E%2E'), 'dots\n')
    })

    t.test('NAME-3 names are the same after a restart, in whatever order they became known', async t => {
      const before = await childrenOf(testbed, 'projects')
      await testbed.remount()
      t.equal((await files.lstat('projects/Equal/same~c9')).kind, 'directory')
      t.same(await childrenOf(testbed, 'projects'), before)
    })

    t.test('NAME-7 a name over 255 bytes is too long', async t => {
      t.equal(await outcome(files.lstat(`projects/${'x'.repeat(256)}`)), 'ENAMETOOLONG')
    })
  })
}
