// A Redis that stops, forgets, fills up or lies costs requests, and nothing else: no errno, no wrong byte, no long wait.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, milliseconds, walk } from '../testbed/fleet/reads.js'
import { ids } from '../testbed/sample-data.js'
import { textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(120_000)

/** It is passed by for five seconds. */
const awayMs = 10_000

const isUsed = (node: FleetNode) => (): boolean => node.line.fleet?.status().away === undefined

/** What a walk over a drive may take longer than one without a fleet that runs beside it; a busy process waits for a sign. */
const allowed = (usual: number): number => 3 * usual + 4_000

/** A mount of the fleet walks beside one without. */
async function walkBeside(bed: FleetBed, node: FleetNode) {
  const alone = await bed.join({}, true)
  const both = Promise.all([walk(node, 'projects'), walk(alone, 'projects')])
  const [{ seen, longest }, usual] = await within(20_000, 'two walks', both)
  return { seen, longest, usual: usual.longest }
}

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
    t.ok(longest < allowed(usual), `the longest call took ${longest} ms, without a fleet ${usual} ms`)
  }
  const late = await bed.join({}, 'at once')
  const its = await walkBeside(bed, late)
  t.strictSame(its.seen, truth)
  t.ok(its.longest < allowed(its.usual), `its longest call took ${its.longest} ms of ${its.usual}`)
  bed.redis.signal('SIGCONT')
  for (const node of [...nodes, late]) await until(awayMs, 'it is used again', isUsed(node))
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
  // A save waits for the disk, whatever the fleet does.
  const alone = await bed.join({}, true)
  const profile = `reports/${ids.profile}.json`
  const its = await textOf(alone, profile)
  const [took, usual] = await Promise.all([
    milliseconds(saveTitle(one, path, text, 'Saved meanwhile')),
    milliseconds(saveTitle(alone, profile, its, 'Without a fleet')),
  ])
  t.ok(took < usual + 1_500, `the save took ${took} ms, without a fleet ${usual} ms`)
  t.match(await textOf(one, path), 'Saved meanwhile')
  bed.redis.signal('SIGCONT')
  await until(awayMs, 'the new title elsewhere', async () =>
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
  await until(awayMs, 'it is used again', isUsed(node))
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

t.test('FLEET-3 one that is full and evicts nothing is passed by, and nothing fails', async t => {
  const bed = await fleetBed(t, { redis: ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'] })
  const node = await bed.join()
  const truth = await everything(node, 'projects')
  const { used_memory: used } = await memory(bed)
  // What its connections need comes and goes: the limit is well below what is used.
  await bed.redis.client.config('SET', 'maxmemory', String(Math.floor(used * 0.9)))
  await t.rejects(bed.redis.client.set('more', 'x'.repeat(100_000)), /OOM/)
  // Nothing is written by itself: a save tells the others.
  const first = await textOf(node, 'reports/42.json')
  await within(10_000, 'a save', saveTitle(node, 'reports/42.json', first, 'Told when it is full'))
  await until(awayMs, 'it is passed by', () => !isUsed(node)())
  t.match(node.line.fleet?.status().away, /allkeys-lru/)
  const reader = await bed.join({}, 'at once')
  t.strictSame(await everything(reader, 'projects'), truth)
  const text = await textOf(reader, 'reports/42.json')
  await within(10_000, 'a save', saveTitle(reader, 'reports/42.json', text, 'While it is full'))
  t.match(await textOf(reader, 'reports/42.json'), 'While it is full')
})

t.test('FLEET-3 one that is full from the beginning costs nothing', async t => {
  const bed = await fleetBed(t, { redis: ['--maxmemory', '100kb', '--maxmemory-policy', 'noeviction'] })
  const truth = await truthOf(bed)
  const nodes = await Promise.all([1, 2, 3].map(() => bed.join({}, 'at once')))
  for (const node of nodes) {
    const { seen, longest, usual } = await walkBeside(bed, node)
    t.strictSame(seen, truth)
    t.ok(longest < allowed(usual), `the longest call took ${longest} ms of ${usual}`)
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
      const { seen, longest, usual } = await walkBeside(bed, node)
      t.strictSame(seen, truth)
      t.ok(longest < allowed(usual), `the longest call took ${longest} ms of ${usual}`)
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
