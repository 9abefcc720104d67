// Mounts that meet the same cold folder at the same moment: one asks for all, on a busy machine too.
import t from 'tap'
import type { Seed } from '../../src/service/seed.js'
import { readerProcess } from '../testbed/fleet/child.js'
import { fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { cml } from '../testbed/sample-data.js'
import { within } from '../testbed/within.js'

t.setTimeout(480_000)

/** So many share two processors for longer than a record counts. */
const settings = { ttlListing: '1h', deadlineMetadata: '5m' }

function fillFolder(seed: Seed): void {
  seed.addUser({ name: 'demo', password: 'demo' })
  const project = seed.addProject({ name: 'Cold', owner: 'demo' })
  for (let at = 0; at < 12; at += 1)
    seed.addCalculation({ name: `c${at}`, project, files: { 'output.cml': cml, 'run.log': `run ${at}\n` } })
}

t.test(
  'FLEET-1 twenty mounts that begin at once ask less than half of what they would ask alone',
  async t => {
    const [processes, nodes, path] = [2, 10, 'projects/Cold']
    const bed = await fleetBed(t, { fill: fillFolder })
    const alone = await bed.join({ access: 'read' }, true)
    let truth = ''
    // Each mount signs in, and asks who it is, for itself: `during` counts neither.
    const once = await bed.service.during(async () => {
      truth = (await everything(alone, path)).join('\n')
    })
    t.ok(once.length > 20, `${once.length} requests of one mount`)
    const readers = await Promise.all(
      Array.from({ length: processes }, () => readerProcess(t, bed, { nodes, path, settings })),
    )
    const asked = await bed.service.during(async () => {
      const reads = readers.map(reader => reader.read())
      for (const one of await within(300_000, 'the reads', Promise.all(reads)))
        t.ok(one.length === 1 && one[0] === truth, 'all have seen the same, and it is right')
    })
    // On a machine that other tests keep busy, mounts pass the fleet by for moments. The bench measures an idle one.
    const limit = (processes * nodes * once.length) / 2
    t.ok(asked.length <= limit, `${asked.length} requests of all, ${once.length} of one`)
  },
)
