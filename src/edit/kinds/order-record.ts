// Order of a report, `order.txt`: its list as lines of id, title and path; edited lines are merged with the list that their writer had.
import { posix } from 'node:path'
import { Failure } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { emptyObject, type JsonObject, stringJson, withField } from '../../record/json/json.js'
import { continuedRows } from '../../record/match-rows.js'
import { escapeCell, quotedCell, unquotedCell } from '../../record/tsv.js'
import type { CalculationId, ReportId, ReportRow, RequestContext } from '../../remote/remote.js'
import { idForm } from '../../remote/remote.js'
import { chooseBase, type Distance, latestFor } from '../save/base.js'
import type { EditableRecord, KnownBases } from '../save/editable.js'
import { editableReport, sameOrder } from './report.js'
import { resolveEntryId, unseenList } from './report-list.js'
import type { ReportPorts } from './report-type.js'

interface OrderLine {
  /** As in an editor, counted from 1. */
  readonly line: number
  readonly entry: string
  /** Undefined where the line has no such cell; empty where it was emptied. */
  readonly title: string | undefined
  /** The path beside an id; it must be that one's. */
  readonly path: string
}

/** The list as it is shown; a tab or a line end in a title is escaped. */
export function orderText(rows: readonly ReportRow[]): string {
  return rows
    .map(({ calculation, title }) => `${calculation}\t${quotedCell(title ?? '')}\t${byIdPath(calculation)}\n`)
    .join('')
}

const byIdPath = (calculation: string): string => `/by-id/calculation/${calculation}`

/**
 * The lines that are not blank. Where a line has tabs its first cell counts, or the path where that is empty.
 * @throws Failure 'refused' for a line that says more than one calculation: two lines joined, a tab in a title
 */
function orderLines(text: string): readonly OrderLine[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((written, at): OrderLine[] => {
      if (written.trim() === '') return []
      const line = at + 1
      const cells = written.split('\t').map(cell => unquotedCell(cell.trim()))
      const [first = '', title, path = ''] = cells
      if (cells.slice(3).some(cell => cell !== ''))
        throw new Failure(
          'refused',
          `line ${line} has more than an id, a title and a path: one calculation a line, no tabs in a title`,
        )
      return [{ line, entry: first === '' ? path : first, title, path: first === '' ? '' : path }]
    })
}

/** The report, edited by the lines of its order; saved as any edit of its list is. */
export function editableOrder(
  ports: ReportPorts,
  id: ReportId,
): EditableRecord & Required<Pick<EditableRecord, 'mean'>> {
  const report = editableReport(ports, id)
  const shown = (record: JsonObject): readonly ReportRow[] => {
    const rows = ports.dialect.lists.rows(record)
    if (rows === undefined) throw unseenList(id)
    return rows
  }
  return {
    ...report,
    async mean(text, meant, context) {
      const lines = orderLines(text)
      if (lines.length === 0)
        throw new Failure(
          'refused',
          `an empty order clears nothing; to clear the list write [] for it in ${id}.json`,
        )
      const wanted = await Promise.all(
        lines.map(line => rowOf(ports, { ...line, entry: fromFolder(id, line.entry) }, context)),
      )
      // A writer of these lines had none of those without a list.
      const known = meant.known.filter(({ record }) => ports.dialect.lists.rows(record) !== undefined)
      const base =
        chooseByRows(shown, { ...meant, known }, wanted) ?? ports.dialect.plain(await report.read(context))
      const earlier = known.flatMap(({ record }) => shown(record))
      const before = shown(base)
      const continued = continuedRows(wanted, before.map(cellsOf))
      const rows = wanted.map((row, at) => titled(row, before[continued[at] ?? -1], [before, earlier]))
      const isSame = sameOrder(before, rows) && rows.every(({ title }, at) => title === before[at]?.title)
      // The record's own list may say the same in another form.
      return { base, mine: isSame ? base : ports.dialect.lists.withRows(base, rows) }
    },
  }
}

/** A path that begins with a dot, as a shell writes it, or a name of the folder's own links, is meant from there. */
function fromFolder(id: ReportId, entry: string): string {
  const isFromFolder = /^\.\.?\//.test(entry) || /^\d+-[^/]*$/.test(entry)
  return isFromFolder ? posix.join(`/${fixedNames.reports}/${id}`, entry) : entry
}

async function rowOf(ports: ReportPorts, order: OrderLine, context: RequestContext): Promise<ReportRow> {
  const { line, entry, title } = order
  try {
    const known = idForm.test(entry)
      ? ({ as: 'id', calculation: entry as CalculationId, title } as const)
      : ({ as: 'path', path: entry, title } as const)
    const calculation = await resolveEntryId(ports, known, context)
    await refuseOtherPath(ports, calculation, order, context)
    return { calculation, title }
  } catch (thrown) {
    if (!(thrown instanceof Failure) || thrown.kind !== 'refused') throw thrown
    throw new Failure('refused', `line ${line}: ${thrown.message}`, { cause: thrown, said: thrown.said })
  }
}

/** An id and the path of another calculation: which of the two is meant is not known. */
async function refuseOtherPath(
  ports: ReportPorts,
  calculation: CalculationId,
  { path }: OrderLine,
  context: RequestContext,
): Promise<void> {
  if (path === '' || path === byIdPath(calculation)) return
  const other = await resolveEntryId(ports, { as: 'path', path, title: undefined }, context)
  if (other === calculation) return
  throw new Failure('refused', `${calculation} is not the calculation at ${path}, which is ${other}`)
}

const cellsOf = ({ calculation, title }: ReportRow) => ({ calculation, title: cellOf(title) })
const cellOf = (title: string | undefined): string => escapeCell(title ?? '').trim()

/** A title that was written; else the one of the row that stays, or that it had once: rows may go out and come back. */
function titled(
  row: ReportRow,
  stays: ReportRow | undefined,
  [base, known]: readonly [readonly ReportRow[], readonly ReportRow[]],
): ReportRow {
  const same = (one: ReportRow) => one.calculation === row.calculation
  // Where the calculation is there already, one more row of it is a new one.
  const gone = base.some(same) ? [] : known.filter(one => same(one) && one.title !== undefined)
  const earlier = stays === undefined ? gone : [stays]
  const written = earlier.find(({ title }) => cellOf(title) === row.title)
  // A cell that was emptied takes the title away; a row whose cell was empty says nothing by it.
  if (row.title === '')
    return { calculation: row.calculation, title: emptied(stays?.title, earlier[0]?.title) }
  return { calculation: row.calculation, title: written?.title ?? row.title ?? earlier[0]?.title }
}

function emptied(stayed: string | undefined, earlier: string | undefined): string | undefined {
  if (stayed === undefined) return earlier
  return cellOf(stayed) === '' ? stayed : ''
}

/**
 * The text of the report whose list the writer had. As a field one list is as different from another as any: the
 * nearest is the one of which the fewest rows came, went or moved.
 */
function chooseByRows(
  shown: (record: JsonObject) => readonly ReportRow[],
  { known, held, isOpened, by }: KnownBases,
  wanted: readonly ReportRow[],
): JsonObject | undefined {
  const order = idsOf(wanted)
  const distance = (rows: readonly ReportRow[]): Distance => {
    const { apart, moved } = orderDistance(idsOf(rows), order)
    return { apart: apart + titlesApart(rows, wanted) / (wanted.length + 1), moved }
  }
  // Lines that become those of their base again are compared with all, as any lines of before.
  const isApart = ({ apart, moved }: Distance) => apart + moved > 0
  if (held !== undefined && (isOpened || isApart(distance(shown(held))))) return held
  const candidates = known.map(one => {
    const rows = shown(one.record)
    return { ...one, whole: one.record, rows, record: listAlone(rows) }
  })
  const mine = listAlone(wanted)
  // A whole new list is nearer to none of them: it takes the place of the newest.
  const isNew = !candidates.some(({ rows }) => idsOf(rows).some(id => order.includes(id)))
  const base = isNew
    ? latestFor(known, { mine, by })
    : chooseBase(candidates, { mine, by }, ({ rows }) => distance(rows))?.one.whole
  return base ?? held
}

function titlesApart(rows: readonly ReportRow[], wanted: readonly ReportRow[]): number {
  const cells = new Set(rows.map(row => `${row.calculation} ${cellOf(row.title)}`))
  const isOther = ({ calculation, title }: ReportRow) =>
    title !== undefined && !cells.has(`${calculation} ${title}`)
  return wanted.filter(isOther).length
}

const idsOf = (rows: readonly ReportRow[]) => rows.map(row => row.calculation)

const listAlone = (rows: readonly ReportRow[]): JsonObject =>
  withField(emptyObject, 'list', stringJson(idsOf(rows).join(',')))

/** 0 for the same order; rows that came or went weigh more than any number of moves. */
function orderDistance(one: readonly string[], other: readonly string[]): Distance {
  const before = numbered(one)
  const after = numbered(other)
  const places = new Map(before.map((row, place) => [row, place]))
  const kept = after.flatMap(row => places.get(row) ?? [])
  const cameAndWent = before.length + after.length - 2 * kept.length
  return { apart: cameAndWent * (after.length + 1), moved: kept.length - longestRun(kept) }
}

/** A calculation may stand twice: each time it is a row of its own. */
function numbered(order: readonly string[]): string[] {
  const times = new Map<string, number>()
  return order.map(id => {
    const time = (times.get(id) ?? 0) + 1
    times.set(id, time)
    return `${id} ${time}`
  })
}

/** The length of the longest growing part of a sequence: what is left where it is when the rest is moved. */
function longestRun(places: readonly number[]): number {
  // ends[n] is the smallest place in which a run of n + 1 can end.
  const ends: number[] = []
  for (const place of places) {
    let [low, high] = [0, ends.length]
    while (low < high) {
      const middle = (low + high) >> 1
      if ((ends[middle] ?? 0) < place) low = middle + 1
      else high = middle
    }
    ends[low] = place
  }
  return ends.length
}
