// Contents of a fleet: files as long as a part, a window and more are downloaded once; parts that are gone, other versions, readers that stop.
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import type { Seed } from '../../src/service/seed.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { readLong } from '../testbed/fleet/reads.js'

t.setTimeout(180_000)

const mebibyte = 1 << 20
const lengths = [0, 1, mebibyte - 1, mebibyte, mebibyte + 1, 5 * mebibyte + 17, 16 * mebibyte]
const files = Object.fromEntries(lengths.map(length => [`f${length}.bin`, randomBytes(length)]))

function fill(seed: Seed): void {
  seed.addUser({ name: 'demo', password: 'demo' })
  const project = seed.addProject({ id: '100', name: 'P', owner: 'demo' })
  seed.addCalculation({ id: '200', name: 'C', project, files })
}

const pathOf = (length: number): string => `projects/P/C/f${length}.bin`

async function same(node: FleetNode, length: number): Promise<boolean> {
  return (await readLong(node, pathOf(length))).equals(files[`f${length}.bin`] ?? Buffer.of())
}

/** Requests for bytes or sizes of a file. */
const contentRequests = (bed: FleetBed, work: () => Promise<unknown>): Promise<number> =>
  bed.service.during(work).then(heard => heard.filter(({ path }) => path.includes('bin')).length)

t.test('FLEET-1 a file of any length is downloaded by one mount, and is the same on the others', async t => {
  const bed = await fleetBed(t, { fill })
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => bed.join()))
  if (first === undefined) throw new Error('no mount')
  let [asked, again] = [0, 0]
  for (const length of lengths) {
    asked += await contentRequests(bed, async () => t.ok(await same(first, length), `${length} bytes`))
    // Without waiting, the first one puts what it has read.
    await wait(50)
    for (const other of others) {
      again += await contentRequests(bed, async () => t.ok(await same(other, length), `${length} bytes`))
    }
  }
  // On a busy machine a mount passes the fleet by for moments.
  t.ok(again < asked, `${asked} requests of the first mount, ${again} of the two others`)
})

t.test('FLEET-1 the same where all read at once', async t => {
  const bed = await fleetBed(t, { fill })
  const alone = await bed.join({}, true)
  for (const length of lengths.slice(3)) {
    const once = await contentRequests(bed, () => same(alone, length))
    const nodes = await Promise.all([1, 2, 3, 4].map(() => bed.join()))
    const asked = await contentRequests(bed, async () => {
      const all = await Promise.all(nodes.map(node => same(node, length)))
      t.strictSame(all, [true, true, true, true], `${length} bytes`)
    })
    // What Redis does not take in fast enough is not shared.
    t.ok(asked < 3 * once + 2, `${length} bytes: ${asked} requests of four mounts, ${once} of one`)
  }
})
