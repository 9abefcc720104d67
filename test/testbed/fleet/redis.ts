// A real Redis of a test's own: a free loopback port, a directory of its own, ended with the test.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import type { TestLifetime } from '../testbed.js'
import { succeeds, until } from '../within.js'

export type TestRedis = Awaited<ReturnType<typeof testRedis>>

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise(closed => server.close(closed))
  if (address === null || typeof address === 'string') throw new Error('no port')
  return address.port
}

/** @param options as redis-server takes them, one word after another */
export async function testRedis(t: TestLifetime, options: readonly string[] = [], port?: number) {
  const own = port ?? (await freePort())
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-redis-'))
  let server: ChildProcess | undefined
  /** For looking at what lies there, and damaging it. */
  const client = new Redis({
    port: own,
    host: '127.0.0.1',
    retryStrategy: () => 50,
    maxRetriesPerRequest: null,
  })
  client.on('error', () => {})
  const flags = { port: own, bind: '127.0.0.1', dir: directory, save: '' }
  const words = Object.entries(flags).flatMap(([name, value]) => [`--${name}`, String(value)])

  async function start(): Promise<void> {
    server = spawn('redis-server', [...words, ...options], { stdio: 'ignore' })
    await until(30_000, 'redis-server answers', () => succeeds(client.ping()))
  }

  /** Resolves when it is gone. */
  async function kill(): Promise<void> {
    if (server === undefined || server.exitCode !== null || server.signalCode !== null) return
    const gone = once(server, 'exit')
    server.kill('SIGKILL')
    await gone
  }

  t.teardown(async () => {
    client.disconnect()
    await kill()
    await rm(directory, { recursive: true, force: true })
  })
  await start()
  return {
    port: own,
    /** As `--fleet` takes it. */
    address: `redis://127.0.0.1:${own}`,
    directory,
    client,
    signal: (name: NodeJS.Signals): void => void server?.kill(name),
    kill,
  }
}
