// A fleet asks the service once: answers and contents of any length that one mount has are those of all, for as long as they count.
import { randomBytes } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { readToEnd, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

/** On a busy machine a mount passes the fleet by for moments: one of those that come within this time asks little. */
const calmMs = 60_000

t.test('FLEET-1 mounts one after another ask the service for nothing that one has asked for', async t => {
  const bed = await fleetBed(t)
  const first = await bed.join()
  let seen: readonly string[] = []
  const alone = await bed.service.during(async () => {
    seen = await everything(first, 'projects')
  })
  t.ok(seen.length > 10)
  await until(calmMs, 'a mount asks a tenth at most', async () => {
    const next = await bed.join()
    const asked = await bed.service.during(async () => t.strictSame(await everything(next, 'projects'), seen))
    return asked.length <= alone.length / 10
  })
})

const mebibyte = 1 << 20
const lengths = [0, 1, mebibyte - 1, mebibyte, mebibyte + 1, 5 * mebibyte + 17, 16 * mebibyte]
const files = Object.fromEntries(lengths.map(length => [`f${length}.bin`, randomBytes(length)]))

const bedOfLengths = (t: Parameters<typeof fleetBed>[0]): Promise<FleetBed> =>
  fleetBed(t, {
    fill(seed) {
      const project = seed.addProject({ id: '100', name: 'P', owner: 'demo' })
      seed.addCalculation({ id: '200', name: 'C', project, files })
    },
  })

const same = async (node: FleetNode, length: number): Promise<boolean> =>
  (await readToEnd(node, `projects/P/C/f${length}.bin`)).equals(files[`f${length}.bin`] ?? Buffer.of())

/** Requests for bytes or sizes of a file. */
const contentRequests = (bed: FleetBed, work: () => Promise<unknown>): Promise<number> =>
  bed.service.during(work).then(heard => heard.filter(({ path }) => path.includes('bin')).length)

t.test('FLEET-1 a file of any length is downloaded by one mount, and is the same on the others', async t => {
  const bed = await bedOfLengths(t)
  const [first, ...others] = await Promise.all([1, 2, 3].map(() => bed.join()))
  if (first === undefined) throw new Error('no mount')
  let [asked, again] = [0, 0]
  for (const length of lengths) {
    asked += await contentRequests(bed, async () => t.ok(await same(first, length), `${length} bytes`))
    // Without waiting, the first one puts what it has read.
    await wait(50)
    for (const other of others)
      again += await contentRequests(bed, async () => t.ok(await same(other, length), `${length} bytes`))
  }
  t.ok(again < asked, `${asked} requests of the first mount, ${again} of the two others`)
})

t.test('FLEET-1 what a mount of a longer lifetime has put there counts no longer for the others', async t => {
  const bed = await fleetBed(t)
  const path = 'reports/42.json'
  const before = await textOf(await bed.join({ ttlListing: '3h' }), path)
  const other = await bed.join({ ttlListing: '6s' })
  t.equal(await textOf(other, path), before)
  await bed.service.edit('report', '42', { title: 'Past the fleet' })
  await wait(2_100)
  // On a busy machine what was known is shown while the question takes its time.
  const hears = (what: string, node: FleetNode) =>
    until(calmMs, what, async () => (await textOf(node, path)).includes('Past the fleet'))
  await hears('the change, by one that comes up', await bed.join({ ttlListing: '6s' }))
  await hears('the change, by one that has read it before', other)
  await hears('the change, by one of a longer lifetime', await bed.join({ ttlListing: '3h' }))
})
