// A fleet over TLS: shared where its certificate is by the given authority; anywhere else passed by, with the reason in the status.
import { writeFile } from 'node:fs/promises'
import t from 'tap'
import { type FleetBed, fleetBed } from '../testbed/fleet/fleet.js'
import { everything } from '../testbed/fleet/reads.js'
import { freePort } from '../testbed/fleet/redis.js'
import { authority } from '../testbed/machine/certificates.js'
import type { TestLifetime } from '../testbed/testbed.js'
import { textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

/** Its Redis speaks TLS at a second port, under a certificate of the authority. */
async function tlsBed(t: TestLifetime): Promise<{ bed: FleetBed; port: number; caFile: string }> {
  const signing = await authority(t)
  const { cert, key } = await signing.signed('127.0.0.1')
  const files = { 'tls-cert-file': `${signing.file}.cert`, 'tls-key-file': `${signing.file}.key` }
  await writeFile(files['tls-cert-file'], cert)
  await writeFile(files['tls-key-file'], key)
  const port = await freePort()
  const words = { ...files, 'tls-port': port, 'tls-ca-cert-file': signing.file, 'tls-auth-clients': 'no' }
  const redis = Object.entries(words).flatMap(([name, value]) => [`--${name}`, String(value)])
  return { bed: await fleetBed(t, { redis }), port, caFile: signing.file }
}

t.test('FLEET-3 a fleet over TLS', async t => {
  const { bed, port, caFile } = await tlsBed(t)
  const fleet = `rediss://127.0.0.1:${port}`
  const truth = await everything(await bed.join({}, true), 'projects')
  const wrongs = {
    'without an authority': { fleet },
    'with another authority': { fleet, caFile: (await authority(t)).file },
    'without TLS': { fleet: `redis://127.0.0.1:${port}` },
  }
  for (const [what, settings] of Object.entries(wrongs)) {
    const node = await bed.join(settings, 'at once')
    t.strictSame(await within(20_000, 'the walk', everything(node, 'projects')), truth)
    await until(10_000, 'the reason is told', () => {
      const { passedByBecause: away } = node.line.fleet?.status() ?? {}
      return away !== undefined && away !== 'it is not connected yet'
    })
    const status = node.line.fleet?.status()
    t.match(
      status?.passedByBecause,
      what === 'without TLS' ? /./ : /certificate|self[- ]signed|verify/i,
      what,
    )
    t.match(status, { saved: 0, asked: 0 })
    const shown = JSON.parse(await textOf(node, '.calcfs/status.json'))
    t.equal(shown.fleet.passedByBecause, status?.passedByBecause)
    t.same(await bed.redis.client.keys('calcfs:*'), [], 'nothing is shared')
  }

  const trusted = { fleet, caFile }
  await everything(await bed.join(trusted), 'projects')
  // On a busy machine some pass the fleet by for moments.
  await until(60_000, 'a mount reads from the fleet, with the authority that signed it', async () => {
    const next = await bed.join(trusted)
    t.strictSame(await everything(next, 'projects'), truth)
    return (next.line.fleet?.status().saved ?? 0) > 10
  })
})
