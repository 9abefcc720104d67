// /report, its types on both their paths, and /report/calculations.
import type { FastifyInstance } from 'fastify'
import type { User } from '../people/users.js'
import { textIn } from '../records/record.js'
import {
  deleteReport,
  insertReport,
  listedIds,
  postedList,
  type Report,
  reportById,
  reportStatuses,
  reportText,
  reportTypes,
  setList,
  touchReport,
  updateReport,
} from '../records/reports.js'
import { invalid, missing, Refusal } from '../store/refusal.js'
import {
  bodyId,
  bodyOf,
  callerOf,
  type Instance,
  idParameter,
  json,
  namedBodyOf,
  type Query,
  wordParameter,
} from './request.js'

export function reportRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, lacks, now } = instance

  for (const path of lacks.onlyReportType || lacks.onlyNinePaths
    ? ['/report-type']
    : ['/report/types', '/report-type']) {
    app.get<{ Querystring: Query }>(path, (request, reply) =>
      json(reply, reportTypes(store, wordParameter(request.query, 'status', reportStatuses) ?? 'active')),
    )
  }

  app.get<{ Querystring: Query }>('/report', (request, reply) => {
    const id = idParameter(request.query)
    const report = reportById(store, id)
    if (report === undefined || (lacks.hide && report.owner !== callerOf(request).id)) {
      if (lacks.missingReport === 'null') return json(reply, 'null')
      throw new Refusal(lacks.missingReport === '404' ? 404 : 400, `there is no report ${id}`)
    }
    needOwner(instance, report, callerOf(request))
    return json(reply, reportText(store, report))
  })

  app.post('/report', (request, reply) => {
    const record = namedBodyOf(request, instance)
    const owner = callerOf(request)
    const list = postedList(record)
    if (list !== undefined) needCalculations(instance, list, owner)
    const id = store.together(() => {
      const id = store.nextId('report')
      insertReport(store, { id, owner, record, date: new Date(now()).toISOString() })
      if (list !== undefined) setList(store, { report: id, list, loseTitles: false })
      return id
    })
    return json(reply, id)
  })

  app.put('/report', (request, reply) => {
    const body = namedBodyOf(request, instance)
    const report = ownReport(instance, bodyId(body), callerOf(request))
    store.together(() => updateReport(store, report, { body, now: now() }))
    return reply.send()
  })

  app.delete<{ Querystring: Query }>('/report', (request, reply) => {
    deleteReport(store, ownReport(instance, idParameter(request.query), callerOf(request)))
    return reply.send()
  })

  app.put('/report/calculations', (request, reply) => {
    const body = bodyOf(request)
    const id = bodyId(body)
    const written = textIn(body, 'listCalculations')
    if (written === undefined) throw invalid('listCalculations is missing: ids with commas between them')
    const list = listedIds(written, 'listCalculations')
    const report = ownReport(instance, id, callerOf(request))
    needCalculations(instance, list, callerOf(request))
    store.together(() => {
      setList(store, { report: report.id, list, loseTitles: lacks.loseRowTitles })
      touchReport(store, report, now())
    })
    return reply.send()
  })
}

/** A report belongs to one user: the API shares projects only. */
function needOwner({ rights }: Instance, report: Report, caller: User): void {
  if (report.owner !== caller.id) throw rights.denied(`report ${report.id}`)
}

/** @throws Refusal 404 or, for another user's report, 403 */
function ownReport(instance: Instance, id: string, caller: User): Report {
  const report = reportById(instance.store, id)
  if (report === undefined) throw missing(`there is no report ${id}`)
  needOwner(instance, report, caller)
  return report
}

/** Each of them has to exist and be readable; the refusal does not say which of the two fails. */
function needCalculations({ store, rights }: Instance, ids: readonly string[], caller: User): void {
  const projectOf = 'SELECT CAST(project AS TEXT) AS project FROM calculation WHERE id = ?'
  for (const id of ids) {
    const found = store.first<{ project: string }>(projectOf, id)
    if (found === undefined || !rights.mayRead(caller, found.project))
      throw invalid(`there is no calculation ${id} for you`)
  }
}
