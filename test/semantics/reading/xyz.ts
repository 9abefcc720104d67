// The generated geometry of a calculation.
import { setTimeout } from 'node:timers/promises'
import type { Test } from 'tap'
import { cml } from '../../testbed/sample-data.js'
import { lines } from '../../testbed/service.js'
import { namesOf, type OpenTestbed, outcome, textOf } from '../../testbed/testbed.js'
import { drawnFrom } from '../../testbed/variants.js'

/** Answers of a service that has no geometry and does not say so. */
const ways = Object.entries({
  nothing: { body: '', type: 'chemical/x-xyz' },
  'a line end': { body: '\n', type: 'chemical/x-xyz' },
  blanks: { body: ' \r\n \r\n', type: 'text/plain' },
  null: { body: 'null\n', type: 'application/json' },
})

export function xyz(t: Test, open: OpenTestbed): void {
  t.test('geometries', async t => {
    const testbed = await open(t, {
      fill(seed) {
        const project = seed.addProject({ name: 'P', owner: 'demo' })
        const add = (id: string, name: string, files: Record<string, string>) =>
          seed.addCalculation({ id, name, project, files })
        add('1', 'plain', { 'output.cml': cml })
        add('2', 'none', { 'a.log': 'x' })
        add('3', 'taken', { 'output.cml': cml, 'taken.xyz': 'a file of the calculation\n' })
        add('4', 'a/b', { 'output.cml': cml })
        add('5', 'empty', { 'output.cml': '<cml/>' })
        // Foresight does not come here.
        const alone = seed.addProject({ name: 'Q', owner: 'demo' })
        seed.addCalculation({ id: '6', name: 'slow', project: alone, files: { 'output.cml': cml } })
      },
    })

    t.test('XYZ-1 it is there where the calculation has a CML file, and only there', async t => {
      t.same(await namesOf(testbed, 'projects/P/plain'), ['.calculation.json', 'output.cml', 'plain.xyz'])
      t.same(await namesOf(testbed, 'projects/P/none'), ['.calculation.json', 'a.log'])
    })

    t.test('XYZ-1 it is what the service makes, with its true size, asked for once', async t => {
      const asked = await testbed.service.during(async () => {
        const { size } = await testbed.files.lstat('projects/P/plain/plain.xyz')
        const text = await textOf(testbed, 'projects/P/plain/plain.xyz')
        t.equal(size, Buffer.byteLength(text))
        t.match(text, /^3\nplain\nO /)
        await textOf(testbed, 'projects/P/plain/plain.xyz')
      })
      t.equal(lines(asked).filter(line => line.startsWith('GET /calculation/xyz?id=1&')).length, 1)
    })

    t.test('SIZE-2 it is whole where HEAD tells its length while it comes in chunks', async t => {
      const text = '1\nslow\nHe 0 0 0\n'
      const heads = testbed.service.intercept(/^HEAD .*xyz\?id=6&/, response => {
        response.writeHead(200, { 'content-length': text.length }).end()
      })
      const bodies = testbed.service.intercept(/^GET .*xyz\?id=6&/, async response => {
        response.writeHead(200, { 'content-type': 'chemical/x-xyz' }).write(text.slice(0, 5))
        while (!lines(testbed.service.heard).some(line => /^HEAD .*xyz\?id=6&/.test(line)))
          await setTimeout(10)
        await setTimeout(200)
        response.end(text.slice(5))
      })
      t.equal((await testbed.files.lstat('projects/Q/slow/slow.xyz')).size, text.length)
      t.equal(await textOf(testbed, 'projects/Q/slow/slow.xyz'), text)
      heads()
      bodies()
    })

    t.test('NAME-3 a file of the same name keeps it; the geometry yields', async t => {
      t.same(await namesOf(testbed, 'projects/P/taken'), [
        '.calculation.json',
        'output.cml',
        'taken.xyz',
        'taken~c3.xyz',
      ])
      t.equal(await textOf(testbed, 'projects/P/taken/taken.xyz'), 'a file of the calculation\n')
      t.match(await textOf(testbed, 'projects/P/taken/taken~c3.xyz'), /^3\n/)
    })

    t.test('NAME-3 its name is the calculation’s, escaped', async t => {
      t.match(await textOf(testbed, 'projects/P/a%2Fb/a%2Fb.xyz'), /^3\n/)
    })

    t.test('XYZ-1 where the service cannot make one, it is an error and never an empty file', async t => {
      t.not(await outcome(testbed.files.readFile('projects/P/empty/empty.xyz')), 'done')
    })
  })

  t.test(
    'XYZ-1 what the service calls absent is gone from the listing, and asked again by the next mount',
    async t => {
      const { seed: drawn, draw } = drawnFrom()
      const absent = draw(4)
      const calculations = Array.from({ length: 8 }, (_, number) => ({
        name: `c${number}`,
        // Three would say that the service makes none at all.
        makes: number % 4 !== absent,
        // Through which door it is met first.
        door: draw(3),
      }))
      const testbed = await open(t, {
        fill(seed) {
          const project = seed.addProject({ name: 'P', owner: 'demo' })
          for (const { name, makes } of calculations)
            seed.addCalculation({ name, project, files: { 'output.cml': makes ? cml : '<cml/>' } })
        },
      })
      for (const { name, makes, door } of calculations) {
        const what = `${name} of seed ${drawn}`
        const path = `projects/P/${name}/${name}.xyz`
        const { files, service } = testbed
        // Foresight may have asked for it already.
        if (makes) t.ok((await namesOf(testbed, `projects/P/${name}`)).includes(`${name}.xyz`), what)
        const looks = [
          () => files.lstat(path),
          () => files.readFile(path),
          () => files.xattr(path, 'user.calcfs.size'),
        ]
        await outcome(looks[door]?.() ?? Promise.resolve())
        t.equal(await outcome(files.lstat(path)), makes ? 'done' : 'ENOENT', what)
        const asked = await service.during(async () => {
          t.equal((await namesOf(testbed, `projects/P/${name}`)).includes(`${name}.xyz`), makes, what)
          t.equal(await outcome(files.lstat(path)), makes ? 'done' : 'ENOENT', what)
        })
        t.same(
          lines(asked).filter(line => line.includes(`filename=${name}.xyz`)),
          [],
          `${what}: asked once`,
        )
      }
      await testbed.remount()
      const [first] = calculations.filter(({ makes }) => !makes)
      const again =
        first && (await namesOf(testbed, `projects/P/${first.name}`)).includes(`${first.name}.xyz`)
      t.ok(first === undefined || again, 'promised again')
    },
  )

  t.test(
    'XYZ-1 nothing, blanks or null under a 200 is EIO, and once the service is well it is whole',
    async t => {
      const testbed = await open(t, {
        fill(seed) {
          const project = seed.addProject({ name: 'P', owner: 'demo' })
          ways.forEach(([name], number) => {
            seed.addCalculation({ id: String(number + 1), name, project, files: { 'output.cml': cml } })
          })
        },
      })
      const pathOf = (name: string) => `projects/P/${name}/${name}.xyz`
      const undone = ways.map(([, { body, type }], number) =>
        testbed.service.intercept(new RegExp(`/calculation/xyz\\?id=${number + 1}&`), response => {
          response.writeHead(200, { 'content-type': type, 'content-length': body.length }).end(body)
        }),
      )
      for (const [name] of ways) {
        t.equal(await outcome(testbed.files.lstat(pathOf(name))), 'EIO', name)
        t.equal(await outcome(testbed.files.readFile(pathOf(name))), 'EIO', name)
      }
      for (const undo of undone) undo()
      await testbed.pass(6_000)
      for (const [name] of ways) {
        const text = await textOf(testbed, pathOf(name))
        t.match(text, new RegExp(`^3\\n${name}\\nO `), name)
        t.equal((await testbed.files.lstat(pathOf(name))).size, text.length, name)
      }
    },
  )
}
