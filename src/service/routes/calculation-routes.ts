// /calculation, its files and what is generated of them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { disposition, sendBitstream } from '../content/bitstream.js'
import type { Permission } from '../people/rights.js'
import {
  type Calculation,
  calculationById,
  deleteCalculation,
  fileNamed,
  fileNames,
  geometryFile,
  updateCalculation,
} from '../records/calculations.js'
import { missing } from '../store/refusal.js'
import {
  bodyId,
  callerOf,
  type Instance,
  idParameter,
  json,
  namedBodyOf,
  optional,
  type Query,
  required,
  wordParameter,
} from './request.js'

export function calculationRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, contents, lacks, now, rights } = instance

  /** @throws Refusal 404 or 403 */
  const allowed = (request: FastifyRequest, permission: Permission, id: string): Calculation => {
    const calculation = calculationById(store, id)
    const caller = callerOf(request)
    if (!rights.mayRead(caller, calculation.project)) throw rights.denied(`calculation ${id}`)
    rights.need(caller, permission, calculation.project)
    return calculation
  }
  const readable = (request: FastifyRequest<{ Querystring: Query }>) =>
    allowed(request, 'READ', idParameter(request.query))

  // Not Fastify's own HEAD: it sends a length of 0 where no body is made.
  const content = (url: string, handler: ContentHandler) =>
    app.route({ method: lacks.head ? ['GET'] : ['GET', 'HEAD'], url, handler, exposeHeadRoute: false })

  app.get<{ Querystring: Query }>('/calculation', (request, reply) => json(reply, readable(request).record))

  app.put('/calculation', (request, reply) => {
    const body = namedBodyOf(request, instance)
    const calculation = allowed(request, 'WRITE', bodyId(body))
    updateCalculation(store, calculation, { body, now: now() })
    return reply.send()
  })

  app.delete<{ Querystring: Query }>('/calculation', (request, reply) => {
    const calculation = allowed(request, 'FULLACCESS', idParameter(request.query))
    contents.sweep(store.together(() => deleteCalculation(store, calculation)))
    return reply.send()
  })

  app.get<{ Querystring: Query }>('/calculation/files', (request, reply) => {
    const type = wordParameter(request.query, 'type', ['files', 'cml'])
    const names = fileNames(store, readable(request).id, type ?? 'files')
    if (names.length === 0) throw missing('the calculation has no such files')
    return json(reply, lacks.unquotedLists ? `[${names.join(', ')}]` : JSON.stringify(names))
  })

  content('/calculation/files/bitstream', (request, reply) => {
    const name = required(request.query, 'fileId')
    const calculation = readable(request)
    const stored = fileNamed(store, calculation.id, name)
    if (stored === undefined) throw missing(`calculation ${calculation.id} has no such file`)
    reply.header('content-disposition', disposition(name))
    return sendBitstream(request, reply, { content: stored, path: contents.pathOf(stored.hash), lacks })
  })

  if (!lacks.onlyNinePaths)
    content('/calculation/xyz', (request, reply) => {
      const wanted = optional(request.query, 'filename')
      const calculation = readable(request)
      const stored = geometryFile(instance, calculation)
      const name = wanted ?? `${String(JSON.parse(calculation.name))}.xyz`
      reply.header('content-disposition', disposition(name))
      return sendBitstream(request, reply, { content: stored, path: contents.pathOf(stored.hash), lacks })
    })
}

type ContentHandler = (
  request: FastifyRequest<{ Querystring: Query }>,
  reply: FastifyReply,
) => Promise<FastifyReply>
