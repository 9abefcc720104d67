// A little of each figure of trust, with a new seed each time outside CI: what a whole night tries, a little of it.
import t from 'tap'
import { drawnFrom } from '../testbed/variants.js'
import { alone } from './alone.js'
import { cutFigures as figures } from './figures.js'

/** What a robot runs for each change plays the same cases each time: where it fails, the change is to blame. */
const isDrawn = 'CALCFS_TEST_SEED' in process.env || !('CI' in process.env)
const { seed } = drawnFrom(isDrawn ? undefined : 20_261_121)
/** Milliseconds for each figure. */
const share = 7_000
/** Milliseconds a figure may take longer on a machine that does other things too: a case has time limits of its own. */
const patience = 150_000

/** Milliseconds tried one after another, until a case was begun: a machine may be slow to get its mounts up. */
const shares = [share, 4 * share, 12 * share]

t.setTimeout(figures.length * (share + patience))
// Each is a process of its own, which waits for its mounts half of the time.
t.jobs = 2
t.comment(`CALCFS_TEST_SEED=${seed}`)

for (const figure of figures) {
  t.test(`${figure.name}: ${figure.goal} (CALCFS_TEST_SEED=${seed})`, async t => {
    let begun = false
    for (const time of shares) {
      const order = { figure: figure.name, seed, scale: 'cut', until: Date.now() + time } as const
      const { counts, wrong } = await alone(order, time + patience, line => t.comment(line))
      t.comment(JSON.stringify(counts))
      t.same(wrong, [])
      begun = Object.values(counts).some(count => count > 0)
      if (begun) break
    }
    t.ok(begun, 'something was tried')
  })
}
