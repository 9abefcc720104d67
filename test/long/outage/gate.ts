// A gate before a service, on TCP or TLS: what passes is refused, swallowed, reset or thinned to a byte a second, and passes again.
import { connect, createServer, type Server, type Socket } from 'node:net'
import { createServer as createSecureServer, Server as SecureServer } from 'node:tls'
import * as trusted from '../../remote/self-signed.js'
import type { TestLifetime } from '../../testbed/testbed.js'
import * as other from './other-certificate.js'

export const troubles = ['refused', 'black hole', 'reset', '1 byte a second', 'HTML', 'certificate'] as const
export type Trouble = (typeof troubles)[number]

export interface Gate {
  readonly port: number
  /** From now on, and for the connections that are there. */
  begin(trouble: Trouble): Promise<void>
  end(): Promise<void>
}

const page = '<!DOCTYPE html><html><body>Down for maintenance</body></html>'

export async function openGate(scope: TestLifetime, target: number, secure: boolean): Promise<Gate> {
  const sockets = new Set<Socket>()
  let trouble: Trouble | undefined
  let port = 0

  /** A connection under TLS cannot be reset by itself. */
  const reset = (socket: Socket): Socket => (secure ? socket.destroy() : socket.resetAndDestroy())

  function pass(client: Socket): void {
    sockets.add(client)
    client.on('close', () => sockets.delete(client))
    client.on('error', () => {})
    if (trouble === 'reset') {
      reset(client)
      return
    }
    const inner = connect(target, '127.0.0.1')
    inner.on('error', () => client.destroy())
    client.on('close', () => inner.destroy())
    inner.on('close', () => (trouble === undefined ? client.end() : undefined))
    client.on('data', bytes => {
      if (trouble === undefined || trouble === '1 byte a second') inner.write(bytes)
      else if (trouble === 'HTML')
        client.write(
          `HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: ${page.length}\r\n\r\n${page}`,
        )
    })
    let waiting = Buffer.alloc(0)
    const drip = setInterval(() => {
      if (trouble !== '1 byte a second' || waiting.length === 0) return
      client.write(waiting.subarray(0, 1))
      waiting = waiting.subarray(1)
    }, 1_000)
    client.on('close', () => clearInterval(drip))
    inner.on('data', bytes => {
      if (trouble === undefined && waiting.length === 0) client.write(bytes)
      else if (trouble === '1 byte a second') waiting = Buffer.concat([waiting, bytes])
    })
  }

  let server: Server | SecureServer = createServer()
  async function listen(): Promise<void> {
    server = secure
      ? createSecureServer({ key: trusted.key, cert: trusted.certificate }, pass)
      : createServer(pass)
    await new Promise<void>((ready, failed) => {
      server.once('error', failed)
      server.listen(port, '127.0.0.1', ready)
    })
    const address = server.address()
    if (address === null || typeof address === 'string') throw new Error('no port')
    port = address.port
  }
  const close = (): Promise<void> => {
    for (const socket of sockets) socket.destroy()
    return new Promise(closed => server.close(() => closed()))
  }
  await listen()
  scope.teardown(close)
  return {
    get port() {
      return port
    },
    async begin(what) {
      trouble = what
      if (what === 'refused') await close()
      if (what === 'reset') for (const socket of sockets) reset(socket)
      if (what === 'certificate') {
        if (server instanceof SecureServer)
          server.setSecureContext({ key: other.key, cert: other.certificate })
        for (const socket of sockets) socket.destroy()
      }
    },
    async end() {
      const was = trouble
      trouble = undefined
      if (was === 'refused') return listen()
      if (server instanceof SecureServer)
        server.setSecureContext({ key: trusted.key, cert: trusted.certificate })
      for (const socket of sockets) socket.destroy()
    },
  }
}
