// What stands between a fleet and its Redis in tests: it cuts, damages and loses what passes.
import { once } from 'node:events'
import { type AddressInfo, connect, createServer, type Socket } from 'node:net'
import type { TestLifetime } from '../testbed.js'

/** What becomes of a piece from Redis to a node; undefined: it never arrives. */
export type Spoil = (piece: Buffer, line: RelayLine) => Buffer | undefined

/** One connection of a node. */
interface RelayLine {
  /** It has subscribed to something. */
  readonly hears: boolean
}

export async function testRelay(t: TestLifetime, port: number) {
  const sockets = new Set<Socket>()
  let spoil: Spoil | undefined

  function pass(from: Socket, to: Socket, changed: (piece: Buffer) => Buffer | undefined): void {
    from.on('data', (piece: Buffer) => {
      const out = changed(piece)
      if (out !== undefined) to.write(out)
    })
    for (const end of ['close', 'error', 'end']) from.on(end, () => to.destroy())
  }

  const server = createServer(node => {
    const redis = connect({ port, host: '127.0.0.1' })
    const line = { hears: false }
    for (const socket of [node, redis]) {
      socket.setNoDelay(true)
      socket.on('error', () => {})
      sockets.add(socket)
      socket.on('close', () => sockets.delete(socket))
    }
    pass(node, redis, piece => {
      line.hears ||= /subscribe\r\n/i.test(piece.toString('latin1'))
      return piece
    })
    pass(redis, node, piece => (spoil === undefined ? piece : spoil(piece, line)))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(async () => {
    const closed = new Promise(done => server.close(done))
    for (const socket of sockets) socket.destroy()
    await closed
  })

  const own = (server.address() as AddressInfo).port
  return {
    /** As `--fleet` takes it. */
    address: `redis://127.0.0.1:${own}`,
    /** Undoes it when called. */
    spoil(how: Spoil) {
      spoil = how
      return () => {
        if (spoil === how) spoil = undefined
      }
    },
  }
}
