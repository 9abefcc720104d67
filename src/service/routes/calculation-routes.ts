// /calculation, its files and what is generated of them.
import type { FastifyInstance, FastifyReply } from 'fastify'
import { sendBitstream } from '../content/bitstream.js'
import type { StoredContent } from '../content/contents.js'
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
import { Asked, bodyId, type Instance, routesOf } from './request.js'

export function calculationRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, contents, lacks, now, rights } = instance
  const on = routesOf(app, instance)

  /** @throws Refusal 404 or 403 */
  const allowed = ({ caller }: Asked, permission: Permission, id: string): Calculation => {
    const calculation = calculationById(store, id)
    if (!rights.mayRead(caller, calculation.project)) throw rights.denied(`calculation ${id}`)
    rights.need(caller, permission, calculation.project)
    return calculation
  }
  const readable = (asked: Asked): Calculation => allowed(asked, 'READ', asked.id())

  // Not Fastify's own HEAD: it sends a length of 0 where no body is made.
  const content = (url: string, find: (asked: Asked) => { name: string; content: StoredContent }): void => {
    app.route({
      method: lacks.head ? ['GET'] : ['GET', 'HEAD'],
      url,
      exposeHeadRoute: false,
      handler(request, reply): Promise<FastifyReply> {
        const { name, content } = find(new Asked(request, instance))
        return sendBitstream(request, reply, { name, content, path: contents.pathOf(content.hash), lacks })
      },
    })
  }

  on('GET', '/calculation', asked => readable(asked).record)

  on('PUT', '/calculation', asked => {
    const body = asked.body()
    updateCalculation(store, allowed(asked, 'WRITE', bodyId(body)), { body, now: now() })
    return undefined
  })

  on('DELETE', '/calculation', asked => {
    const calculation = allowed(asked, 'FULLACCESS', asked.id())
    contents.sweep(store.together(() => deleteCalculation(store, calculation)))
    return undefined
  })

  on('GET', '/calculation/files', asked => {
    const type = asked.word('type', ['files', 'cml'])
    const names = fileNames(store, readable(asked).id, type ?? 'files')
    if (names.length === 0) throw missing('the calculation has no such files')
    return lacks.unquotedLists ? `[${names.join(', ')}]` : JSON.stringify(names)
  })

  content('/calculation/files/bitstream', asked => {
    const name = asked.required('fileId')
    const { id } = readable(asked)
    const content = fileNamed(store, id, name)
    if (content === undefined) throw missing(`calculation ${id} has no such file`)
    return { name, content }
  })

  if (!lacks.onlyNinePaths)
    content('/calculation/xyz', asked => {
      const wanted = asked.optional('filename')
      const calculation = readable(asked)
      return {
        name: wanted ?? `${String(JSON.parse(calculation.name))}.xyz`,
        content: geometryFile(instance, calculation),
      }
    })
}
