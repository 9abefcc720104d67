// A signal ends the daemon while a program waits for its save: the program gets the service's answer first.
import { mkdir, rename } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { scratch } from '../testbed/disk/scratch.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { isMounted, type MountTestbed, realMount } from '../testbed/mount.js'
import { printed } from '../testbed/programs.js'
import { writes } from '../testbed/service.js'
import { outcome, overwrite, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const report = 'reports/42.json'
const put = /^PUT \/report$/

t.jobs = 4

/** A save that has reached the service when this returns; its answer, and the program's result, come later. */
async function begun(
  testbed: MountTestbed,
  title: string,
): Promise<{ answer: Promise<string>; text: string }> {
  const text = (await textOf(testbed, report)).replace('Supporting information', title)
  const before = testbed.service.heard.length
  const answer = outcome(overwrite(testbed, report, text))
  await until(10_000, 'the PUT', async () => writes(testbed.service.heard.slice(before)).length > 0)
  return { answer, text }
}

t.test(
  'END-1 SIGTERM while close waits for a slow service: the close succeeds, and nothing is lost',
  async t => {
    const testbed = await realMount(t)
    testbed.service.beforeAnswer(put, 2_000)
    const before = testbed.service.heard.length
    const { answer } = await begun(testbed, 'Mine')
    const code = testbed.terminate()
    await testbed.pass(300)
    const again = testbed.terminate()
    t.equal(await answer, 'done')
    t.equal(await code, 0)
    t.equal(await again, 0, 'a second signal changes nothing')
    t.same(writes(testbed.service.heard.slice(before)), ['PUT /report'])
    t.match(await testbed.service.elsewhere('GET', '/report?id=42'), 'Mine')
    t.notMatch(await testbed.log(), /file closed|could not be ended/)
  },
)

t.test('END-1 a service that never answers holds the end up no longer than the save deadline', async t => {
  const testbed = await realMount(t, { settings: { deadlineSave: '3s' } })
  const mend = testbed.service.intercept(put, () => {})
  const { answer, text } = await begun(testbed, 'Mine')
  const elapsed = stopwatch()
  const code = testbed.terminate()
  await testbed.pass(300)
  const again = testbed.terminate()
  t.equal(await answer, 'ETIMEDOUT')
  t.equal(await code, 7, 'an edit is not saved')
  t.equal(await again, 7)
  t.ok(elapsed() < 15_000)
  t.notMatch(await testbed.log(), /file closed|could not be ended/)
  mend()
  await testbed.mount()
  t.equal(await textOf(testbed, report), text, 'the text is a draft')
})

t.test('END-1 a drive stays where a directory above its mount point is renamed', async t => {
  const home = await scratch(t)
  await mkdir(join(home, 'run'))
  const testbed = await realMount(t, {}, { home })
  const above = dirname(testbed.directory)
  const moved = `${above}-moved`
  const drive = join(moved, basename(testbed.directory))
  const text = await textOf(testbed, report)
  await rename(above, moved)
  // Longer than the daemon leaves between two looks at the kernel's list.
  await testbed.pass(1_500)
  t.equal(await printed('cat', [join(drive, report)]), text)
  t.match((await testbed.calcfs('status', drive)).stdout, /demo/)
  const ended = await testbed.calcfs('unmount', drive)
  t.match(ended, { code: 0 })
  await rename(moved, above)
  t.notOk(await isMounted(testbed.directory), 'no dead mount point stays')
})
