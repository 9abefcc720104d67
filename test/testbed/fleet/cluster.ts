// A real Redis cluster of a test's own: three servers on free loopback ports.
import { execFile } from 'node:child_process'
import { promisify } from 'node:util'
import type { TestLifetime } from '../testbed.js'
import { until } from '../within.js'
import { freePort, type TestRedis, testRedis } from './redis.js'

const ran = promisify(execFile)
/** Milliseconds for a command of the cluster manager. */
const managerMs = 120_000
/** A node's own port and this much more: its bus. */
const busOffset = 10_000
const highestPort = 65_535
/** What lies on the others is to be had where one is gone. */
const flags = '--cluster-enabled yes --cluster-node-timeout 2000 --cluster-require-full-coverage no'

export interface TestCluster {
  /** As `--fleet` takes it. */
  readonly address: string
  readonly nodes: readonly TestRedis[]
}

async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (port + busOffset <= highestPort) return port
  }
}

export async function testCluster(t: TestLifetime): Promise<TestCluster> {
  const nodes: TestRedis[] = []
  for (const _ of [1, 2, 3]) nodes.push(await testRedis(t, flags.split(' '), await portWithBus()))
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const manager = (...words: string[]) =>
    ran('redis-cli', ['--cluster', ...words, '--cluster-yes'], { timeout: managerMs })
  await manager('create', ...hosts)
  await until(60_000, 'the cluster is one', async () => {
    const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')))
    return infos.every(info => String(info).includes('cluster_state:ok'))
  })
  return { address: `redis://${hosts.join(',')}`, nodes }
}
