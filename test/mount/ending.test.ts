// A daemon that is told to end while a program waits for its save: the program gets the service's answer first.
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import t from 'tap'
import { type MountGround, realMount } from '../testbed/mount.js'
import { printed } from '../testbed/programs.js'
import { writes } from '../testbed/service.js'
import { outcome, overwrite, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

const report = 'reports/42.json'
const put = /^PUT \/report$/

t.setTimeout(240_000)

/** A save that has reached the service when this returns; its answer, and what the program is told, come later. */
async function begun(ground: MountGround, title: string): Promise<{ answer: Promise<string>; text: string }> {
  const text = (await textOf(ground, report)).replace('Supporting information', title)
  const before = ground.service.heard.length
  const answer = outcome(overwrite(ground, report, text))
  await until(10_000, 'the PUT', async () => writes(ground.service.heard.slice(before)).length > 0)
  return { answer, text }
}

t.test(
  'END-1 SIGTERM while close waits for a slow service: the close succeeds, and nothing is lost',
  async t => {
    const ground = await realMount(t)
    ground.service.spoil(put, async (_, { carryOut }) => {
      const answer = await carryOut()
      await new Promise(wake => setTimeout(wake, 2_000))
      answer()
    })
    const before = ground.service.heard.length
    const { answer } = await begun(ground, 'Mine')
    const code = ground.terminate()
    await ground.pass(300)
    const again = ground.terminate()
    t.equal(await answer, 'done')
    t.equal(await code, 0)
    t.equal(await again, 0, 'a second signal changes nothing')
    t.same(writes(ground.service.heard.slice(before)), ['PUT /report'])
    t.match(await ground.service.elsewhere('GET', '/report?id=42'), 'Mine')
    t.notMatch(await ground.log(), /file closed|could not be ended/)
  },
)

t.test('END-1 a service that never answers holds the end up no longer than the save deadline', async t => {
  const ground = await realMount(t, { settings: { deadlineSave: '3s' } })
  const mend = ground.service.spoil(put, () => {})
  const { answer, text } = await begun(ground, 'Mine')
  const began = Date.now()
  const code = ground.terminate()
  await ground.pass(300)
  const again = ground.terminate()
  t.equal(await answer, 'ETIMEDOUT')
  t.equal(await code, 7, 'an edit is not saved')
  t.equal(await again, 7)
  t.ok(Date.now() - began < 15_000)
  t.notMatch(await ground.log(), /file closed|could not be ended/)
  mend()
  await ground.mount()
  t.equal(await textOf(ground, report), text, 'the text is a draft')
})

t.test('END-1 so does a finished text that takes the record’s place', async t => {
  const ground = await realMount(t)
  const text = (await textOf(ground, report)).replace('Supporting information', 'Moved')
  await overwrite(ground, 'reports/sedAbCdEf', text)
  ground.service.spoil(put, async (_, { carryOut }) => {
    const answer = await carryOut()
    await new Promise(wake => setTimeout(wake, 1_500))
    answer()
  })
  const before = ground.service.heard.length
  const answer = outcome(ground.files.rename('reports/sedAbCdEf', report))
  await until(10_000, 'the PUT', async () => writes(ground.service.heard.slice(before)).length > 0)
  const code = ground.terminate()
  t.equal(await answer, 'done')
  t.equal(await code, 0)
  t.notMatch(await ground.log(), /file closed|could not be ended/)
})

t.test(
  'SIGNAL-2 a daemon that had no free descriptor for a while ends with its mount all the same',
  async t => {
    const ground = await realMount(t)
    const text = await textOf(ground, report)
    const { pid } = JSON.parse(await textOf(ground, '.calcfs/status.json'))
    const limitTo = (number: number) =>
      printed('prlimit', ['--pid', String(pid), `--nofile=${number}:`], { cwd: ground.home })
    const open = (await readdir(`/proc/${pid}/fd`)).length
    await limitTo(open - 1)
    await ground.pass(2_000)
    await limitTo(1024)
    t.equal(await textOf(ground, report), text, 'all is well again')
    t.match(await ground.calcfs('unmount', ground.directory), { code: 0 })
    await until(10_000, 'the end of the daemon', async () => !existsSync(`/proc/${pid}`))
  },
)
