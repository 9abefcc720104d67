// A Redis that stops, forgets, fills up or is none costs requests, and nothing else: no errno, no wrong byte, no long wait.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { fleetBed } from '../testbed/fleet/fleet.js'
import { isUsed } from '../testbed/fleet/node.js'
import { everything, milliseconds, sameAsAlone } from '../testbed/fleet/reads.js'
import { ids } from '../testbed/sample-data.js'
import { overwrite, textOf } from '../testbed/testbed.js'
import { until } from '../testbed/within.js'

/** It is passed by for five seconds. */
const awayMs = 90_000
const report = `reports/${ids.report}.json`
const titled = (text: string, title: string): string =>
  text.replace(/"title": "[^"]*"/, `"title": "${title}"`)

t.test(
  'FLEET-3 one that stops delays no read and no save, and all hear of what was saved when it goes on',
  async t => {
    const bed = await fleetBed(t)
    const [one, other, third] = [await bed.join(), await bed.join(), await bed.join()]
    await textOf(other, report)
    const text = await textOf(one, report)
    const reads = sameAsAlone(t, bed, [one, other, third], 'stopped in the middle of reads')
    await wait(40)
    bed.redis.signal('SIGSTOP')
    t.teardown(() => bed.redis.signal('SIGCONT'))
    await reads
    const late = await bed.join({}, 'at once')
    await sameAsAlone(t, bed, [late], 'a mount that comes up meanwhile')
    // A save waits for the disk, whatever the fleet does.
    const alone = await bed.join({}, true)
    const profile = `reports/${ids.profile}.json`
    const its = await textOf(alone, profile)
    const [took, usual] = await Promise.all([
      milliseconds(overwrite(one, report, titled(text, 'Saved meanwhile'))),
      milliseconds(overwrite(alone, profile, titled(its, 'Without a fleet'))),
    ])
    t.ok(took < 3 * usual + 8_000, `the save took ${took} ms, without a fleet ${usual} ms`)
    t.match(await textOf(one, report), 'Saved meanwhile')

    bed.redis.signal('SIGCONT')
    for (const node of [one, other, third, late]) await until(awayMs, 'it is used again', () => isUsed(node))
    await until(awayMs, 'the new title elsewhere', async () =>
      (await textOf(other, report)).includes('Saved meanwhile'),
    )
    await everything(await bed.join(), 'projects')
  },
)

t.test('FLEET-3 one that is full and evicts nothing is passed by, and nothing fails', async t => {
  const bed = await fleetBed(t, { redis: ['--maxmemory', '64mb', '--maxmemory-policy', 'noeviction'] })
  const node = await bed.join()
  await everything(node, 'projects')
  const used = /^used_memory:(\d+)/m.exec(await bed.redis.client.info('memory'))?.[1]
  // What its connections need comes and goes: the limit is well below what is used.
  await bed.redis.client.config('SET', 'maxmemory', String(Math.floor(Number(used) * 0.9)))
  await t.rejects(bed.redis.client.set('more', 'x'.repeat(100_000)), /OOM/)
  // Nothing is written by itself: a save tells the others.
  await overwrite(node, report, titled(await textOf(node, report), 'Told when it is full'))
  await until(awayMs, 'it is passed by', () => !isUsed(node))
  t.match(node.line.fleet?.status().passedByBecause, /allkeys-lru/)
  const reader = await bed.join({}, 'at once')
  await sameAsAlone(t, bed, [reader], 'while it is full')
  await overwrite(reader, report, titled(await textOf(reader, report), 'While it is full'))
  t.match(await textOf(reader, report), 'While it is full')
})
