// /report, its types on both their paths, and /report/calculations.
import type { FastifyInstance } from 'fastify'
import {
  insertReport,
  listIn,
  postedListField,
  type Report,
  reportById,
  reportStatuses,
  reportText,
  reportTypes,
  setList,
  touchReport,
  updateReport,
} from '../records/reports.js'
import { invalid, Refusal } from '../store/refusal.js'
import { type Asked, bodyId, type Instance, routesOf } from './request.js'

export function reportRoutes(app: FastifyInstance, instance: Instance): void {
  const { store, rights, lacks, now } = instance
  const on = routesOf(app, instance)

  /** A report belongs to one user: the API shares projects only. @throws Refusal 404 or, for another user's report, 403 */
  const own = ({ caller }: Asked, id: string): Report => {
    const report = reportById(store, id)
    if (report.owner !== caller.id) throw rights.denied(`report ${id}`)
    return report
  }

  /** Each of them has to exist and be readable; the refusal does not say which of the two fails. */
  const needCalculations = ({ caller }: Asked, list: ReturnType<typeof listIn> = []): void => {
    const projectOf = 'SELECT CAST(project AS TEXT) AS project FROM calculation WHERE id = ?'
    for (const { id } of list) {
      const found = store.first<{ project: string }>(projectOf, id)
      if (found === undefined || !rights.mayRead(caller, found.project))
        throw invalid(`there is no calculation ${id} for you`)
    }
  }

  for (const path of lacks.onlyReportType || lacks.onlyNinePaths
    ? ['/report-type']
    : ['/report/types', '/report-type'])
    on('GET', path, asked => reportTypes(store, asked.word('status', reportStatuses) ?? 'active'))

  on('GET', '/report', asked => {
    try {
      return reportText(store, own(asked, asked.id()))
    } catch (error) {
      if (!(error instanceof Refusal && error.status === 404)) throw error
      if (lacks.missingReport === 'null') return 'null'
      throw lacks.missingReport === '404' ? error : invalid(error.message)
    }
  })

  on('POST', '/report', asked => {
    const record = asked.body()
    const owner = asked.caller
    const list = listIn(record, postedListField)
    needCalculations(asked, list)
    return store.together(() => {
      const id = store.nextId('report')
      insertReport(store, { id, owner, record, date: new Date(now()).toISOString() })
      setList(store, id, list ?? [])
      return id
    })
  })

  on('PUT', '/report', asked => {
    const body = asked.body()
    const report = own(asked, bodyId(body))
    store.together(() => updateReport(store, report, { body, now: now() }))
    return undefined
  })

  on('DELETE', '/report', asked => {
    store.run('DELETE FROM report WHERE id = ?', own(asked, asked.id()).id)
    return undefined
  })

  on('PUT', '/report/calculations', asked => {
    const body = asked.body()
    const id = bodyId(body)
    const list = listIn(body, 'listCalculations')
    if (list === undefined) throw invalid('listCalculations is missing: ids with commas between them')
    const report = own(asked, id)
    needCalculations(asked, list)
    store.together(() => {
      setList(store, id, list, lacks.loseRowTitles)
      touchReport(store, report, now())
    })
    return undefined
  })
}
