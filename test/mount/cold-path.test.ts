// A path of folders that nothing is known of: each component has one deadline, and a silent service ends the walk at its first.
import t from 'tap'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import type { Interceptor } from '../testbed/proxy.js'
import { ids } from '../testbed/sample-data.js'
import { outcome } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until, within } from '../testbed/within.js'

const deadline = 3_000
/** Three components alone take longer than one deadline. */
const wait = 1_200
const levels = ['One', 'Two', 'Three', 'Four', 'Five']
const path = `projects/Water splitting/${levels.join('/')}`

const answers: Readonly<Record<'done' | 'ETIMEDOUT', Interceptor>> = {
  async done(_, { carryOut }) {
    await new Promise(wake => setTimeout(wake, wait))
    const pass = await carryOut()
    pass()
  },
  ETIMEDOUT: () => {},
}

for (const [end, spoiler] of Object.entries(answers)) {
  t.test(`AVAIL-3 a stat five folders below what is known ends with ${end}`, async t => {
    const testbed = await warmMount(t, {
      settings: { deadlineMetadata: `${deadline}ms`, ttlListing: '10m' },
      adds(seed) {
        let parent: string = ids.water
        levels.forEach((name, at) => {
          parent = seed.addProject({ id: String(7_001 + at), name, owner: 'demo', parent })
        })
      },
    })
    await testbed.files.readdir('projects')
    const heal = testbed.service.intercept(/^GET \/project\/descendant/, spoiler)
    const elapsed = stopwatch()
    t.equal(await within(60_000, 'the stat', outcome(testbed.files.lstat(path))), end)
    const took = elapsed()
    if (end === 'ETIMEDOUT') t.ok(took < deadline + 1_500, `it ended after ${took} ms`)
    heal()
    await until(30_000, 'the folder', async () => (await outcome(testbed.files.lstat(path))) === 'done')
  })
}
