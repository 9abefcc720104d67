// A fleet asks the service once: answers and contents of one mount are those of all.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { namesOf, overwrite, textOf } from '../testbed/testbed.js'
import { seenMs, until } from '../testbed/within.js'

t.setTimeout(120_000)

/** Every name, size and text below a directory. */
async function everything(node: FleetNode, path: string): Promise<readonly string[]> {
  const found: string[] = []
  for (const [name, kind] of await node.files.readdir(path)) {
    const below = `${path}/${name}`
    if (kind === 'directory') found.push(...(await everything(node, below)))
    else if (kind === 'file') found.push(`${below} ${(await node.files.readFile(below)).toString('base64')}`)
  }
  return found
}

t.test('FLEET-1 mounts one after another ask the service for nothing that one has asked for', async t => {
  const bed = await fleetBed(t)
  const first = await bed.join()
  let seen: readonly string[] = []
  const alone = await bed.service.during(async () => {
    seen = await everything(first, 'projects')
  })
  t.ok(seen.length > 10)
  for (const _ of [1, 2, 3]) {
    const next = await bed.join()
    let same: readonly string[] = []
    const asked = await bed.service.during(async () => {
      same = await everything(next, 'projects')
    })
    t.strictSame(same, seen)
    t.ok(
      asked.length <= alone.length / 10,
      `${asked.length} of ${alone.length}: ${asked.map(one => `${one.method} ${one.path}`).join(', ')}`,
    )
  }
})

t.test('FLEET-1 the same for mounts that all begin at once', async t => {
  const bed = await fleetBed(t)
  const alone = await bed.join({}, true)
  const once = await bed.service.during(() => everything(alone, 'projects'))
  const nodes = await Promise.all(Array.from({ length: 8 }, () => bed.join()))
  const asked = await bed.service.during(async () => {
    const all = await Promise.all(nodes.map(node => everything(node, 'projects')))
    for (const one of all) t.strictSame(one, all[0])
  })
  t.ok(
    asked.length <= once.length * 1.05 + 2,
    `${asked.length} requests of eight mounts, ${once.length} of one`,
  )
})

t.test('FLEET-2 a save on one mount is seen on another one within a second', async t => {
  const bed = await fleetBed(t)
  const [one, other] = [await bed.join(), await bed.join()]
  const path = 'reports/42.json'
  await textOf(other, path)
  const text = await textOf(one, path)
  await overwrite(one, path, text.replace(/"title": "[^"]*"/, '"title": "Seen elsewhere"'))
  await until(seenMs, 'the new title', async () => (await textOf(other, path)).includes('Seen elsewhere'))
})

t.test(
  'FLEET-3 a fleet that is killed costs nothing but requests, and is used again once it is back',
  async t => {
    const bed = await fleetBed(t)
    const [one, other] = [await bed.join(), await bed.join()]
    await namesOf(one, 'projects')
    await bed.redis.kill()
    const elapsed = stopwatch()
    t.strictSame(await everything(other, 'projects'), await everything(one, 'projects'))
    t.ok(elapsed() < 5_000)
    t.ok(other.line.fleet?.status().away)
    await bed.redis.start()
    await until(5_000, 'it is used again', () => other.line.fleet?.status().away === undefined)
    await wait(10)
  },
)

t.test(
  'FLEET-1 what a mount with a longer lifetime has put there counts no longer for the others',
  async t => {
    const bed = await fleetBed(t)
    const path = 'reports/42.json'
    const before = await textOf(await bed.join({ ttlRecord: '1h' }), path)
    const other = await bed.join({ ttlRecord: '2s' })
    t.equal(await textOf(other, path), before)
    const report = JSON.parse(await bed.service.elsewhere('GET', '/report?id=42')) as Record<string, unknown>
    await bed.service.elsewhere(
      'PUT',
      '/report?id=42',
      JSON.stringify({ ...report, title: 'Past the fleet' }),
    )
    await wait(2_100)
    t.match(await textOf(await bed.join({ ttlRecord: '2s' }), path), 'Past the fleet', 'one that comes up')
    t.match(await textOf(other, path), 'Past the fleet', 'one that has read it before')
    t.match(await textOf(await bed.join({ ttlRecord: '1h' }), path), 'Past the fleet', 'it lies there')
  },
)
