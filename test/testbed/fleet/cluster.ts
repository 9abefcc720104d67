// A real Redis cluster of a test's own: three servers on free loopback ports, each with a directory of its own, ended with the test.
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { Redis } from 'ioredis'
import type { TestLifetime } from '../testbed.js'
import { until } from '../within.js'
import { freePort } from './redis.js'

const ran = promisify(execFile)
/** Milliseconds for a command of the cluster manager. */
const managerMs = 60_000
/** A node's own port and this much more: its bus. */
const busOffset = 10_000
const highestPort = 65_535

export interface ClusterNode {
  readonly port: number
  /** For looking at what lies there. */
  readonly client: Redis
  kill(): Promise<void>
  /** On the same port, with what the cluster's own file says. */
  start(): Promise<void>
}

export interface TestCluster {
  /** As `--fleet` takes it. */
  readonly address: string
  readonly nodes: readonly ClusterNode[]
  /** Moves so many slots from one node to another, with what lies in them. */
  move(slots: number, from: ClusterNode, to: ClusterNode): Promise<void>
  /** Names of all that lies there, on all nodes that answer. */
  keys(): Promise<readonly string[]>
}

async function portWithBus(): Promise<number> {
  for (;;) {
    const port = await freePort()
    if (port + busOffset <= highestPort) return port
  }
}

export async function testCluster(t: TestLifetime): Promise<TestCluster> {
  const base = await mkdtemp(join(tmpdir(), 'calcfs-cluster-'))
  const nodes: ClusterNode[] = []
  t.teardown(async () => {
    for (const { client, kill } of nodes) {
      client.disconnect()
      await kill()
    }
    await rm(base, { recursive: true, force: true })
  })
  for (let at = 0; at < 3; at += 1) {
    const port = await portWithBus()
    const directory = join(base, String(port))
    await mkdir(directory)
    const node = clusterNode(port, directory)
    nodes.push(node)
    await node.start()
  }
  const hosts = nodes.map(({ port }) => `127.0.0.1:${port}`)
  const manager = (...words: string[]) =>
    ran('redis-cli', ['--cluster', ...words, '--cluster-yes'], { timeout: managerMs })
  await manager('create', ...hosts)
  await until(30_000, 'the cluster is one', async () => {
    const infos = await Promise.all(nodes.map(({ client }) => client.call('CLUSTER', 'INFO')))
    return infos.every(info => String(info).includes('cluster_state:ok'))
  })
  return {
    address: `redis://${hosts.join(',')}`,
    nodes,
    async move(slots, from, to) {
      const [source, target] = await Promise.all(
        [from, to].map(async ({ client }) => String(await client.call('CLUSTER', 'MYID'))),
      )
      const words = [
        '--cluster-from',
        source ?? '',
        '--cluster-to',
        target ?? '',
        '--cluster-slots',
        `${slots}`,
      ]
      await manager('reshard', hosts[0] ?? '', ...words)
    },
    async keys() {
      const all = await Promise.all(nodes.map(({ client }) => client.keys('calcfs:*').catch(() => [])))
      return all.flat()
    },
  }
}

function clusterNode(port: number, directory: string): ClusterNode {
  let server: ChildProcess | undefined
  const client = new Redis({ port, host: '127.0.0.1', retryStrategy: () => 50, maxRetriesPerRequest: 2 })
  client.on('error', () => {})
  return {
    port,
    client,
    async start() {
      const flags = {
        port,
        bind: '127.0.0.1',
        dir: directory,
        save: '',
        'cluster-enabled': 'yes',
        'cluster-node-timeout': 2_000,
        // What lies on the others is to be had.
        'cluster-require-full-coverage': 'no',
      }
      const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])
      server = spawn('redis-server', words, { stdio: 'ignore' })
      await until(10_000, 'redis-server answers', () =>
        client.ping().then(
          () => true,
          () => false,
        ),
      )
    },
    async kill() {
      if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
      const gone = once(server, 'exit')
      server.kill('SIGKILL')
      await gone
    },
  }
}
