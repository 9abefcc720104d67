// Eight mounts with a kernel over one Redis, at several distances from the service: one asks, all read the same, a save is seen on all.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { makeFleetKey } from '../../src/fleet/key.js'
import { everything } from '../testbed/fleet/reads.js'
import { testRedis } from '../testbed/fleet/redis.js'
import { realMount } from '../testbed/mount.js'
import { fillSampleData, ids } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { overwrite, textOf } from '../testbed/testbed.js'
import { seenMs, until, within } from '../testbed/within.js'
import { fillFolders } from './folders-of-calculations.js'

t.setTimeout(240_000)

const report = `reports/${ids.report}.json`
/** Milliseconds from the service to each mount; a folder for each, so that all of them are cold. */
const distances = [0, 10, 30]

t.test('FLEET-1 FLEET-2 eight mounts at 0, 10 and 30 ms from the service', async t => {
  const service = await testService(t, seed => {
    fillSampleData(seed)
    fillFolders({ folders: distances.length, calculations: 6 })({ ...seed, addUser: () => '' })
  })
  const redis = await testRedis(t)
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-fleet-mounts-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  const fleetKeyFile = join(directory, 'key')
  makeFleetKey(fleetKeyFile)
  const settings = { fleet: redis.address, fleetKeyFile }
  const alone = await realMount(t, {}, { service })
  // Two at a time: all of them are up before any reads.
  const mounts: Awaited<ReturnType<typeof realMount>>[] = []
  for (let at = 0; at < 4; at += 1)
    mounts.push(...(await Promise.all([0, 1].map(() => realMount(t, { settings }, { service })))))

  for (const [at, distance] of distances.entries()) {
    const path = `projects/F${at}`
    const stop = service.intercept(/./, async (_, { carryOut }) => {
      const passOn = await carryOut()
      await wait(distance)
      passOn()
    })
    let truth: readonly string[] = []
    const once = await service.during(async () => {
      truth = await within(30_000, 'a walk', everything(alone, path))
    })
    t.ok(truth.length > 20, `${truth.length} files`)
    const asked = await service.during(async () => {
      const all = mounts.map(mount => within(60_000, 'the walks', everything(mount, path)))
      for (const seen of await Promise.all(all)) t.strictSame(seen, truth, 'bytes as without a fleet')
    })
    t.ok(
      // On a busy machine a mount passes the fleet by for moments; eight without one would ask twice as much.
      asked.length <= (mounts.length * once.length) / 2,
      `${distance} ms: ${asked.length} requests of eight mounts, ${once.length} of one`,
    )

    const [writer, ...others] = mounts.slice(at).concat(mounts.slice(0, at))
    if (writer === undefined) throw new Error('no mount')
    for (const mount of mounts) await textOf(mount, report)
    const title = `Saved at ${distance} ms`
    const text = await textOf(writer, report)
    await overwrite(writer, report, text.replace(/"title": "[^"]*"/, `"title": "${title}"`))
    const began = performance.now()
    await Promise.all(
      others.map((mount, number) =>
        until(seenMs, `${distance} ms: the save is seen on mount ${number}`, async () =>
          (await textOf(mount, report)).includes(title),
        ),
      ),
    )
    t.comment(`${distance} ms: seen after ${Math.round(performance.now() - began)} ms`)
    stop()
  }
})
