// What real programs delete on a real mount: rm -r, rmtree, find -delete and mv, also of files that are still open.
import t from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { printed, python, shell } from '../testbed/programs.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { outcome } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const water = 'projects/Water splitting'
const inMount = (testbed: MountTestbed, program: string, ...args: string[]): Promise<string> =>
  printed(python, ['-c', program, ...args], { cwd: testbed.directory })

t.setTimeout(240_000)

t.test('deleting with programs', async t => {
  const testbed = await realMount(t, {
    settings: { access: 'manage', maxDeletes: '50' },
    fill(seed) {
      fillSampleData(seed)
      for (const name of ['by rm', 'by rmtree', 'by find', 'by mv', 'while open'])
        seed.addCalculation({ name, project: ids.water, files: { 'a.out': 'a\n', 'b.out': 'b\n' } })
    },
  })
  const { service, files } = testbed
  /** What is sent until the pause is over. */
  const deleting = (work: () => Promise<unknown>) =>
    service.during(async () => {
      const before = service.heard.length
      await work()
      t.same(writes(service.heard.slice(before)), [], 'nothing before the pause is over')
      await until(8_000, 'a DELETE', async () => writes(service.heard.slice(before)).length > 0)
    })
  const gone = async (name: string) => t.equal(await outcome(files.lstat(`${water}/${name}`)), 'ENOENT')

  for (const [name, line] of [
    ['by rm', `rm -rf "${water}/by rm"`],
    ['by find', `find "${water}/by find" -delete`],
    ['by mv', `mv "${water}/by mv" "${testbed.local}/"`],
  ] as const) {
    t.test(`DEL-3 ${name} a calculation is one DELETE`, async t => {
      const asked = await deleting(() => shell(line, testbed.directory))
      t.match(writes(asked), [/^DELETE \/calculation\?id=\d+$/])
      await gone(name)
    })
  }

  t.test('and what mv has taken along is whole', async t => {
    t.equal((await shell(`cat "${testbed.local}/by mv/a.out"`, '/')).stdout, 'a\n')
  })

  t.test('DEL-3 by rmtree a calculation is one DELETE', async t => {
    const asked = await deleting(() =>
      inMount(testbed, 'import shutil, sys; shutil.rmtree(sys.argv[1])', `${water}/by rmtree`),
    )
    t.match(writes(asked), [/^DELETE \/calculation\?id=\d+$/])
    await gone('by rmtree')
  })

  t.test(
    'DEL-3 a file that is still open is deleted with the others, and can be read to its end',
    async t => {
      const program = `
import os, shutil, sys
os.listdir(sys.argv[1])
with open(sys.argv[1] + '/b.out') as held:
    os.unlink(sys.argv[1] + '/b.out')
    print(held.read().strip())
    shutil.rmtree(sys.argv[1])`
      let read = ''
      const asked = await deleting(async () => {
        read = await inMount(testbed, program, `${water}/while open`)
      })
      t.match(writes(asked), [/^DELETE \/calculation\?id=\d+$/])
      t.equal(read.trim(), 'b')
      await gone('while open')
    },
  )

  t.test('DEL-1 rm of one file: it is back, why and status say so, and a backup has it', async t => {
    const file = `${water}/TS1_opt/input.inp`
    const asked = await service.during(async () => {
      t.equal((await shell(`rm "${file}"`, testbed.directory)).code, 0)
      t.match(await testbed.calcfs('why', `${testbed.directory}/${file}`), { stdout: /back in 3 s/ })
      await until(15_000, 'it is back', async () => (await outcome(files.lstat(file))) === 'done')
      t.match(await testbed.calcfs('why', `${testbed.directory}/${file}`), {
        stdout: /not deleted: .*rm -r CALCULATION/,
      })
      t.match(await testbed.calcfs('status', testbed.directory), {
        stdout: /not deleted, and there again.*\n(.*\n)*.*input\.inp/,
      })
      await shell(`cp -r "${water}/TS1_opt" "${testbed.local}/backup"`, testbed.directory)
    })
    t.same(writes(asked), [])
    t.equal((await shell('cat backup/input.inp', testbed.local)).stdout, '! B3LYP opt\n')
  })

  t.test('DEL-15 in the pause why and status say what goes, and touch takes it back', async t => {
    const path = `${water}/H2O`
    const asked = await service.during(async () => {
      await files.readFile(`reports/${ids.profile}.json`)
      t.equal((await shell(`rm -r "${path}"`, testbed.directory)).code, 0)
      // All within the pause, on a busy machine too.
      const folder = `${testbed.directory}/${path}`
      const [status, why] = await Promise.all([
        testbed.calcfs('status', testbed.directory),
        testbed.calcfs('why', folder),
      ])
      await files.touch(path)
      t.match(status, { stdout: /touch takes it back:\n.*H2O/ })
      t.match(why.stdout, /deleted once nothing was removed.*lose its row: .*\bd?\d+/)
      t.ok((await files.readdir(path)).has('output.cml'))
      await testbed.pass(3_500)
    })
    t.same(writes(asked), [])
    t.match(await testbed.calcfs('why', `${testbed.directory}/${path}`), {
      stdout: /it is not deleted|it was not deleted/,
    })
  })

  t.test('DEL-4 rm -rf of a project deletes nothing', async t => {
    const asked = await service.during(async () => {
      const { code, stderr } = await shell(`rm -rf "${water}"`, testbed.directory)
      t.not(code, 0)
      t.match(stderr, /Operation not permitted/)
    })
    t.same(writes(asked), [])
    t.equal((await files.readdir(`${water}/TS1_opt`)).size, 6)
    await testbed.pass(4_000)
  })

  t.test('DEL-28 a report that a program still has open is back after rm, and why says so', async t => {
    const program = `
import os, sys
with open(sys.argv[1]) as held:
    os.unlink(sys.argv[1])
    print(len(held.read()) > 100)`
    const path = `reports/${ids.report}.json`
    const asked = await service.during(async () => {
      t.equal((await inMount(testbed, program, path)).trim(), 'True')
      await until(8_000, 'it is back', async () => (await outcome(files.lstat(path))) === 'done')
      await testbed.pass(4_000)
    })
    t.same(writes(asked), [])
    t.match(await testbed.calcfs('why', `${testbed.directory}/${path}`), { stdout: /had it open/ })
  })
})
