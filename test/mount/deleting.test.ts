// Deletions as only a real mount shows them: files that are still open, touch with O_CREAT, commands in the pause, a name that is used twice.
import { join } from 'node:path'
import t from 'tap'
import { type MountTestbed, realMount } from '../testbed/mount.js'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { writes } from '../testbed/service.js'
import { outcome, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const water = 'projects/Water splitting'
const inMount = (testbed: MountTestbed, program: string, ...args: string[]): Promise<string> =>
  printed(python, ['-c', program, ...args], { cwd: testbed.directory })

t.test('on one mount', async t => {
  const testbed = await realMount(t, {
    settings: { access: 'manage', maxDeletes: '50' },
    adds(seed) {
      const files = { 'a.out': 'a\n', 'b.out': 'b\n' }
      seed.addCalculation({ name: 'while open', project: ids.water, files })
      for (const id of ['2001', '2002'])
        seed.addCalculation({ id, name: 'same', project: ids.water, files: { id } })
    },
  })
  const { service, files } = testbed
  /** What is sent until the pause is over. */
  const deleting = (work: () => Promise<unknown>) =>
    service.during(async () => {
      const before = service.heard.length
      await work()
      await until(8_000, 'a DELETE', async () => writes(service.heard.slice(before)).length > 0)
    })
  const gone = async (name: string) => t.equal(await outcome(files.lstat(`${water}/${name}`)), 'ENOENT')

  await t.test('DEL-12 calcfs delete of one name, twice, deletes one thing', async t => {
    await files.readdir(water)
    await service.sends(t, ['DELETE /calculation?id=2001'], async () => {
      for (const code of [0, 1])
        t.match(await testbed.calcfs('delete', '--yes', join(testbed.directory, water, 'same')), { code })
    })
    t.equal(await textOf(testbed, `${water}/same~c2002/id`), '2002')
  })

  await t.test(
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

  await t.test(
    'DEL-28 rm of a report that a program has open deletes it, and the program reads on',
    async t => {
      const path = `reports/${ids.report}.json`
      const text = await textOf(testbed, path)
      const asked = await deleting(async () => t.equal(await inMount(testbed, readingOn, path), text))
      t.same(writes(asked), [`DELETE /report?id=${ids.report}`])
      t.equal(await outcome(files.lstat(path)), 'ENOENT')
    },
  )
})

/** Prints the text of a file that it unlinks before it has read it. */
const readingOn = `
import os, sys
with open(sys.argv[1]) as held:
    os.unlink(sys.argv[1])
    print(held.read(), end='')`
