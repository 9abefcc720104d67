// Control of `calcfs report`: makes a report known, replaces its list by an explicit wish, reorders it together with its formulas.
import { adviceForText } from '../../advice.js'
import type { Draft } from '../../edit/journal/draft.js'
import { editableOrder } from '../../edit/kinds/order-record.js'
import { renumberedReport } from '../../edit/kinds/report-formulas.js'
import { checkedRows, resolveEntryId } from '../../edit/kinds/report-list.js'
import { Failure, isAbsent } from '../../failure.js'
import { formulasIn } from '../../record/formulas.js'
import type { JsonObject } from '../../record/json/json.js'
import { parseObject } from '../../record/json/parse.js'
import { prettyPrint } from '../../record/json/print.js'
import {
  type CalculationId,
  idForm,
  type ListEntry,
  type ReportId,
  type ReportRow,
  type RequestContext,
} from '../../remote/remote.js'
import type { ControlParts } from '../context.js'
import type { CallArgument, CallResult } from '../interface/control.js'
import { nodeKey } from '../nodes/node.js'
import { refuseReadOnly, saveBeside } from '../records/source.js'

interface Renumbering {
  readonly id: ReportId
  readonly now: JsonObject
  readonly mine: JsonObject
  readonly unsent: { readonly record: Draft | undefined; readonly order: Draft | undefined }
  readonly entries: readonly string[] | undefined
}

export function openReportControl(parts: ControlParts) {
  const { catalog, drafts, reports, until, writeSide } = parts
  const { ports, records } = writeSide
  const { dialect, remote } = ports

  async function readNow(id: ReportId, context: RequestContext): Promise<JsonObject> {
    try {
      return await remote.report(id, context)
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'forbidden')
        throw unshown('forbidden', `you may not see report ${id}: ask its owner`, thrown)
      if (!isAbsent(thrown)) throw thrown
      throw unshown('absent', `the service has no report ${id}, or does not show it to you`, thrown)
    }
  }

  /** A command that names a report wants it to be there: a removal that waits is taken back. */
  async function keepReport(id: ReportId): Promise<void> {
    const node = { kind: 'record', of: 'report', id } as const
    await writeSide.recreated(node)
    records.known(nodeKey(node))?.bringBack()
  }

  async function addReport({ id: given }: CallArgument<'addReport'>): Promise<CallResult<'addReport'>> {
    const id = reportId(given)
    await keepReport(id)
    const record = await readNow(id, until.metadata())
    catalog.record({ kind: 'report', id }).learn(record)
    reports.add(id, record)
    return { title: dialect.facts(record).title ?? '' }
  }

  /** @throws Failure where it may not be changed */
  async function readToChange(given: string) {
    const id = reportId(given)
    const context = until.save()
    const source = writeSide.source({ kind: 'record', of: 'report', id })
    refuseReadOnly(source)
    await keepReport(id)
    return { id, context, source, now: await readNow(id, context) }
  }

  async function setReport(asked: CallArgument<'setReport'>): Promise<CallResult<'setReport'>> {
    const { id, context, source, now } = await readToChange(asked.id)
    const old = dialect.lists.rows(now) ?? []
    const rows = await checkedRows(ports, old, asked.entries.map(listEntryFrom), context)
    if (dialect.lists.rows(now) === undefined) return setUnseen({ id, rows }, context)
    await saveBeside(source, textsOf(now, dialect.lists.withRows(now, rows)), context)
    return { order: idsOf(catalog.record({ kind: 'report', id }).known()) ?? rowIds(rows), shown: true }
  }

  /** The service does not show what this list replaces; its answer alone can be believed. */
  async function setUnseen(
    { id, rows }: { id: ReportId; rows: readonly ReportRow[] },
    context: RequestContext,
  ): Promise<CallResult<'setReport'>> {
    const order = rows.map(row => row.calculation)
    await remote.setReportCalculations(id, order, context)
    const stored = await readNow(id, context)
    catalog.record({ kind: 'report', id }).learn(stored)
    reports.add(id, stored)
    const shown = idsOf(stored)
    if (shown !== undefined && shown.join() !== order.join())
      throw new Failure('broken', `the service answered well, but has the list ${shown.join(', ')} now`)
    return { order, shown: shown !== undefined }
  }

  function unsentOf(id: ReportId): Renumbering['unsent'] {
    // One of an earlier report that had this number is never sent to this one.
    const isOwn = ({ key, meta }: Draft) => key?.of === 'report' && key.id === id && meta.apart !== true
    const own = drafts.unsent().filter(isOwn)
    return {
      record: own.find(({ key }) => key?.kind === 'record'),
      order: own.find(({ key }) => key?.kind === 'order'),
    }
  }

  async function renumber({ id: given, entries }: CallArgument<'renumber'>): Promise<CallResult<'renumber'>> {
    const { id, context, source, now } = await readToChange(given)
    const unsent = unsentOf(id)
    const why = unsent.record?.meta.why
    if (why?.kind === 'not-json')
      throw new Failure('waiting', `${why.sentence}. ${adviceForText(why.kind, `${id}.json`)}`)
    const mine = unsent.record === undefined ? now : parseObject(unsent.record.text())
    const rows = await rowsWanted({ id, now, mine, unsent, entries }, context)
    const whole = renumberedReport(dialect, { now, mine, rows })
    if (unsent.record !== undefined && records.draftOf(source.key)?.id === unsent.record.id)
      await records.record(source.key).replace(source, { text: Buffer.from(prettyPrint(whole)) }, context)
    else await saveBeside(source, textsOf(now, whole), context)
    // A copy of its text is kept: it may not be what was asked for here, or was written on meanwhile.
    if (unsent.order !== undefined) await writeSide.keptDrafts.giveUp(unsent.order)
    return {
      order: rowIds(rows),
      before: formulasIn(dialect.reports.configuration(now) ?? '').texts,
      after: formulasIn(dialect.reports.configuration(whole) ?? '').texts,
    }
  }

  async function rowsWanted(wish: Renumbering, context: RequestContext): Promise<readonly ReportRow[]> {
    const { id, unsent } = wish
    if (wish.entries !== undefined) {
      const rows = await rowsOf(wish.entries.map(listEntryFrom), context)
      refuseLeftOut(id, dialect.lists.rows(wish.now) ?? [], rows)
      return rows
    }
    if (unsent.order !== undefined && unsent.record !== undefined)
      throw new Failure(
        'waiting',
        `there are two unsent orders of report ${id}, ${id}.json and ${id}-order.txt; give one up with \`calcfs drafts drop\``,
      )
    if (unsent.order !== undefined) {
      const meant = { known: [], held: wish.now, isOpened: true, by: undefined }
      const order = await editableOrder(ports, id).mean(unsent.order.text(), meant, context)
      return dialect.lists.rows(order.mine) ?? []
    }
    const written = unsent.record === undefined ? undefined : dialect.lists.entries(wish.mine, wish.now)
    if (written !== undefined) return rowsOf(written, context)
    throw new Failure(
      'refused',
      `report ${id} has no unsent order; change its list and save, or write the new order: \`calcfs report renumber ${id} CALC…\``,
    )
  }

  const rowsOf = (entries: readonly ListEntry[], context: RequestContext): Promise<readonly ReportRow[]> =>
    Promise.all(
      entries.map(async entry => ({
        calculation: await resolveEntryId(ports, entry, context),
        title: entry.as === 'nonsense' ? undefined : entry.title,
      })),
    )

  const idsOf = (record: JsonObject | undefined): readonly CalculationId[] | undefined =>
    record && dialect.lists.rows(record)?.map(row => row.calculation)

  return { addReport, setReport, renumber }
}

const unshown = (kind: 'absent' | 'forbidden', sentence: string, cause: Failure): Failure =>
  new Failure(kind, sentence, { cause, said: cause.said })

const rowIds = (rows: readonly ReportRow[]): readonly CalculationId[] => rows.map(row => row.calculation)

/** The text is based on what was just read. */
const textsOf = (now: JsonObject, whole: JsonObject) => ({
  base: Buffer.from(prettyPrint(now)),
  text: Buffer.from(prettyPrint(whole)),
})

/** A new order names every row: a row is taken out of the list itself. @throws Failure 'refused' */
function refuseLeftOut(id: ReportId, old: readonly ReportRow[], rows: readonly ReportRow[]): void {
  const named = rowIds(rows)
  const left = rowIds(old).filter(one => !named.includes(one))
  if (left.length === 0) return
  throw new Failure(
    'refused',
    `the order leaves out ${left.join(', ')}, and a renumbering takes no row away: name ${left.length === 1 ? 'it' : 'them'}, too, or take rows away together with the formulas that use them, in one save of reports/${id}.json`,
  )
}

/** A word that is no number is a path: of the drive, below its mount point, or of the web pages. */
const listEntryFrom = (text: string): Exclude<ListEntry, { as: 'nonsense' }> =>
  idForm.test(text)
    ? { as: 'id', calculation: text as CalculationId, title: undefined }
    : { as: 'path', path: text, title: undefined }

/** Also `42.json` and `reports/42.json`. */
function reportId(given: string): ReportId {
  const id = /(?:^|\/)([0-9]+)(?:\.json)?\/?$/.exec(given)?.[1]
  if (id !== undefined && idForm.test(id)) return id as ReportId
  throw new Failure('refused', `${given} is no number of a report`)
}
