// A fleet over TLS: shared where its certificate is by the given authority; anywhere else passed by, with the reason in the status.
import t from 'tap'
import { fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { canTls, tlsRedis } from '../testbed/fleet/tls.js'
import { textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(120_000)

const skip = (await canTls()) ? false : 'openssl, or a Redis with TLS, is missing'

t.test('FLEET-3 a fleet over TLS', { skip }, async t => {
  const redis = await tlsRedis(t)
  const bed = await fleetBed(t)
  const trusted = { fleet: redis.address, fleetCaFile: redis.authority.file }
  const truth = await everything(await bed.join({}, true), 'projects')

  await t.test('with the authority that signed its certificate, mounts share it', async t => {
    // They end with this test: what they would still put there later is counted in no other one.
    const sharing = await fleetBed(t)
    const alone = await everything(await sharing.join({}, true), 'projects')
    const first = await sharing.join(trusted)
    const once = await sharing.service.during(() => everything(first, 'projects'))
    const second = await sharing.join(trusted)
    const asked = await sharing.service.during(async () =>
      t.strictSame(await everything(second, 'projects'), alone),
    )
    t.ok(asked.length <= once.length / 10, `${asked.length} of ${once.length}`)
    t.equal(second.line.fleet?.status().away, undefined)
    t.ok((await redis.keys()).length > 20)
  })

  const before = (await redis.keys()).length
  const wrongs = {
    'without an authority': { fleet: redis.address },
    'with another authority': { fleet: redis.address, fleetCaFile: redis.stranger.file },
    'without TLS': { fleet: redis.address.replace('rediss:', 'redis:') },
  }
  for (const [what, settings] of Object.entries(wrongs))
    await t.test(`${what} it is passed by, and the status says why`, async t => {
      const node = await bed.join(settings, 'at once')
      const asked = await bed.service.during(async () =>
        t.strictSame(await within(20_000, 'the walk', everything(node, 'projects')), truth),
      )
      t.ok(asked.length > 10, `${asked.length} requests of its own`)
      await until(10_000, 'the reason is told', () => {
        const { away } = node.line.fleet?.status() ?? {}
        return away !== undefined && away !== 'it is not connected yet'
      })
      const status = node.line.fleet?.status()
      t.comment(`${what}: ${status?.away}`)
      if (what !== 'without TLS') t.match(status?.away, /certificate|self[- ]signed|verify/i)
      t.match(status, { hits: 0, sent: 0, received: 0 })
      const shown = JSON.parse(await textOf(node, '.calcfs/status.json'))
      t.equal(shown.fleet.passedByBecause, status?.away)
      t.notOk((await redis.keys()).length > before, 'nothing is shared')
    })
})
