// The machine's date is set by an hour while a request is silent: nothing expires, and nothing is late for an hour.
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { outcome } from '../ground/ground.js'
import { realMount } from '../ground/mount.js'
import { until, within } from '../ground/within.js'
import { ids, log } from '../ground/world.js'

t.setTimeout(240_000)

for (const [how, hours] of [
  ['back', -1],
  ['forward', 1],
] as const) {
  t.test(`AVAIL-6 a date that is set ${how} while a request is silent`, async t => {
    const ground = await realMount(t, {
      preload: new URL('../ground/set-date.js', import.meta.url),
      settings: { deadlineMetadata: '2s', deadlineRead: '2s', ttlListing: '10m' },
    })
    const { files, service } = ground
    const path = `by-id/calculation/${ids.transition}/run.log`
    await files.readdir('projects/Water splitting')
    const heal = service.spoil(/bitstream\?id=1234/, () => {})
    const asked = outcome(files.readFile(path))
    await new Promise(wake => setTimeout(wake, 500))
    await writeFile(join(ground.home, 'date'), String(hours * 3_600_000))
    const began = Date.now()
    t.equal(await within(15_000, 'the silent read', asked), 'ETIMEDOUT')
    t.ok(Date.now() - began < 10_000, `ended after ${Date.now() - began} ms`)
    heal()
    await until(15_000, 'the file', async () => (await outcome(files.readFile(path))) === 'done')
    t.equal((await files.readFile(path)).toString(), log)
    const heard = await service.during(async () => void (await files.readdir('projects/Water splitting')))
    t.same(
      heard.filter(({ path: asked }) => asked.startsWith('/project/descendant')),
      [],
      'a listing is as young as before',
    )
  })
}
