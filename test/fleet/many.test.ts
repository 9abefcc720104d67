// Twenty mounts that meet the same cold folder at the same moment ask the service less than half as often as without a fleet, on a busy machine too.
import t from 'tap'
import { readerProcess } from '../testbed/fleet/child.js'
import { fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { within } from '../testbed/within.js'
import { fillFolders } from './folders-of-calculations.js'

t.setTimeout(400_000)

const processes = 2
const nodes = 10
const path = 'projects/F0'
/** So many share two processors for longer than a record counts. */
const settings = { ttlRecord: '1h', ttlListing: '1h', deadlineMetadata: '5m', deadlineRead: '5m' }

t.test(
  'FLEET-1 twenty mounts that begin to read at once ask less than half of what they would ask alone',
  async t => {
    const bed = await fleetBed(t, { fill: fillFolders({ folders: 1, calculations: 12 }) })
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
    const began = performance.now()
    const asked = await bed.service.during(async () => {
      const reads = readers.map(reader => reader.read())
      const seen = await within(300_000, 'the reads', Promise.all(reads))
      for (const one of seen) t.strictSame(one, [truth], 'all have seen the same, and it is right')
    })
    t.comment(`${processes * nodes} mounts: ${Math.round(performance.now() - began)} ms`)
    // On a machine that other tests keep busy, mounts pass the fleet by for moments. The bench measures an idle one.
    t.ok(
      asked.length <= (processes * nodes * once.length) / 2,
      `${asked.length} requests of all, ${once.length} of one`,
    )
  },
)
