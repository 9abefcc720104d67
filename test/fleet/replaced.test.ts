// A file that the service replaces: once one mount of a fleet finds that out, all show the new version within a second, and never a mix.
import { randomBytes } from 'node:crypto'
import t from 'tap'
import { Holder, honest } from '../semantics/contents/replaced.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { untilSeen } from '../testbed/fleet/reads.js'
import { outcome, readToEnd, type TestLifetime } from '../testbed/testbed.js'
import { gate, until, within } from '../testbed/within.js'

const length = 5 << 20
const path = 'projects/P/C/run.bin'
const versions = [1, 2, 3].map(() => randomBytes(length))

/** The service holds one version after another of one file, each under its own tag. */
async function heldBed(t: TestLifetime) {
  const bed = await fleetBed(t, {
    fill(seed) {
      const project = seed.addProject({ name: 'P', owner: 'demo' })
      seed.addCalculation({ id: '200', name: 'C', project, files: { 'run.bin': '' } })
    },
  })
  const holder = new Holder(honest, versions[0])
  // While it is closed, nothing but the last part is sent.
  const held = { holder, opened: Promise.resolve() }
  bed.service.intercept(/bitstream\?id=200&/, async (response, passing) => {
    const from = Number(/^bytes=(\d+)-/.exec(String(passing.headers?.range))?.[1] ?? 0)
    if (passing.heard.method === 'GET' && from < length - (1 << 20)) await held.opened
    holder.answer(response, passing)
  })
  return { bed, held }
}

/** Which version a read of all gives, or how it ends. */
async function versionOf(node: FleetNode): Promise<string> {
  let found = 'a mix'
  const ended = await outcome(
    within(20_000, 'the read', readToEnd(node, path)).then(bytes => {
      found = String(versions.findIndex(one => one.equals(bytes)))
    }),
  )
  return ended === 'done' ? found : ended
}

async function tail({ files }: FleetNode): Promise<void> {
  const file = await files.open(path, 'r')
  await file.read(4096, length - 4096)
  await file.close()
}

/** As a Redis does that needs the room. */
async function evict({ redis }: FleetBed): Promise<void> {
  for (const key of await redis.client.keys('calcfs:*:v')) await redis.client.del(key)
}

t.test('FLEET-2 a replaced file that one mount has met is the new one on all', async t => {
  const { bed, held } = await heldBed(t)
  const nodes = await Promise.all([1, 2, 3].map(() => bed.join()))
  for (const node of nodes) t.equal(await versionOf(node), '0')
  for (const next of [1, 2]) {
    const finder = await bed.join()
    await evict(bed)
    const { open, opened } = gate()
    held.opened = opened
    await within(10_000, 'the tail', tail(finder))
    held.holder.replace(versions[next] ?? Buffer.of())
    await evict(bed)
    open()
    t.equal(await versionOf(finder), 'ESTALE', 'the one that finds it out says so once')
    const seen = new Set<string>()
    await Promise.all(
      nodes.map((node, at) =>
        untilSeen([...nodes, finder], `mount ${at} reads version ${next}`, async () => {
          const version = await versionOf(node)
          seen.add(version)
          return version === String(next)
        }),
      ),
    )
    for (const one of seen)
      t.match(one, new RegExp(`^(${next - 1}|${next}|ESTALE)$`), 'one version, or an error')
    await until(3_000, 'the finder reads it', async () => (await versionOf(finder)) === String(next))
  }
})
