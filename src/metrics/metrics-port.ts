// Port of the metrics: HTTP on a loopback address, without a token, and so without anything that is worth one.
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Failure } from '../failure.js'
import { codeOf } from '../system/error-code.js'
import { answerWatch, type WatchedDrive } from './answer-watch.js'

export interface MetricsPort {
  /** With the port that was taken, such as `127.0.0.1:9464`. */
  readonly address: string
  close(): Promise<void>
}

/** Questions that are answered at the same time; a scraper needs one. */
const connectionsAtMost = 16
/** Milliseconds within which a question has to be there. */
const questionMs = 5_000

/** @throws Failure 'not-permitted' where the address cannot be used */
export async function openMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  drive: WatchedDrive,
): Promise<MetricsPort> {
  const server = createServer(
    { requestTimeout: questionMs, headersTimeout: questionMs },
    (question, reply) => {
      if (isForHere(question)) return void answerWatch(question, reply, drive)
      reply.writeHead(400, { 'content-type': 'text/plain' })
      reply.end('this is no name of this machine\n')
    },
  )
  server.maxConnections = connectionsAtMost
  await new Promise<void>((listening, failed) => {
    server.once('error', cause => failed(portFailure(`${host}:${port}`, cause)))
    server.listen(port, host, listening)
  })
  // The mount keeps the daemon alive, not its metrics.
  server.unref()
  const taken = server.address() as AddressInfo
  return {
    address: `${host.includes(':') ? `[${host}]` : host}:${taken.port}`,
    close: () =>
      new Promise(closed => {
        server.close(() => closed())
        server.closeAllConnections()
      }),
  }
}

/** A web page may have its own name lead here (DNS rebinding): its questions name that host. */
const isForHere = ({ headers }: IncomingMessage): boolean =>
  headers.host === undefined || /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(headers.host)

function portFailure(address: string, cause: Error): Failure {
  const why = codeOf(cause) === 'EADDRINUSE' ? 'another program uses it' : cause.message
  return new Failure(
    'not-permitted',
    `there are no metrics at ${address}: ${why}; give each drive a port of its own with --metrics`,
    { cause },
  )
}
