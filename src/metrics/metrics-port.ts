// HTTP answers of a drive to those who watch it, /metrics and /healthz, and their port on a loopback address: without a token, and so without anything that is worth one.
import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Control } from '../drive/interface/control.js'
import { asFailure, Failure } from '../failure.js'
import { codeOf } from '../system/error-code.js'

type WatchedDrive = Pick<Control, 'metrics' | 'health'>

const plain = 'text/plain; charset=utf-8'

/** Answers the question; any other path is not found. */
export async function answerWatch(
  question: Pick<IncomingMessage, 'method' | 'url'>,
  reply: ServerResponse,
  drive: WatchedDrive,
): Promise<void> {
  const [status, text, form = plain] = await answerTo(question, drive).catch(
    (thrown: unknown): WatchAnswer => [500, `${asFailure(thrown).message}\n`],
  )
  if (reply.destroyed) return
  reply.writeHead(status, { 'content-type': form, 'cache-control': 'no-store' })
  reply.end(question.method === 'HEAD' ? '' : text)
}

type WatchAnswer = readonly [status: number, text: string, form?: string]

/** By RFC 9110 a supervisor takes 200 for "in order", and 503 for "not now". */
async function answerTo(
  { method, url = '' }: Pick<IncomingMessage, 'method' | 'url'>,
  drive: WatchedDrive,
): Promise<WatchAnswer> {
  if (method !== 'GET' && method !== 'HEAD') return [405, 'only GET is answered here\n']
  switch (url.replace(/\?.*/s, '')) {
    case '/metrics':
      return [200, (await drive.metrics({})).text, 'text/plain; version=0.0.4; charset=utf-8']
    case '/healthz': {
      const { isHealthy, why } = await drive.health({})
      return [isHealthy ? 200 : 503, `${why}\n`]
    }
    default:
      return [404, 'there are /metrics and /healthz\n']
  }
}

/** @throws Failure 'not-permitted' where the address cannot be used */
export async function openMetricsPort(
  { host, port }: { readonly host: string; readonly port: number },
  drive: WatchedDrive,
) {
  const server = createServer((question, reply) => {
    if (isForHere(question)) return void answerWatch(question, reply, drive)
    reply.writeHead(400, { 'content-type': 'text/plain' })
    reply.end('this is no name of this machine\n')
  })
  await once(server.listen(port, host), 'listening').catch((cause: Error) => {
    throw portFailure(`${host}:${port}`, cause)
  })
  // The mount keeps the daemon alive, not its metrics.
  server.unref()
  const taken = server.address() as AddressInfo
  return {
    /** With the port that was taken, such as `127.0.0.1:9464`. */
    address: `${host.includes(':') ? `[${host}]` : host}:${taken.port}`,
    close: (): Promise<void> =>
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
