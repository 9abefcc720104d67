// A fleet over a cluster of three: it shares, and its news are heard.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import t from 'tap'
import { type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { everything, sameAsAlone, untilSeen } from '../testbed/fleet/reads.js'
import { freePort, type TestRedis, testRedis } from '../testbed/fleet/redis.js'
import { overwrite, type TestLifetime, textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

const ran = promisify(execFile)
/** Milliseconds for a command of the cluster manager. */
const managerMs = 120_000
/** A node's own port and this much more: its bus. */
const busOffset = 10_000
const highestPort = 65_535
/** What lies on the others is to be had where one is gone. */
const flags = '--cluster-enabled yes --cluster-node-timeout 2000 --cluster-require-full-coverage no'

async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (port + busOffset <= highestPort) return port
  }
}

async function testCluster(t: TestLifetime) {
  const nodes: TestRedis[] = []
  for (const _ of [1, 2, 3]) nodes.push(await testRedis(t, flags.split(' '), await portWithBus()))
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`)
  await ran('redis-cli', ['--cluster', 'create', ...hosts, '--cluster-yes'], { timeout: managerMs })
  await until(60_000, 'the cluster is one', async () => {
    const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')))
    return infos.every(info => String(info).includes('cluster_state:ok'))
  })
  /** As `--fleet` takes it. */
  const address = `redis://${hosts.join(',')}`
  return { address, nodes }
}

const report = 'reports/42.json'

async function ground(t: TestLifetime) {
  const cluster = await testCluster(t)
  const bed = await fleetBed(t)
  return { cluster, bed, join: (how?: 'at once') => bed.join({ fleet: cluster.address }, how) }
}

/** One saves; the others show it in time. */
async function saved(writer: FleetNode, others: readonly FleetNode[], title: string): Promise<void> {
  for (const node of others) await textOf(node, report)
  const text = await textOf(writer, report)
  const next = text.replace(/"title": "[^"]*"/, `"title": "${title}"`)
  await within(20_000, 'a save', overwrite(writer, report, next))
  for (const node of others)
    await untilSeen([writer, ...others], title, async () => (await textOf(node, report)).includes(title))
}

t.test('FLEET-1 FLEET-2 mounts share a cluster, on all of its nodes, and hear of changes', async t => {
  const { bed, cluster, join } = await ground(t)
  const first = await join()
  const once = await bed.service.during(() => everything(first, 'projects'))
  let [second, third] = [first, first]
  // On a busy machine some pass the fleet by for moments. The one beside them asks for itself.
  await until(120_000, 'three ask the service at most 1.5 times what one asks', async () => {
    ;[second, third] = [await join(), await join()]
    const asked = await bed.service.during(() => sameAsAlone(t, bed, [second, third], 'cluster'))
    t.comment(`${asked.length} requests of three, ${once.length} of the first one`)
    return asked.length <= 1.5 * once.length
  })
  for (const { client, port } of cluster.nodes)
    t.ok((await client.keys('calcfs:*')).length > 3, `values lie on the node at ${port}`)
  await saved(first, [second, third], 'By the first')
  await saved(third, [first, second], 'By the third')
})
