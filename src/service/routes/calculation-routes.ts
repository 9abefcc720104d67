// /calculation, its files and what is generated of them.
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { disposition, sendBitstream } from '../content/bitstream.js'
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
  const { store, contents, lacks, now } = instance
  const readable = (request: FastifyRequest<{ Querystring: Query }>) =>
    allowed(instance, request, { id: idParameter(request.query), permission: 'READ' })

  // Not Fastify's own HEAD: it sends a length of 0 where no body is made.
  const content = (url: string, handler: ContentHandler) =>
    app.route({ method: lacks.head ? ['GET'] : ['GET', 'HEAD'], url, handler, exposeHeadRoute: false })

  app.get<{ Querystring: Query }>('/calculation', (request, reply) => json(reply, readable(request).record))

  app.put('/calculation', (request, reply) => {
    const body = namedBodyOf(request, instance)
    const calculation = allowed(instance, request, { id: bodyId(body), permission: 'WRITE' })
    updateCalculation(store, calculation, { body, now: now() })
    return reply.send()
  })

  app.delete<{ Querystring: Query }>('/calculation', (request, reply) => {
    const calculation = allowed(instance, request, {
      id: idParameter(request.query),
      permission: 'FULLACCESS',
    })
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

interface Need {
  readonly id: string
  readonly permission: 'READ' | 'WRITE' | 'FULLACCESS'
}

/** A calculation the caller has this right on. @throws Refusal 404 or 403 */
function allowed(
  { store, rights }: Instance,
  request: FastifyRequest,
  { id, permission }: Need,
): Calculation {
  const calculation = calculationById(store, id)
  const caller = callerOf(request)
  if (!rights.mayRead(caller, calculation.project)) throw rights.denied(`calculation ${id}`)
  rights.need(caller, permission, calculation.project)
  return calculation
}
