// reports/by-name: the known reports by their titles, as links that a program reads and saves through, and never removes by.
import type { Test } from 'tap'
import type { Seed } from '../../../src/service/seed.js'
import { namesOf, type OpenTestbed, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { brief } from '../reading/recreated-service.js'

const directory = 'reports/by-name'
const titles: Readonly<Record<string, string>> = {
  7: 'Dyes',
  8: 'a/b: 100% "done"\n',
  9: 'Dyes',
  10: 'Dyes~r9',
  11: '',
  12: 'ü'.repeat(200),
  13: '-rf *',
}

const fill = (seed: Seed): void => {
  seed.addProject({ id: '100', name: 'All', owner: 'demo' })
  for (const [id, title] of Object.entries(titles))
    seed.addReport({
      id,
      name: `report${id}`,
      owner: 'demo',
      fields: JSON.stringify({ title }),
      calculations: [],
    })
}

export function reportNames(t: Test, open: OpenTestbed): void {
  t.test('LIST-8 the known reports have links by their titles, each one its own', async t => {
    const testbed = await open(t, { fill, settings: { ...brief, access: 'manage' } })
    const { files, service } = testbed
    t.same(await namesOf(testbed, directory), [], 'no operation lists those that are not known')
    for (const id of Object.keys(titles)) await textOf(testbed, `reports/${id}.json`)
    await service.sends(t, [], async () => {
      const names = await namesOf(testbed, directory)
      const targets = new Map(
        await Promise.all(
          names.map(async name => [name, await files.readlink(`${directory}/${name}`)] as const),
        ),
      )
      t.equal(targets.get('Dyes.json'), '../7.json', 'the lowest number has the bare name')
      t.equal(targets.get('Dyes~r9.json'), '../9.json')
      t.equal(targets.get('Dyes%7Er9.json'), '../10.json')
      t.same(
        [...targets.values()].sort(),
        Object.keys(titles)
          .map(id => `../${id}.json`)
          .sort(),
      )
      for (const [name, target] of targets) {
        t.ok(Buffer.byteLength(name) <= 255 && name.endsWith('.json'), name)
        t.equal(
          await textOf(testbed, `${directory}/${name}`),
          await textOf(testbed, `reports/${target.slice(3)}`),
        )
      }
    })
  })

  t.test(
    'LIST-8 a save through such a link is one of the report, and its new title is its new name',
    async t => {
      const testbed = await open(t, { fill, settings: brief })
      const text = await textOf(testbed, 'reports/13.json')
      const path = `${directory}/-rf *.json`
      await testbed.service.sends(t, ['PUT /report'], async () => {
        t.equal(await outcome(overwrite(testbed, path, text.replace('-rf *', 'Safe'))), 'done')
      })
      t.match(await textOf(testbed, `${directory}/Safe.json`), /"title": "Safe"/)
      t.same(await namesOf(testbed, directory), ['Safe.json'])
      await testbed.pass(1_200)
      t.equal(await outcome(testbed.files.lstat(path)), 'ENOENT')
    },
  )

  t.test('LIST-8 nothing is made, moved or removed in it, with manage either', async t => {
    const testbed = await open(t, { fill, settings: { ...brief, access: 'manage' } })
    const { files, service } = testbed
    const text = await textOf(testbed, 'reports/7.json')
    const path = `${directory}/Dyes.json`
    await service.sends(t, [], async () => {
      for (const attempt of [
        () => files.unlink(path),
        () => files.rename(path, `${directory}/Other.json`),
        () => files.rename(path, 'reports/8.json'),
        () => overwrite(testbed, `${directory}/new.json`, text),
        () => overwrite(testbed, `${directory}/sedAbc123`, text),
        () => files.mkdir(`${directory}/Folder`),
        () => files.rmdir(directory),
      ])
        t.match(await outcome(attempt()), /^E(PERM|ACCES|ROFS)$/)
      await testbed.pass(3_500)
    })
    t.equal(await textOf(testbed, path), text)
    t.equal(
      await outcome(files.unlink('reports/7.json')),
      'done',
      'one report may be removed by its number after that',
    )
  })

  t.test('LIST-8 a file that is put among the reports under another name is told to stay here', async t => {
    const testbed = await open(t, { fill, settings: brief })
    const keptHere = async () => JSON.parse(await textOf(testbed, '.calcfs/status.json')).keptHere
    const text = await textOf(testbed, 'reports/7.json')
    t.same(await keptHere(), [])
    await testbed.service.sends(t, [], async () => {
      for (const name of ['copy of 7.json', '.7.json.swp', '7.json~', 'sedAbc123'])
        t.equal(await outcome(overwrite(testbed, `reports/${name}`, text)), 'done')
    })
    await testbed.pass(2_500)
    t.same(await keptHere(), ['/reports/copy of 7.json'], 'editors’ own are no user’s files')
    await testbed.files.unlink('reports/copy of 7.json')
    await testbed.pass(2_500)
    t.same(await keptHere(), [])
  })
}
