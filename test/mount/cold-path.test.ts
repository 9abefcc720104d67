// A path of folders that nothing is known of: however slowly each is answered, one stat ends within one deadline.
import t from 'tap'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import type { Interceptor } from '../testbed/proxy.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { outcome } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(240_000)

const deadline = 3_000
/** More than a third of the deadline: three components alone take longer than it. */
const wait = 1_200
const levels = ['One', 'Two', 'Three', 'Four', 'Five']
const path = `projects/Water splitting/${levels.join('/')}`

const answers: Readonly<Record<string, Interceptor>> = {
  'answers slowly': async (_, { carryOut }) => {
    await new Promise(wake => setTimeout(wake, wait))
    const pass = await carryOut()
    pass()
  },
  'is silent': () => {},
}

for (const [how, spoiler] of Object.entries(answers)) {
  t.test(`AVAIL-3 a stat five folders below what is known, of a service that ${how}`, async t => {
    const testbed = await warmMount(t, {
      settings: { deadlineMetadata: `${deadline}ms`, ttlListing: '10m' },
      fill(seed) {
        fillSampleData(seed)
        let parent: string = ids.water
        levels.forEach((name, at) => {
          parent = seed.addProject({ id: String(7_001 + at), name, owner: 'demo', parent })
        })
      },
    })
    await testbed.files.readdir('projects')
    const heal = testbed.service.intercept(/^GET \/project\/descendant/, spoiler)
    const elapsed = stopwatch()
    t.equal(await within(30_000, 'the stat', outcome(testbed.files.lstat(path))), 'ETIMEDOUT')
    const took = elapsed()
    t.ok(took < deadline + 1_500, `it ended after ${took} ms`)
    if (how === 'is silent') heal()
    await until(30_000, 'the folder', async () => (await outcome(testbed.files.lstat(path))) === 'done')
  })
}
