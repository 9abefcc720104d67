// A network of its own between a daemon and the service: a namespace whose one link can fall silent, or change its address.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { printed, run } from '../programs.js'
import type { TestLifetime } from '../testbed.js'

export type OwnNetwork = Awaited<ReturnType<typeof ownNetwork>>
export type Passage = Awaited<ReturnType<OwnNetwork['open']>>

let count = 0

/** Needs root: a link between two networks is made by nothing less. */
export async function ownNetwork(t: TestLifetime) {
  if (process.getuid?.() !== 0)
    throw new Error('a network of its own is made by root only (ip netns): run this test as root')
  count += 1
  const name = `calcfs-${process.pid}-${count}`
  const [here, there] = [`cf${process.pid % 100_000}${count}a`, `cf${process.pid % 100_000}${count}b`]
  // Of the range that RFC 2544 keeps for tests of networks.
  const at = process.pid + 37 * count
  const subnet = `198.${18 + (at % 2)}.${(at >> 1) % 256}`
  const [near, host] = [() => `${subnet}.${own}`, `${subnet}.1`]
  let own = 2
  const ip = (...words: string[]) => printed('ip', words)
  const inside = (...words: string[]) => ip('-n', name, ...words)
  await ip('netns', 'add', name)
  t.teardown(async () => {
    await run('ip', ['netns', 'del', name])
    await run('ip', ['link', 'del', here])
  })
  await ip('link', 'add', here, 'type', 'veth', 'peer', 'name', there, 'netns', name)
  await ip('addr', 'add', `${host}/24`, 'dev', here)
  await ip('link', 'set', here, 'up')
  await inside('link', 'set', 'lo', 'up')
  await inside('addr', 'add', `${near()}/24`, 'dev', there)
  await inside('link', 'set', there, 'up')
  return {
    /** What starts a program in that network, as the first words of its command. */
    within: ['nsenter', `--net=/run/netns/${name}`],
    /** The address of this process at the far end of the link. */
    host,
    /** The address of a server of this process that is reached through the link, and passes on to a port of 127.0.0.1. */
    async open(t: TestLifetime, to: () => number) {
      const sockets = new Set<Socket>()
      let elsewhere: number | undefined
      const server: Server = createServer(client => {
        sockets.add(client)
        const inner = connect(elsewhere ?? to(), '127.0.0.1')
        for (const [one, other] of [
          [client, inner],
          [inner, client],
        ] as const) {
          one.on('error', () => other.destroy())
          one.on('close', () => {
            sockets.delete(one)
            other.destroy()
          })
          one.pipe(other)
        }
      })
      await new Promise<void>(listening => server.listen(0, host, listening))
      const forget = (): void => {
        for (const socket of sockets) socket.destroy()
      }
      t.teardown(() => {
        forget()
        server.close()
      })
      const address = server.address()
      if (address === null || typeof address === 'string') throw new Error('no port')
      return {
        host,
        port: address.port,
        /** Connections that are there are forgotten at the far end; the near end hears of it only where packets arrive. */
        forget,
        /** From now on connections lead to another port; the returned function ends that for new ones. */
        lead(other: number): () => void {
          elsewhere = other
          return () => {
            elsewhere = undefined
          }
        },
      }
    },
    /** Every packet is lost without a word, as behind a cable that is pulled elsewhere: a hardware address that nothing has. */
    silence: async () =>
      void (await inside(
        'neigh',
        'replace',
        host,
        'lladdr',
        '02:00:00:00:00:99',
        'nud',
        'permanent',
        'dev',
        there,
      )),
    /** Packets arrive again. The entry goes with the address, too. */
    hear: async () => void (await run('ip', ['-n', name, 'neigh', 'del', host, 'dev', there])),
    /** The daemon's end gets another address: nothing that is sent to connections of before arrives any more. */
    async move(): Promise<void> {
      await inside('addr', 'del', `${near()}/24`, 'dev', there)
      own += 1
      await inside('addr', 'add', `${near()}/24`, 'dev', there)
    },
  }
}
