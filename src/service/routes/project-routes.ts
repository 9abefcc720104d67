// /project, /project/descendant and /project/share.
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Permission } from '../people/rights.js'
import {
  calculationsBelow,
  deleteProject,
  insertProject,
  type Project,
  projectById,
  projectName,
  refuseIfPublished,
  rootOf,
  subProjects,
  updateProject,
} from '../records/projects.js'
import { idIn, type JsonRecord, parseRecord, recordText } from '../records/record.js'
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
import { askedFor, Refusal } from '../store/refusal.js'
import {
  bodyId,
  bodyOf,
  callerOf,
  depthParameter,
  type Instance,
  idParameter,
  json,
  namedBodyOf,
  type Query,
  wordParameter,
} from './request.js'

export function projectRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, rights, contents, lacks, now } = instance

  const allowed = (request: FastifyRequest, permission: Permission, id: string): Project => {
    rights.need(callerOf(request), permission, id)
    return projectById(store, id)
  }

  app.get<{ Querystring: Query }>('/project', (request, reply) => {
    const project = allowed(request, 'READ', idParameter(request.query))
    return json(reply, shown(instance, project))
  })

  app.post('/project', (request, reply) => {
    const body = namedBodyOf(request, instance)
    const caller = callerOf(request)
    const name = projectName(body)
    const named = idIn(body, 'parentId')
    if (named !== undefined) askedFor(() => rights.need(caller, 'WRITE', named))
    const parent = named ?? rootOf(store, caller.id)
    refuseIfPublished(parseRecord(projectById(store, parent).record), `project ${parent}`)
    const id = store.together(() => {
      const id = store.nextId('project')
      const date = new Date(now()).toISOString()
      insertProject(store, { id, parent, owner: caller, name, date, record: sentRecord(body) })
      return id
    })
    return json(reply, id)
  })

  app.put('/project', (request, reply) => {
    const body = namedBodyOf(request, instance)
    const project = allowed(request, 'WRITE', bodyId(body))
    if (project.parent === null) throw new Refusal(403, `project ${project.id} is the root of a user's space`)
    updateProject(store, project, { body, now: now() })
    return reply.send()
  })

  app.delete<{ Querystring: Query }>('/project', (request, reply) => {
    const project = allowed(request, 'FULLACCESS', idParameter(request.query))
    contents.sweep(store.together(() => deleteProject(store, project)))
    return reply.send()
  })

  app.get<{ Querystring: Query }>('/project/descendant', (request, reply) => {
    const of = idParameter(request.query)
    const type = wordParameter(request.query, 'type', ['calculation', 'project'])
    const depth = depthParameter(request.query)
    rights.need(callerOf(request), 'READ', of)
    const list = type === 'project' ? subProjects : calculationsBelow
    return json(reply, `[${list(store, { of, depth, bare: lacks.bareListings }).join(',')}]`)
  })
}

/** The record; where roots have no id, a root's record has none either. */
function shown({ store, lacks }: Instance, project: Project): string {
  if (!lacks.root || project.parent === null || projectById(store, project.parent).parent !== null)
    return project.record
  const record = new Map(parseRecord(project.record))
  record.delete('parentId')
  return recordText(record)
}

/** The fields of a POST that the client may set. */
function sentRecord(body: JsonRecord): JsonRecord {
  const record = new Map(body)
  for (const name of ['state', 'handle', 'creationDate', 'modificationDate']) record.delete(name)
  return record
}

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
