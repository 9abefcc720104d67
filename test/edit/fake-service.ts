// A report kept in memory behind the Remote interface, which may lose the titles of rows; it counts what it is asked.

import type { ReportPorts } from '../../src/edit/kinds/report-ports.js'
import { Failure } from '../../src/failure.js'
import { type JsonObject, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint } from '../../src/record/json/print.js'
import type { CalculationId, ReportId, ReportTypeId } from '../../src/remote/remote.js'
import { Wire } from '../../src/remote/wire/wire.js'

export interface FakeService {
  readonly ports: ReportPorts
  record: JsonObject
  /** A list that is set has no titles, and no later PUT gives it any. */
  losesTitles: boolean
  readonly requests: string[]
}

export const reportId = '42' as ReportId
const known = ['7', '12', '31', '9007199254740993']

export const { dialect } = new Wire({}, () => {})

export function fakeService(text: string): FakeService {
  const service: FakeService = {
    record: parseObject(text),
    losesTitles: false,
    requests: [],
    ports: { remote: remoteOf(() => service), dialect, resolveEntry: path => resolveIn(path) },
  }
  return service
}

async function resolveIn(path: string): Promise<CalculationId> {
  const [, id] = /^\/db\/demo\/c([0-9]+)$/.exec(path) ?? []
  if (id === undefined) throw new Failure('absent', `${path}: not there`)
  return id as CalculationId
}

function remoteOf(current: () => FakeService): ReportPorts['remote'] {
  async function carryOut(request: string, next: () => JsonObject): Promise<void> {
    const service = current()
    service.requests.push(request)
    service.record = next()
  }
  return {
    answered: async () => {},
    async report() {
      const service = current()
      service.requests.push('GET')
      return service.record
    },
    updateReport: record =>
      carryOut(`PUT ${compactPrint(record)}`, () =>
        current().losesTitles ? withField(record, 'calculations', listOf(current())) : record,
      ),
    setReportCalculations: (_, order) =>
      carryOut(`LIST ${order.join(',')}`, () => withOrder(current(), order)),
    async reportTypes() {
      return ['1', '2'].map(id => ({
        id: id as ReportTypeId,
        title: `type ${id}`,
        record: parseObject('{}'),
      }))
    },
    async calculation(id) {
      if (known.includes(id)) return parseObject(`{"id":${id}}`)
      throw new Failure('absent', 'no such calculation')
    },
  }
}

const listOf = (service: FakeService) =>
  parseObject(compactPrint(service.record)).fields.find(isList)?.value ?? nothing
const isList = (field: { name: string }) => field.name === 'calculations'
const nothing = parseObject('{}')

/** As a real service does it: rows that stay keep their title, unless it is one of those that lose them. */
function withOrder(service: FakeService, order: readonly CalculationId[]): JsonObject {
  const rows = dialect.rows(service.record) ?? []
  const titleOf = (id: string) => rows.find(row => row.calculation === id)?.title
  const items = order.map((id, at) => {
    const title = service.losesTitles ? undefined : titleOf(id)
    return parseObject(
      `{"calcId":${id},"calcOrder":${at + 1}${title === undefined ? '' : `,"title":${JSON.stringify(title)}`}}`,
    )
  })
  return withField(service.record, 'calculations', { type: 'array', items })
}
