// A fleet without kernels: several drives of one user over one service and one Redis, each with its own caches.
import { readdirSync, readFileSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { AssembledDrive } from '../../../src/app/assemble.js'
import { makeFleetKey } from '../../../src/fleet/seal.js'
import { type ServiceWish, testService } from '../service.js'
import type { TestLifetime } from '../testbed.js'
import { until } from '../within.js'
import { type FleetNode, isUsed, openFleetNode } from './node.js'
import { testRedis } from './redis.js'

export type { FleetNode }

export type FleetBed = Awaited<ReturnType<typeof fleetBed>>

export async function fleetBed(
  t: TestLifetime,
  { redis: options = [], ...wish }: ServiceWish & { readonly redis?: readonly string[] } = {},
) {
  const service = await testService(t, wish)
  const redis = await testRedis(t, options)
  const base = await mkdtemp(join(tmpdir(), 'calcfs-fleet-'))
  const key = join(base, 'key')
  makeFleetKey(key)
  const lines: AssembledDrive[] = []
  let homes = 0
  t.teardown(async () => {
    await Promise.all(lines.map(line => line.close()))
    await rm(base, { recursive: true, force: true, maxRetries: 10, retryDelay: 50 })
  })

  return {
    /** What a mount of another process needs to join. */
    shared: { url: service.url, fleet: redis.address, fleetKeyFile: key },
    service,
    redis,
    /** The file of a key that no other mount has. */
    async otherKey() {
      const other = join(base, 'other-key')
      makeFleetKey(other)
      return other
    },
    /** What the mounts are signed in with. */
    tokens: () =>
      readdirSync(base, { recursive: true, encoding: 'utf8' })
        .filter(name => name.endsWith('token.json') || name.endsWith('token'))
        .flatMap(name => /eyJ[\w-]+\.[\w-]+\.[\w-]+/.exec(readFileSync(join(base, name), 'utf8')) ?? []),
    /** One more, with empty caches; it is connected to the fleet, unless it is to be alone, or not to wait for that. */
    async join(settings: Readonly<Record<string, string>> = {}, how: boolean | 'at once' = false) {
      // Many join at once: each has a home of its own.
      homes += 1
      const home = join(base, String(homes))
      const shared = how === true ? {} : { fleet: redis.address, fleetKeyFile: key }
      const node = await openFleetNode(home, { url: service.url, ...shared, ...settings })
      const { line } = node
      lines.push(line)
      if (how === false) await until(10_000, 'the fleet is used', () => isUsed(node))
      return node
    },
  }
}
