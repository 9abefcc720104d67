// What comes from Redis late, cut, or not at all: no wrong byte, no errno, and no call that takes seconds more.
import t from 'tap'
import { type Chance, chance } from '../long/chance.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, sameAsAlone } from '../testbed/fleet/reads.js'
import { type TestRelay, testRelay } from '../testbed/fleet/relay.js'
import { fillSampleData } from '../testbed/sample-data.js'
import type { TestLifetime } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'

t.setTimeout(240_000)

const bigBytes = chance(1).bytes(3 << 20)

interface Ground {
  readonly bed: FleetBed
  readonly relay: TestRelay
  readonly pick: Chance
  /** A mount behind the relay, with empty caches. */
  join(how?: 'at once'): Promise<FleetNode>
}

/** The fleet is filled by a mount that nothing disturbs. */
async function ground(t: TestLifetime & { comment(text: string): void }): Promise<Ground> {
  const { seed, pick } = drawnFrom()
  t.comment(`seed ${seed}`)
  const bed = await fleetBed(t, {
    fill(seed) {
      fillSampleData(seed)
      const project = seed.addProject({ name: 'Big', owner: 'demo' })
      seed.addCalculation({ id: '2000', name: 'C', project, files: { 'big.bin': bigBytes } })
    },
  })
  const relay = await testRelay(t, bed.redis.port)
  await everything(await bed.join(), 'projects')
  return { bed, relay, pick, join: how => bed.join({ fleet: relay.address }, how) }
}

t.test('FLEET-3 connections that are reset in the middle of a value', async t => {
  const { relay, bed, pick, join } = await ground(t)
  let resets = 0
  for (let round = 0; round < 4; round += 1) {
    const nodes = [await join(), await join()]
    const limits = new Map<object, number>()
    const calm = relay.spoil((piece, line) => {
      const limit = limits.get(line) ?? line.sent + pick.whole(1, pick.of([3_000, 100_000, 1_500_000]))
      limits.set(line, limit)
      if (line.sent < limit) return piece
      resets += 1
      limits.delete(line)
      setTimeout(() => line.cut(), 1).unref()
      return piece.subarray(0, Math.max(0, piece.length - (line.sent - limit)))
    })
    await sameAsAlone(t, bed, nodes, `round ${round}`)
    calm()
    await Promise.all(nodes.map(node => node.line.close()))
  }
  t.ok(resets > 0, `${resets} resets`)
})
