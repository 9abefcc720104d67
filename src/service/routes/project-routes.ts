// /project, /project/descendant and /project/share.
import type { FastifyInstance } from 'fastify'
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
import { idIn, parseRecord, recordText } from '../records/record.js'
import {
  insertShare,
  permissionIn,
  type Share,
  shareById,
  sharedProject,
  sharedUser,
  sharesOf,
  updateShare,
} from '../records/shares.js'
import { askedFor, Refusal } from '../store/refusal.js'
import { type Asked, bodyId, type Instance, routesOf } from './request.js'

export function projectRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, rights, contents, lacks, now } = instance
  const on = routesOf(app, instance)

  const allowed = ({ caller }: Asked, permission: Permission, id: string): Project => {
    rights.need(caller, permission, id)
    return projectById(store, id)
  }

  on('GET', '/project', asked => shown(instance, allowed(asked, 'READ', asked.id())))

  on('POST', '/project', asked => {
    const { caller } = asked
    const record = new Map(asked.body())
    const name = projectName(record)
    const named = idIn(record, 'parentId')
    if (named !== undefined) askedFor(() => rights.need(caller, 'WRITE', named))
    const parent = named ?? rootOf(store, caller.id)
    refuseIfPublished(parseRecord(projectById(store, parent).record), `project ${parent}`)
    // Not the client's to set.
    for (const field of ['state', 'handle', 'creationDate', 'modificationDate']) record.delete(field)
    return store.together(() => {
      const id = store.nextId('project')
      insertProject(store, { id, parent, owner: caller, name, date: new Date(now()).toISOString(), record })
      return id
    })
  })

  on('PUT', '/project', asked => {
    const body = asked.body()
    const project = allowed(asked, 'WRITE', bodyId(body))
    if (project.parent === null) throw new Refusal(403, `project ${project.id} is the root of a user's space`)
    updateProject(store, project, { body, now: now() })
    return undefined
  })

  on('DELETE', '/project', asked => {
    const project = allowed(asked, 'FULLACCESS', asked.id())
    contents.sweep(store.together(() => deleteProject(store, project)))
    return undefined
  })

  on('GET', '/project/descendant', asked => {
    const of = asked.id()
    const list =
      asked.word('type', ['calculation', 'project']) === 'project' ? subProjects : calculationsBelow
    const depth = asked.depth()
    rights.need(asked.caller, 'READ', of)
    return `[${list(store, { of, depth, bare: lacks.bareListings }).join(',')}]`
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

export function shareRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, rights } = instance
  const on = routesOf(app, instance)

  const allowed = ({ caller }: Asked, id: string): Share => {
    const share = shareById(store, id)
    rights.need(caller, 'FULLACCESS', share.project)
    return share
  }

  on('GET', '/project/share', asked => {
    const project = asked.id()
    rights.need(asked.caller, 'READ', project)
    return `[${sharesOf(store, project).join(',')}]`
  })

  on('POST', '/project/share', asked => {
    const record = asked.body()
    permissionIn(record)
    const project = sharedProject(record)
    askedFor(() => rights.need(asked.caller, 'FULLACCESS', project))
    const user = sharedUser(store, record)
    return store.together(() => {
      const id = store.nextId('share')
      insertShare(store, { id, project, user, record })
      return id
    })
  })

  on('PUT', '/project/share', asked => {
    const body = asked.body()
    updateShare(store, allowed(asked, bodyId(body, 'shareId')), body)
    return undefined
  })

  on('DELETE', '/project/share', asked => {
    store.run('DELETE FROM share WHERE id = ?', allowed(asked, asked.id('shareId')).id)
    return undefined
  })
}
