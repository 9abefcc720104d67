// A Redis of the bench's own: Debian's server on a free loopback port, in a directory of its own, ended with the bench.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync } from 'node:fs'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { Redis } from 'ioredis'
import { commandPath } from '../peers/peers.js'

export interface RedisServer {
  /** As `--fleet` takes it. */
  readonly address: string
  /** Bytes that its values and their names take. */
  usedBytes(): Promise<number>
  signal(name: NodeJS.Signals): void
  stop(): Promise<void>
}

/** Servers that can be measured with, the best first. */
const commands = ['valkey-server', 'redis-server']

/** The server's command; undefined where none is installed. */
export const redisCommand = (): string | undefined =>
  commands.map(commandPath).find(path => path !== undefined)

let servers = 0

/** @throws Error where no server is installed */
export async function startRedis(base: string): Promise<RedisServer> {
  const command = redisCommand()
  if (command === undefined) throw new Error(`${commands.join(' and ')} are not installed`)
  const port = await freePort()
  servers += 1
  const directory = join(base, `redis-${servers}`)
  mkdirSync(directory, { mode: 0o700 })
  const words = ['--port', String(port), '--bind', '127.0.0.1', '--dir', directory, '--save', '']
  const server = spawn(command, words, { stdio: 'ignore' })
  const client = new Redis({ port, host: '127.0.0.1', maxRetriesPerRequest: null, retryStrategy: () => 50 })
  // It says so until the server listens, and once it has gone.
  client.on('error', () => undefined)
  await client.ping()

  return {
    address: `redis://127.0.0.1:${port}`,
    usedBytes: async () => Number(/^used_memory:(\d+)/m.exec(await client.info('memory'))?.[1]),
    signal: name => void server.kill(name),
    async stop() {
      client.disconnect()
      await killed(server)
    },
  }
}

async function killed(server: ChildProcess): Promise<void> {
  if (server.exitCode !== null || server.signalCode !== null) return
  const exit = once(server, 'exit')
  server.kill('SIGKILL')
  await exit
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  await new Promise(closed => server.close(closed))
  if (address === null || typeof address === 'string') throw new Error('no port is free')
  return address.port
}
