// `calcfs report`: a report is made known, its list replaced by an explicit wish, its order changed together with its formulas.
import type { Draft } from '../../edit/journal/draft.js'
import { editableOrder } from '../../edit/kinds/order-record.js'
import { calculationOf, checkedRows } from '../../edit/kinds/report-list.js'
import { renumberedReport } from '../../edit/kinds/report-renumber.js'
import { Failure } from '../../failure.js'
import { formulasIn } from '../../record/formulas.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import {
  type Ask,
  type CalculationId,
  idForm,
  instant,
  type ListEntry,
  type ReportId,
  type ReportRow,
} from '../../remote/remote.js'
import type { Answered, Control, ListSet, NewOrder } from '../interface/control.js'
import type { RecordSource } from '../records/source.js'
import type { ControlParts } from './context.js'

/** The unsent texts of one report. */
interface Unsent {
  readonly record: Draft | undefined
  readonly order: Draft | undefined
}

export function openReportControl(
  parts: ControlParts,
): Pick<Control, 'addReport' | 'setReport' | 'renumber'> {
  const { catalog, drafts, reports, writing } = parts
  const { ports, records } = writing
  const { dialect, remote } = ports
  const until = (milliseconds: number): Ask => ({
    deadline: instant(parts.now() + milliseconds),
    lane: 'user',
  })

  async function readNow(id: ReportId, ask: Ask): Promise<JsonObject> {
    try {
      return await remote.report(id, ask)
    } catch (thrown) {
      if (!(thrown instanceof Failure) || thrown.kind !== 'absent') throw thrown
      throw new Failure('absent', `the service has no report ${id}, or does not show it to you`, {
        cause: thrown,
        said: thrown.said,
      })
    }
  }

  async function addReport(given: string): Promise<Answered<'addReport'>> {
    const id = reportId(given)
    const record = await readNow(id, until(parts.deadlines.metadata))
    catalog.learnRecord({ kind: 'report', id }, record)
    reports.add(id, record)
    return { title: dialect.facts(record).title ?? '' }
  }

  function editingOf(source: RecordSource): Exclude<RecordSource['editing'], Failure> {
    if (source.editing instanceof Failure) throw source.editing
    return source.editing
  }

  async function setReport(given: string, entries: readonly string[]): Promise<ListSet> {
    const id = reportId(given)
    const ask = until(parts.deadlines.save)
    const source = writing.source({ kind: 'record', of: 'report', id })
    editingOf(source)
    const now = await readNow(id, ask)
    const old = dialect.rows(now) ?? []
    const rows = await checkedRows(ports, old, entries.map(entryOf), ask)
    if (dialect.rows(now) === undefined) return setUnseen({ id, rows }, ask)
    await saveBeside(source, { now, whole: dialect.withRows(now, rows) }, ask)
    return { order: idsOf(catalog.knownRecord({ kind: 'report', id })) ?? rowIds(rows), shown: true }
  }

  /** What this list replaces nobody can see; the service's answer is all there is to tell by. */
  async function setUnseen(
    { id, rows }: { id: ReportId; rows: readonly ReportRow[] },
    ask: Ask,
  ): Promise<ListSet> {
    const order = rows.map(row => row.calculation)
    await remote.setReportCalculations(id, order, ask)
    const stored = await readNow(id, ask)
    catalog.learnRecord({ kind: 'report', id }, stored)
    reports.add(id, stored)
    const shown = idsOf(stored)
    if (shown !== undefined && shown.join() !== order.join()) {
      throw new Failure('broken', `the service answered well, but has the list ${shown.join(', ')} now`)
    }
    return { order, shown: shown !== undefined }
  }

  /** A text of its own, saved like any other and based on what was just read; a draft that waits here is not touched. */
  async function saveBeside(
    source: RecordSource,
    { now, whole }: { now: JsonObject; whole: JsonObject },
    ask: Ask,
  ): Promise<void> {
    const editing = editingOf(source)
    const base = Buffer.from(prettyPrint(now))
    const draft = await editing.begin(base)
    try {
      await draft.write(Buffer.from(prettyPrint(whole)), 0)
      await editing.save(draft, base, ask)
    } finally {
      await draft.discard()
    }
  }

  function unsentOf(id: ReportId): Unsent {
    const own = drafts.unsent().filter(({ key }) => key?.kind === 'report' && key.id === id)
    return {
      record: own.find(({ key }) => key?.as === undefined),
      order: own.find(({ key }) => key?.as === 'order'),
    }
  }

  async function renumber(given: string, entries: readonly string[] | undefined): Promise<NewOrder> {
    const id = reportId(given)
    const ask = until(parts.deadlines.save)
    const source = writing.source({ kind: 'record', of: 'report', id })
    editingOf(source)
    const now = await readNow(id, ask)
    const unsent = unsentOf(id)
    const mine = unsent.record === undefined ? now : parseObject(await unsent.record.text())
    const rows = await rowsWanted({ id, now, mine, unsent, entries }, ask)
    const whole = renumberedReport(dialect, { now, mine, rows })
    if (unsent.record !== undefined && records.draftOf(source.key)?.id === unsent.record.id)
      await records.replace(source, { text: Buffer.from(prettyPrint(whole)) }, ask)
    else await saveBeside(source, { now, whole }, ask)
    if (unsent.order !== undefined) await writing.end(unsent.order)
    return {
      order: rowIds(rows),
      before: formulasIn(dialect.configuration(now) ?? '').texts,
      after: formulasIn(dialect.configuration(whole) ?? '').texts,
    }
  }

  async function rowsWanted(
    wish: {
      id: ReportId
      now: JsonObject
      mine: JsonObject
      unsent: Unsent
      entries: readonly string[] | undefined
    },
    ask: Ask,
  ): Promise<readonly ReportRow[]> {
    const { id, unsent } = wish
    if (wish.entries !== undefined) return rowsOf(wish.entries.map(entryOf), ask)
    if (unsent.order !== undefined && unsent.record !== undefined) {
      throw new Failure(
        'refused',
        `there are two unsent orders of report ${id}, ${id}.json and ${id}-order.txt; give one up with \`calcfs drafts drop\``,
      )
    }
    if (unsent.order !== undefined) {
      const meant = { known: [], held: wish.now }
      const order = await editableOrder(ports, id).mean(await unsent.order.text(), meant, ask)
      return dialect.rows(order.mine) ?? []
    }
    const written = unsent.record === undefined ? undefined : dialect.entries(wish.mine, wish.now)
    if (written !== undefined) return rowsOf(written, ask)
    throw new Failure(
      'refused',
      `report ${id} has no unsent order; change its list and save, or write the new order: calcfs report renumber ${id} CALC…`,
    )
  }

  const rowsOf = (entries: readonly ListEntry[], ask: Ask): Promise<readonly ReportRow[]> =>
    Promise.all(
      entries.map(async entry => ({
        calculation: await calculationOf(ports, entry, ask),
        title: entry.as === 'nonsense' ? undefined : entry.title,
      })),
    )

  function idsOf(record: JsonObject | undefined): readonly CalculationId[] | undefined {
    const rows = record === undefined ? undefined : dialect.rows(record)
    return rows === undefined ? undefined : rowIds(rows)
  }

  return {
    addReport: ({ id }) => addReport(id),
    setReport: ({ id, entries }) => setReport(id, entries),
    renumber: ({ id, entries }) => renumber(id, entries),
  }
}

const rowIds = (rows: readonly ReportRow[]): readonly CalculationId[] => rows.map(row => row.calculation)

/** What is no number is a path: of the drive, below its mount point, or of the web pages. */
const entryOf = (text: string): Exclude<ListEntry, { as: 'nonsense' }> =>
  idForm.test(text)
    ? { as: 'id', calculation: text as CalculationId, title: undefined }
    : { as: 'path', path: text, title: undefined }

/** Also `42.json` and `reports/42.json`. */
function reportId(given: string): ReportId {
  const id = /(?:^|\/)([0-9]+)(?:\.json)?\/?$/.exec(given)?.[1]
  if (id !== undefined && idForm.test(id)) return id as ReportId
  throw new Failure('refused', `${given} is no number of a report`)
}
