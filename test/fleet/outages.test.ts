// A Redis that stops, forgets, fills up or lies costs requests, and nothing else: no errno, no wrong byte, no long wait.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, walk } from '../testbed/fleet/reads.js'
import { textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(120_000)

const isUsed = (node: FleetNode) => (): boolean => node.line.fleet?.status().away === undefined
const hits = (node: FleetNode): number => node.line.fleet?.status().hits ?? 0

/** What a mount without a fleet shows. */
const truthOf = async (bed: FleetBed): Promise<readonly string[]> =>
  everything(await bed.join({}, true), 'projects')

t.test('FLEET-3 a Redis that stops in the middle of reads delays none by more than a moment', async t => {
  const bed = await fleetBed(t)
  const truth = await truthOf(bed)
  const nodes = await Promise.all([1, 2, 3, 4].map(() => bed.join()))
  const alone = await Promise.all([1, 2].map(() => bed.join({}, true)))
  const reads = Promise.all(nodes.map(node => walk(node, 'projects')))
  await wait(40)
  bed.redis.signal('SIGSTOP')
  // At the same time: the machine has other tests to do.
  const beside = Promise.all(alone.map(node => walk(node, 'projects')))
  const walks = await within(20_000, 'the reads', reads)
  const usual = Math.max(...(await beside).map(one => one.longest))
  for (const { seen, longest } of walks) {
    t.strictSame(seen, truth)
    // A process that is always busy waits a quarter of a second for a sign.
    t.ok(longest < 3 * usual + 1_000, `the longest call took ${longest} ms, without a fleet ${usual} ms`)
  }
  const late = await bed.join({}, 'at once')
  const { seen, longest } = await within(10_000, 'a mount that comes up meanwhile', walk(late, 'projects'))
  t.strictSame(seen, truth)
  t.ok(longest < 300, `its longest call took ${longest} ms`)
  bed.redis.signal('SIGCONT')
  for (const node of [...nodes, late]) await until(5_000, 'it is used again', isUsed(node))
  const next = await bed.join()
  t.strictSame(await everything(next, 'projects'), truth)
})

t.test('FLEET-3 saves go through while it is stopped, and the others are told when it goes on', async t => {
  const bed = await fleetBed(t)
  const [one, other] = [await bed.join(), await bed.join()]
  const path = 'reports/42.json'
  await textOf(other, path)
  const text = await textOf(one, path)
  bed.redis.signal('SIGSTOP')
  const began = performance.now()
  await saveTitle(one, path, text, 'Saved meanwhile')
  t.ok(performance.now() - began < 1_500, `the save took ${performance.now() - began} ms`)
  t.match(await textOf(one, path), 'Saved meanwhile')
  bed.redis.signal('SIGCONT')
  await until(3_000, 'the new title elsewhere', async () =>
    (await textOf(other, path)).includes('Saved meanwhile'),
  )
})

async function saveTitle({ files }: FleetNode, path: string, text: string, title: string): Promise<void> {
  const file = await files.open(path, 'w')
  await file.write(text.replace(/"title": "[^"]*"/, `"title": "${title}"`), 0)
  await file.close()
}

t.test('FLEET-3 one that is restarted empty is filled again', async t => {
  const bed = await fleetBed(t)
  const node = await bed.join()
  const truth = await everything(node, 'projects')
  await bed.redis.kill()
  await bed.redis.start()
  await until(5_000, 'it is used again', isUsed(node))
  const alone = await bed.join({}, true)
  const once = await bed.service.during(() => everything(alone, 'projects'))
  const first = await bed.join()
  t.strictSame(await everything(first, 'projects'), truth)
  const second = await bed.join()
  const asked = await bed.service.during(async () =>
    t.strictSame(await everything(second, 'projects'), truth),
  )
  t.ok(asked.length < once.length / 4, `${asked.length} of ${once.length}`)
})

t.test('FLEET-3 one that is full and evicts nothing is read, and nothing fails', async t => {
  const bed = await fleetBed(t, { redis: ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'] })
  const truth = await everything(await bed.join(), 'projects')
  const { used_memory: used } = await memory(bed)
  // What its connections need comes and goes: the limit is well below what is used.
  await bed.redis.client.config('SET', 'maxmemory', String(Math.floor(used * 0.9)))
  await t.rejects(bed.redis.client.set('more', 'x'.repeat(100_000)), /OOM/)
  const reader = await bed.join()
  t.strictSame(await everything(reader, 'projects'), truth)
  t.ok(hits(reader) > 5, `${hits(reader)} answers came from it`)
  t.equal(reader.line.fleet?.status().away, undefined)
  const text = await textOf(reader, 'reports/42.json')
  const began = performance.now()
  await saveTitle(reader, 'reports/42.json', text, 'While it is full')
  t.ok(performance.now() - began < 3_000)
  const other = await bed.join()
  await until(1_000, 'the new title elsewhere', async () =>
    (await textOf(other, 'reports/42.json')).includes('While it is full'),
  )
  await saveTitle(other, 'reports/42.json', await textOf(other, 'reports/42.json'), 'And again')
  await until(1_000, 'the newer title', async () =>
    (await textOf(reader, 'reports/42.json')).includes('And again'),
  )
})

t.test('FLEET-3 one that is full from the beginning costs nothing', async t => {
  const bed = await fleetBed(t, { redis: ['--maxmemory', '100kb', '--maxmemory-policy', 'noeviction'] })
  const truth = await truthOf(bed)
  const nodes = await Promise.all([1, 2, 3].map(() => bed.join({}, 'at once')))
  for (const node of nodes) {
    const { seen, longest } = await within(10_000, 'a walk', walk(node, 'projects'))
    t.strictSame(seen, truth)
    t.ok(longest < 300, `the longest call took ${longest} ms`)
  }
})

t.test('FLEET-3 one that is full and evicts gives what it still has, and the rest is asked for', async t => {
  for (const policy of ['allkeys-lru', 'allkeys-random']) {
    const bed = await fleetBed(t, { redis: ['--maxmemory-policy', policy] })
    const truth = await truthOf(bed)
    t.strictSame(await everything(await bed.join(), 'projects'), truth)
    await bed.redis.client.config('SET', 'maxmemory', String((await memory(bed)).used_memory))
    const nodes = await Promise.all([1, 2, 3].map(() => bed.join({}, 'at once')))
    for (const node of nodes) {
      const { seen, longest } = await walk(node, 'projects')
      t.strictSame(seen, truth)
      t.ok(longest < 400, `the longest call took ${longest} ms`)
    }
    for (const key of await bed.redis.client.keys('calcfs:*'))
      if (Math.random() < 0.5) await bed.redis.client.del(key)
    t.strictSame(await everything(await bed.join(), 'projects'), truth)
  }
})

/** Facts of the server by their names. */
async function memory({ redis }: FleetBed): Promise<{ readonly used_memory: number }> {
  const text = await redis.client.info('memory')
  return { used_memory: Number(/^used_memory:(\d+)/m.exec(text)?.[1]) }
}
