// /project/share.
import type { FastifyInstance } from 'fastify'
import {
  deleteShare,
  insertShare,
  permissionIn,
  shareById,
  sharedProject,
  sharedUser,
  sharesOf,
  updateShare,
} from '../records/shares.js'
import { askedFor } from '../store/refusal.js'
import { json } from './answer.js'
import { bodyId, bodyOf, callerOf } from './caller.js'
import type { Instance } from './instance.js'
import { idParameter, type Query } from './parameters.js'

export function shareRoutes(app: FastifyInstance, { store, rights }: Instance): void {
  app.get<{ Querystring: Query }>('/project/share', (request, reply) => {
    const project = idParameter(request.query)
    rights.need(callerOf(request), 'READ', project)
    return json(reply, `[${sharesOf(store, project).join(',')}]`)
  })

  app.post('/project/share', (request, reply) => {
    const record = bodyOf(request)
    permissionIn(record)
    const project = sharedProject(record)
    askedFor(() => rights.need(callerOf(request), 'FULLACCESS', project))
    const user = sharedUser(store, record)
    const id = store.together(() => {
      const id = store.nextId('share')
      insertShare(store, { id, project, user, record })
      return id
    })
    return json(reply, id)
  })

  app.put('/project/share', (request, reply) => {
    const body = bodyOf(request)
    const share = shareById(store, bodyId(body, 'shareId'))
    rights.need(callerOf(request), 'FULLACCESS', share.project)
    updateShare(store, share, body)
    return reply.send()
  })

  app.delete<{ Querystring: Query }>('/project/share', (request, reply) => {
    const share = shareById(store, idParameter(request.query, 'shareId'))
    rights.need(callerOf(request), 'FULLACCESS', share.project)
    deleteShare(store, share)
    return reply.send()
  })
}
