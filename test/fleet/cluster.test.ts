// A fleet over a cluster of three: it shares, its news are heard, and a node that dies or slots that move cost no errno and no byte.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type TestCluster, testCluster } from '../testbed/fleet/cluster.js'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, milliseconds, walk } from '../testbed/fleet/reads.js'
import { ids } from '../testbed/sample-data.js'
import { overwrite, textOf } from '../testbed/testbed.js'
import { seenMs, until, within } from '../testbed/within.js'

t.setTimeout(480_000)

/** The programs of other tests run beside: alone, it is half of that. */
const moreMs = 3_000
const report = 'reports/42.json'

interface Ground {
  readonly bed: FleetBed
  readonly cluster: TestCluster
  readonly truth: readonly string[]
  join(how?: 'at once'): Promise<FleetNode>
}

async function ground(t: Parameters<typeof fleetBed>[0]): Promise<Ground> {
  const cluster = await testCluster(t)
  const bed = await fleetBed(t)
  const truth = await everything(await bed.join({}, true), 'projects')
  return { cluster, bed, truth, join: how => bed.join({ fleet: cluster.address }, how) }
}

async function retitle(node: FleetNode, title: string, path = report): Promise<void> {
  const text = await textOf(node, path)
  await overwrite(node, path, text.replace(/"title": "[^"]*"/, `"title": "${title}"`))
}

const shows = (node: FleetNode, title: string) => async (): Promise<boolean> =>
  (await textOf(node, report)).includes(title)

/** Mounts come and read until the work is done: what any of them has seen otherwise, and the longest call of all. */
async function readMeanwhile(
  { join, truth, bed }: Ground,
  work: Promise<unknown>,
): Promise<{
  readonly wrong: number
  readonly longest: number
  readonly usual: number
  readonly walks: number
}> {
  const seen = { wrong: 0, longest: 0, usual: 0, walks: 0 }
  let isOver = false
  const ended = work.finally(() => {
    isOver = true
  })
  const reader = async (): Promise<void> => {
    while (!isOver) {
      const [node, alone] = [await join('at once'), await bed.join({}, true)]
      const both = Promise.all([walk(node, 'projects'), walk(alone, 'projects')])
      const [shared, usual] = await within(30_000, 'a walk', both)
      seen.walks += 1
      if (JSON.stringify(shared.seen) !== JSON.stringify(truth)) seen.wrong += 1
      seen.longest = Math.max(seen.longest, shared.longest)
      seen.usual = Math.max(seen.usual, usual.longest)
      await Promise.all([node, alone].map(({ line }) => line.close()))
    }
  }
  await Promise.all([ended, reader(), reader()])
  return seen
}

t.test('FLEET-1 FLEET-2 mounts share a cluster, on all of its nodes, and hear of changes', async t => {
  const all = await ground(t)
  const first = await all.join()
  let once = 0
  once = (await all.bed.service.during(() => everything(first, 'projects'))).length
  const [second, third] = [await all.join(), await all.join()]
  const asked = await all.bed.service.during(async () => {
    for (const node of [second, third]) t.strictSame(await everything(node, 'projects'), all.truth)
  })
  t.ok(asked.length <= once / 5, `${asked.length} requests of two mounts, ${once} of the first one`)
  for (const { client, port } of all.cluster.nodes)
    t.ok((await client.keys('calcfs:*')).length > 3, `values lie on the node at ${port}`)
  for (const node of [first, second]) t.equal(node.line.fleet?.status().away, undefined)
  for (const [writer, title] of [
    [first, 'By the first'],
    [third, 'By the third'],
  ] as const) {
    for (const node of [first, second, third]) await textOf(node, report)
    await retitle(writer, title)
    for (const node of [first, second, third]) await until(seenMs, title, shows(node, title))
  }
})

t.test('FLEET-3 slots that move while mounts read and save', async t => {
  const all = await ground(t)
  const { cluster } = all
  const [one, other] = [await all.join(), await all.join()]
  await everything(one, 'projects')
  const [a, b, c] = cluster.nodes
  if (a === undefined || b === undefined || c === undefined) throw new Error('three nodes are due')
  const moving = (async () => {
    await cluster.move(1_500, a, b)
    await cluster.move(1_500, b, c)
    await cluster.move(3_000, c, a)
  })()
  const { wrong, longest, usual, walks } = await readMeanwhile(all, moving)
  t.equal(wrong, 0, `${walks} walks`)
  t.ok(
    longest < usual + moreMs,
    `the longest call took ${Math.round(longest)} ms, alone ${Math.round(usual)} ms`,
  )
  for (const node of [one, other])
    await until(20_000, 'it is used', () => node.line.fleet?.status().away === undefined)
  await textOf(other, report)
  await retitle(one, 'After the move')
  await until(3_000, 'the news are heard', shows(other, 'After the move'))
  t.strictSame(await everything(await all.join(), 'projects'), all.truth)
})

t.test('FLEET-3 a node that is killed while mounts read, and comes again', async t => {
  const all = await ground(t)
  const [one, other] = [await all.join(), await all.join()]
  await everything(one, 'projects')
  const victim = all.cluster.nodes[Math.floor(Math.random() * 3)]
  if (victim === undefined) throw new Error('three nodes are due')
  const killed = wait(200)
    .then(() => victim.kill())
    .then(() => wait(4_000))
  const { wrong, longest, usual, walks } = await readMeanwhile(all, killed)
  t.equal(wrong, 0, `${walks} walks`)
  t.ok(
    longest < usual + moreMs,
    `the longest call took ${Math.round(longest)} ms, alone ${Math.round(usual)} ms`,
  )
  // A save waits for the disk, whatever the fleet does.
  const alone = await all.bed.join({}, true)
  const [took, usually] = await Promise.all([
    milliseconds(within(20_000, 'a save', retitle(one, 'While a node is gone'))),
    milliseconds(within(20_000, 'a save', retitle(alone, 'Without a fleet', `reports/${ids.profile}.json`))),
  ])
  t.ok(took < usually + moreMs, `the save took ${took} ms, without a fleet ${usually} ms`)
  // The mounts may hear nothing now: a record lives for ten seconds.
  await until(15_000, 'it is seen all the same', shows(other, 'While a node is gone'))
  await victim.start()
  for (const node of [one, other])
    await until(60_000, 'it is used again', () => {
      return node.line.fleet?.status().away === undefined
    })
  await textOf(other, report)
  await retitle(one, 'It is whole again')
  await until(3_000, 'the news are heard', shows(other, 'It is whole again'))
})
