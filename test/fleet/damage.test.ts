// What comes from Redis late, cut or damaged at any byte, or not at all: no wrong byte, no errno, and no call that takes seconds more.
import { randomInt } from 'node:crypto'
import { setTimeout as wait } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { type Chance, chance } from '../long/chance.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, readLong, walk } from '../testbed/fleet/reads.js'
import { type Spoil, type TestRelay, testRelay } from '../testbed/fleet/relay.js'
import { fillSampleData } from '../testbed/sample-data.js'
import { overwrite, type TestLifetime, textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(240_000)

/** The programs of other tests run beside: alone, it is half of that. */
const moreMs = 3_000
const big = 'projects/Big/C/big.bin'
const report = 'reports/42.json'
const reportIds = Array.from({ length: 10 }, (_, at) => String(600 + at))
const bigBytes = chance(1).bytes(3 << 20)

interface Ground {
  readonly bed: FleetBed
  readonly relay: TestRelay
  readonly truth: readonly string[]
  /** A mount behind the relay, with empty caches. */
  join(how?: 'at once'): Promise<FleetNode>
}

async function ground(t: TestLifetime): Promise<Ground> {
  const bed = await fleetBed(t, {
    fill(seed) {
      fillSampleData(seed)
      for (const id of reportIds) seed.addReport({ id, name: id, owner: 'demo' })
      const project = seed.addProject({ name: 'Big', owner: 'demo' })
      seed.addCalculation({ id: '2000', name: 'C', project, files: { 'big.bin': bigBytes } })
    },
  })
  const relay = await testRelay(t, bed.redis.port)
  const truth = await everything(await bed.join({}, true), 'projects')
  return { bed, relay, truth, join: how => bed.join({ fleet: relay.address }, how) }
}

/** The same walk by mounts behind the relay and, at the same time, by one without a fleet. */
async function compared(
  t: Pick<Test, 'ok'>,
  { bed, truth }: Ground,
  nodes: readonly FleetNode[],
  what: string,
): Promise<void> {
  const alone = await bed.join({}, true)
  const [usual, ...walks] = await within(
    60_000,
    what,
    Promise.all([alone, ...nodes].map(node => walk(node, 'projects'))),
  )
  for (const { seen, longest } of walks) {
    t.ok(isSame(seen, truth), `${what}: what is read is right`)
    const limit = (usual?.longest ?? 0) + moreMs
    t.ok(longest < limit, `${what}: the longest call took ${Math.round(longest)} of ${Math.round(limit)} ms`)
  }
}

const isSame = (one: readonly string[], other: readonly string[]): boolean =>
  one.length === other.length && one.every((line, at) => line === other[at])

t.test('FLEET-3 one whose answers take 60 ms each way is passed by', async t => {
  const all = await ground(t)
  const { relay, bed } = all
  await everything(await bed.join(), 'projects')
  const nodes = [await all.join(), await all.join()]
  relay.delay(60)
  await compared(t, all, [...nodes, await all.join('at once')], '60 ms each way')
  const [one] = nodes
  if (one === undefined) throw new Error('no mount')
  await until(10_000, 'it is passed by', async () => {
    await textOf(one, report)
    return one.line.fleet?.status().away !== undefined
  })
  relay.delay(0)
  await until(40_000, 'it is used again', () => one.line.fleet?.status().away === undefined)
})

t.test('FLEET-3 connections that are reset in the middle of a value', async t => {
  const all = await ground(t)
  const { relay, bed } = all
  const seed = randomInt(2 ** 31)
  t.comment(`seed ${seed}`)
  const pick = chance(seed)
  await everything(await bed.join(), 'projects')
  let resets = 0
  for (let round = 0; round < 4; round += 1) {
    const nodes = [await all.join(), await all.join()]
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
    await compared(t, all, nodes, `seed ${seed}, round ${round}`)
    calm()
    await Promise.all(nodes.map(node => node.line.close()))
  }
  t.ok(resets > 0, `${resets} resets`)
})

function withBit(pick: Chance, piece: Buffer): Buffer {
  const at = pick.whole(0, piece.length - 1)
  piece[at] = (piece[at] ?? 0) ^ (1 << pick.whole(0, 7))
  return piece
}

/**
 * The client throws, in a tick of its own, for a few of the frames that no server sends; a daemon logs that and goes on.
 * What comes of calcfs itself ends the process, as ever.
 */
function survivesClient(t: TestLifetime): () => number {
  let count = 0
  const survive = (thrown: unknown): void => {
    const stack = thrown instanceof Error ? String(thrown.stack) : ''
    if (!/ioredis/.test(stack) || /dist.src/.test(stack)) {
      process.off('uncaughtException', survive)
      throw thrown
    }
    count += 1
  }
  process.on('uncaughtException', survive)
  t.teardown(() => void process.off('uncaughtException', survive))
  return () => count
}

t.test('FLEET-4 answers that are damaged at any byte', async t => {
  const all = await ground(t)
  const { relay, bed } = all
  const seed = randomInt(2 ** 31)
  t.comment(`seed ${seed}`)
  const pick = chance(seed)
  await everything(await bed.join(), 'projects')
  const own = [...reportIds]
  const thrown = survivesClient(t)
  for (const inTimes of pick.shuffled([3, 15, 60])) {
    let count = 0
    const nodes = [await all.join(), await all.join()]
    const spoil: Spoil = piece => {
      if (piece.length === 0 || !pick.once(inTimes)) return piece
      count += 1
      return withBit(pick, Buffer.from(piece))
    }
    const calm = relay.spoil(spoil)
    const about = `seed ${seed}: one piece of ${inTimes}`
    for (const { seen } of await within(
      60_000,
      about,
      Promise.all(nodes.map(node => walk(node, 'projects'))),
    ))
      t.ok(isSame(seen, all.truth), `${about}: what is read is right`)
    for (const node of nodes) {
      // Each its own: a change that a fleet was not told of is another client's to the next mount.
      const id = own.pop() ?? ''
      const path = `reports/${id}.json`
      const text = await within(20_000, 'a read', textOf(node, path))
      const word = `w${pick.word(8, 10)}`
      await within(20_000, 'a save', overwrite(node, path, titled(text, word)))
      t.match(JSON.parse(await textOf(node, path)), { title: word }, `${about}: a save is shown`)
      t.match(JSON.parse(await bed.service.elsewhere('GET', `/report?id=${id}`)), { title: word })
    }
    calm()
    t.comment(`${about}: ${count} pieces, ${thrown()} errors of the client`)
    await Promise.all(nodes.map(node => within(20_000, 'the end', node.line.close())))
  }
})

const titled = (text: string, title: string): string =>
  text.replace(/"title": "[^"]*"/, `"title": "${title}"`)

t.test('FLEET-3 one that swallows everything, before and in the middle of reads', async t => {
  const all = await ground(t)
  const { relay, bed } = all
  await everything(await bed.join(), 'projects')
  const nodes = [await all.join(), await all.join()]
  let open = (): void => {}
  const hole = wait(30).then(() => {
    open = relay.swallow()
  })
  await compared(t, all, nodes, 'swallowed after 30 ms')
  await hole
  await compared(t, all, [await all.join('at once')], 'a mount that comes up meanwhile')
  const late = await all.join('at once')
  const bytes = await within(20_000, 'a long file', readLong(late, big))
  t.ok(bytes.equals(bigBytes))
  open()
  relay.cut()
  for (const node of nodes)
    await until(40_000, 'it is used again', () => node.line.fleet?.status().away === undefined)
})
