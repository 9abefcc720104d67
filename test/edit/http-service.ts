// The least of a service over real HTTP: one report, its two PUTs, and what came in.
import { once } from 'node:events'
import { createServer, type IncomingMessage } from 'node:http'
import type { ReportPorts } from '../../src/edit/kinds/report-ports.js'
import { Failure } from '../../src/failure.js'
import { type JsonObject, numberJson, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint } from '../../src/record/json/print.js'
import { dialect } from './fake-service.js'

export interface HttpService {
  readonly address: string
  record: JsonObject
  /** The PUTs that were carried out, in order. */
  readonly carriedOut: string[]
  close(): Promise<void>
}

export async function startHttpService(text: string): Promise<HttpService> {
  const carriedOut: string[] = []
  const server = createServer(async (request, response) => {
    const body = await bodyOf(request)
    if (request.method === 'PUT') {
      carriedOut.push(request.url ?? '')
      service.record = request.url === '/report' ? parseObject(body) : withOrder(service.record, body)
    }
    response.setHeader('connection', 'close')
    response.end(compactPrint(service.record))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('a port is due')
  const close = async () => {
    server.close()
    server.closeAllConnections()
    await once(server, 'close')
  }
  const service: HttpService = {
    address: `http://127.0.0.1:${address.port}`,
    record: parseObject(text),
    carriedOut,
    close,
  }
  return service
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece)
  return Buffer.concat(pieces).toString()
}

function withOrder(record: JsonObject, body: string): JsonObject {
  return withField(record, 'calculations', { type: 'array', items: body.split(',').map(numberJson) })
}

/** The ports of a report over this service. */
export function overHttp(address: string): ReportPorts {
  const ask = async (path: string, method: string, body: string | null): Promise<string> => {
    try {
      return await (await fetch(`${address}${path}`, { method, body })).text()
    } catch (cause) {
      throw new Failure('unreachable', 'the service is away', { cause })
    }
  }
  return {
    dialect,
    resolveEntry: async path => {
      throw new Failure('absent', path)
    },
    remote: {
      answered: async () => {},
      report: async () => parseObject(await ask('/report', 'GET', null)),
      updateReport: async record => void (await ask('/report', 'PUT', compactPrint(record))),
      setReportCalculations: async (_, order) =>
        void (await ask('/report/calculations', 'PUT', order.join(','))),
      reportTypes: async () => [],
      calculation: async id => parseObject(`{"id":${id}}`),
    },
  }
}
