// The service's limits are those of all mounts of a fleet together, whichever of them asks.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { until } from '../testbed/within.js'
import { fillFolders } from './folders-of-calculations.js'

/** What is slowed on purpose, on a machine that does other things too, is late by no deadline. */
const patient = { deadlineMetadata: '60s', deadlineRead: '60s' }

t.setTimeout(120_000)

/** Of the requests that pass: how many at once, and when each began. */
function watchTraffic({ service }: FleetBed, answerMs: number) {
  const seen = { now: 0, most: 0, began: [] as number[], atOnce: [] as number[] }
  service.intercept(/^GET \/(calculation|project|report|navigation)|^HEAD /, async (_, passing) => {
    seen.now += 1
    seen.most = Math.max(seen.most, seen.now)
    seen.began.push(performance.now())
    seen.atOnce.push(seen.now)
    const passOn = await passing.carryOut()
    await wait(answerMs)
    seen.now -= 1
    passOn()
  })
  return seen
}

/** Each mount reads a folder of its own, so that none finds the other's answers. */
const readAll = (nodes: readonly FleetNode[]): Promise<unknown> =>
  Promise.all(
    nodes.map(async ({ files }, at) => {
      const folder = `projects/F${at}`
      const names = [...(await files.readdir(folder)).keys()].filter(name => name.startsWith('c'))
      await Promise.all(names.map(name => files.readFile(`${folder}/${name}/.calculation.json`)))
      return names.length
    }),
  )

t.test('FLEET-6 all mounts together have no more requests in flight than --connections', async t => {
  const folders = 6
  const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 12 }) })
  for (const connections of [1 + Math.floor(Math.random() * 3), 4 + Math.floor(Math.random() * 6)]) {
    const nodes = await Promise.all(
      Array.from({ length: folders }, () => bed.join({ connections: String(connections), ...patient })),
    )
    const seen = watchTraffic(bed, 5)
    await readAll(nodes)
    t.ok(seen.most <= connections, `${seen.most} at once, ${connections} allowed`)
    t.ok(seen.most >= Math.min(connections, 3), `${seen.most} at once: the limit is used`)
    await Promise.all(nodes.map(node => node.line.close()))
    await bed.redis.client.flushall()
  }
})

t.test('FLEET-6 a mount that is alone may use all of them, also after others have ended', async t => {
  const bed = await fleetBed(t, { fill: fillFolders({ folders: 4, calculations: 24 }) })
  const others = await Promise.all([1, 2, 3].map(() => bed.join({ connections: '8' })))
  await readAll(others)
  await Promise.all(others.map(other => other.line.close()))
  const one = await bed.join({ connections: '8' })
  const seen = watchTraffic(bed, 30)
  await Promise.all(
    [...(await one.files.readdir('projects/F3')).keys()]
      .filter(name => name.startsWith('c'))
      .map(name => one.files.readFile(`projects/F3/${name}/.calculation.json`)),
  )
  t.ok(seen.most >= 6, `${seen.most} of 8 at once`)
})

t.test('FLEET-6 all mounts together send no more requests a second than --max-requests', async t => {
  const folders = 5
  const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 6 }) })
  const perSecond = 20 + Math.floor(Math.random() * 30)
  const nodes = await Promise.all(
    Array.from({ length: folders }, () => bed.join({ maxRequests: String(perSecond), ...patient })),
  )
  const seen = watchTraffic(bed, 0)
  await readAll(nodes)
  const { began } = seen
  const lasted = (began.at(-1) ?? 0) - (began[0] ?? 0)
  t.ok(began.length > 30)
  t.ok(
    lasted >= ((began.length - 1) / perSecond) * 1000 * 0.95,
    `${began.length} requests in ${Math.round(lasted)} ms, ${perSecond} a second allowed`,
  )
})

t.test('FLEET-6 one mount that is pushed back slows them all', async t => {
  const folders = 4
  const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 80 }) })
  const nodes = await Promise.all(
    Array.from({ length: folders }, () => bed.join({ connections: '16', ...patient })),
  )
  const seen = watchTraffic(bed, 50)
  const reading = readAll(nodes)
  await until(5_000, 'many at once', () => seen.now >= 10)
  let refused = 0
  const stop = bed.service.intercept(/^GET \/calculation\?/, response => {
    refused += 1
    if (refused === 1) stop()
    response.writeHead(429, { 'retry-after': '1' }).end()
  })
  await until(5_000, 'one is refused', () => refused > 0)
  // Before each mount has said its next word, and gives back what it has too much of.
  const soon = seen.atOnce.length + 100
  await reading
  for (const node of nodes) t.equal(node.line.fleet?.status().away, undefined)
  const later = seen.atOnce.slice(soon)
  t.ok(later.length > 60, `${later.length} requests afterwards`)
  t.ok(Math.max(...later) <= 9, `${Math.max(...later)} of 16 at once afterwards`)
})

/** The key of the budget that ends so. */
async function budgetKey({ redis }: FleetBed, end: string): Promise<string> {
  const [key] = await redis.client.keys(`calcfs:*:${end}`)
  if (key === undefined) throw new Error(`no key of ${end}`)
  return key
}

t.test('FLEET-3 no request waits for a part of the budget that the server has dropped', async t => {
  for (const end of ['parts', 'spoke', 'sums']) {
    const folders = 4
    const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 30 }) })
    const nodes = await Promise.all(Array.from({ length: folders }, () => bed.join({ connections: '8' })))
    const seen = watchTraffic(bed, 20)
    const reading = readAll(nodes)
    await until(5_000, 'all are used', () => seen.now >= 6)
    // As one that is full does with `allkeys-lru`.
    await bed.redis.client.del(await budgetKey(bed, end))
    t.same(await reading, [30, 30, 30, 30], `without ${end} all is read`)
    for (const node of nodes) t.equal(node.line.fleet?.status().away, undefined)
  }
})

t.test(
  'FLEET-3 no request waits for a time that is to come, where the clock of the server was set back',
  async t => {
    const folders = 3
    const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 20 }) })
    const settings = { connections: '8', maxRequests: '200' }
    const nodes = await Promise.all(Array.from({ length: folders }, () => bed.join(settings)))
    const seen = watchTraffic(bed, 20)
    const reading = readAll(nodes)
    await until(5_000, 'it has begun', () => seen.began.length > 3)
    const hour = Date.now() + 3_600_000
    const micro = String(hour * 1_000)
    const sums = await budgetKey(bed, 'sums')
    // All that was said in the hour that comes again; the one that has the most says nothing any more.
    await bed.redis.client.hset(sums, 'free', micro, 'turnAt', micro, 'width', '1', 'slowedAt', String(hour))
    const spoke = await budgetKey(bed, 'spoke')
    for (const node of await bed.redis.client.zrange(spoke, '0', '-1'))
      await bed.redis.client.zadd(spoke, String(hour), node)
    await bed.redis.client.zadd(spoke, String(hour), 'gone')
    await bed.redis.client.hset(await budgetKey(bed, 'parts'), 'gone', '8 0')
    await bed.redis.client.hincrby(sums, 'parts', 8)
    await bed.redis.client.hincrby(sums, 'nodes', 1)
    t.same(await reading, [20, 20, 20])
    t.ok(seen.most <= 16)
  },
)

t.test('FLEET-3 no request waits for a sum that was forged', async t => {
  const folders = 3
  for (const forged of [{ parts: '1000000' }, { short: '1000000', parts: '-7' }, { parts: 'none' }]) {
    const bed = await fleetBed(t, { fill: fillFolders({ folders, calculations: 20 }) })
    const nodes = await Promise.all(Array.from({ length: folders }, () => bed.join({ connections: '8' })))
    const seen = watchTraffic(bed, 20)
    const reading = readAll(nodes)
    await until(5_000, 'it has begun', () => seen.began.length > 3)
    await bed.redis.client.hset(await budgetKey(bed, 'sums'), forged)
    t.same(await reading, [20, 20, 20], JSON.stringify(forged))
  }
})
