// A report kept in memory behind the Remote interface, with the ways a service fails; it counts what it is asked.

import type { ReportPorts } from '../../src/edit/kinds/report-ports.js'
import { Failure } from '../../src/failure.js'
import { equalJson } from '../../src/record/json/equal.js'
import { type JsonObject, withField } from '../../src/record/json/json.js'
import { parseObject } from '../../src/record/json/parse.js'
import { compactPrint } from '../../src/record/json/print.js'
import type { CalculationId, ReportId, ReportTypeId } from '../../src/remote/remote.js'
import { openWire } from '../../src/remote/wire/wire.js'

/** What happens to a PUT: it works, is refused, finds the record changed, fails before or after it was carried out, or answers 200 and stores nothing. */
export type Weather =
  | 'finds-it-changed'
  | 'fine'
  | 'refuses'
  | 'breaks-before'
  | 'breaks-after'
  | 'stores-nothing'
  | 'loses-titles'

export interface FakeService {
  readonly ports: ReportPorts
  record: JsonObject
  weather: Weather
  /** Reading fails, too. */
  away: boolean
  /** Called before each PUT is carried out, to make another client's change in between. */
  between: () => void
  readonly requests: string[]
}

export const reportId = '42' as ReportId
const known = ['7', '12', '31', '9007199254740993']

export const { dialect } = openWire({}, () => {})

export function fakeService(text: string): FakeService {
  const service: FakeService = {
    record: parseObject(text),
    weather: 'fine',
    away: false,
    between: () => {},
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
    service.between()
    const { weather } = service
    if (weather === 'refuses') throw new Failure('forbidden', 'the service refuses', { said: 'No.' })
    if (weather === 'finds-it-changed') throw new Failure('conflict', 'another client was first')
    if (weather === 'breaks-before') throw new Failure('timeout', 'no answer in time')
    if (weather !== 'stores-nothing') service.record = next()
    if (weather === 'breaks-after') throw new Failure('unreachable', 'the line broke')
  }
  return {
    answered: async () => {},
    async report() {
      const service = current()
      service.requests.push('GET')
      if (service.away) throw new Failure('unreachable', 'the service is away')
      return service.record
    },
    updateReport: record =>
      carryOut(`PUT ${compactPrint(record)}`, () =>
        current().weather === 'loses-titles' ? withField(record, 'calculations', listOf(current())) : record,
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
    const title = service.weather === 'loses-titles' ? undefined : titleOf(id)
    return parseObject(
      `{"calcId":${id},"calcOrder":${at + 1}${title === undefined ? '' : `,"title":${JSON.stringify(title)}`}}`,
    )
  })
  return withField(service.record, 'calculations', { type: 'array', items })
}

export const sameRecord = (service: FakeService, text: string): boolean =>
  equalJson(service.record, parseObject(text))
