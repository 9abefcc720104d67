// A report's order as a record of its own: the lines become the report's list, on the list that their writer had.
import { Failure } from '../failure.js'
import { escapeCell } from '../record/cell.js'
import { type JsonObject, stringJson } from '../record/json.js'
import type { Ask, CalculationId, Dialect, ReportId, ReportRow } from '../remote/remote.js'
import { idForm } from '../remote/remote.js'
import { type Candidate, chooseBase } from './base.js'
import type { EditableRecord, Meant } from './editable.js'
import { type OrderLine, orderLines } from './order-text.js'
import { editableReport } from './report.js'
import { calculationOf } from './report-list.js'
import type { ReportPorts } from './report-ports.js'

/** The report, edited by the lines of its order; saved as any edit of its list is. */
export function editableOrder(
  ports: ReportPorts,
  id: ReportId,
): EditableRecord & Required<Pick<EditableRecord, 'mean'>> {
  const report = editableReport(ports, id)

  async function mean(text: string, meant: Meant, ask: Ask): Promise<{ base: JsonObject; mine: JsonObject }> {
    const lines = orderLines(text)
    if (lines.length === 0) {
      throw new Failure(
        'refused',
        `an empty order clears nothing; to clear the list write [] for it in ${id}.json`,
      )
    }
    const wanted = await Promise.all(lines.map(line => rowOf(ports, line, ask)))
    const shown = (record: JsonObject) => rowsShown(ports.dialect, id, record)
    const base = chooseByRows(shown, meant, wanted) ?? report.plain(await report.read(ask))
    const rows = wanted.map(row => titled(row, [base, ...meant.known.map(known => known.record)].map(shown)))
    return { base, mine: ports.dialect.withRows(base, rows) }
  }

  return { ...report, mean }
}

function rowsShown(dialect: Dialect, id: ReportId, record: JsonObject): readonly ReportRow[] {
  const rows = dialect.rows(record)
  if (rows !== undefined) return rows
  throw new Failure(
    'refused',
    `the service does not show the calculations of report ${id}, and a new list would replace them unseen; if it shall: calcfs report set ${id} ID…`,
  )
}

async function rowOf(ports: ReportPorts, { line, entry, title }: OrderLine, ask: Ask): Promise<ReportRow> {
  try {
    const known = idForm.test(entry)
      ? ({ as: 'id', calculation: entry as CalculationId, title } as const)
      : ({ as: 'path', path: entry, title } as const)
    return { calculation: await calculationOf(ports, known, ask), title }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.kind !== 'refused') throw thrown
    throw new Failure('refused', `line ${line}: ${thrown.message}`, {
      cause: thrown,
      said: thrown.said,
      place: { line, column: 1 },
    })
  }
}

/** A title that was written; else the one its row has or once had: rows may go out and come back. */
function titled(row: ReportRow, known: readonly (readonly ReportRow[])[]): ReportRow {
  const earlier = known.flatMap(rows =>
    rows.filter(one => one.calculation === row.calculation && one.title !== undefined).slice(0, 1),
  )
  const same = earlier.find(({ title = '' }) => escapeCell(title).trim() === row.title)
  return { calculation: row.calculation, title: same?.title ?? row.title ?? earlier[0]?.title }
}

/**
 * The text of the report whose list the writer had: lists are compared row by row, because as a field of the report one
 * list is as different from another as any.
 */
function chooseByRows(
  shown: (record: JsonObject) => readonly ReportRow[],
  { known, held }: Meant,
  wanted: readonly ReportRow[],
): JsonObject | undefined {
  const origins = new Map<JsonObject, JsonObject>()
  const seen = (record: JsonObject): JsonObject => {
    const neighbours = neighboursOf(shown(record))
    origins.set(neighbours, record)
    return neighbours
  }
  const candidates: Candidate[] = known.map(one => ({ ...one, record: seen(one.record) }))
  const own = held === undefined ? undefined : seen(held)
  const base = chooseBase(candidates, neighboursOf(wanted), own)
  return base === undefined ? undefined : origins.get(base.record)
}

/** A list as fields that say who comes after whom; what moved, came or went changes few of them. */
function neighboursOf(rows: readonly ReportRow[]): JsonObject {
  const times = new Map<string, number>()
  let before = ''
  const fields = rows.map(({ calculation }) => {
    const time = (times.get(calculation) ?? 0) + 1
    times.set(calculation, time)
    const name = `${calculation} ${time}`
    const field = { name, rawName: JSON.stringify(name), value: stringJson(before) }
    before = name
    return field
  })
  return { type: 'object', fields: [...fields, last(before)] }
}

const last = (name: string) => ({ name: 'end', rawName: '"end"', value: stringJson(name) })
