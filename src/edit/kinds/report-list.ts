// List of a report: which calculations it may be given; known ones, and only where the old list could be read.
import { asFailure, Failure } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { equalJson } from '../../record/json/equal.js'
import { fieldOf, type Json, type JsonObject, withField } from '../../record/json/json.js'
import { compactPrint } from '../../record/json/print.js'
import { continuedRows } from '../../record/match-rows.js'
import type { CalculationId, ListEntry, ReportId, ReportRow, RequestContext } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { WrittenEdit } from '../save/editable.js'
import type { ReportPorts } from './report-type.js'

/**
 * The written report with every path in its list as an id, and with the titles of the rows that stayed.
 * @throws Failure 'refused' for an entry that is no calculation, and for a list in place of one that was not shown;
 * 'conflict' where it is in doubt whether its rows were moved or their place numbers changed
 */
export function withCheckedList(
  ports: ReportPorts,
  id: ReportId,
  written: WrittenEdit,
  context: RequestContext,
): MaybePromise<JsonObject> {
  const { base, mine, edits } = written
  const { dialect } = ports
  const [name, own] = [dialect.lists.fieldIn(base), dialect.lists.fieldIn(mine)]
  if (![name, own].some(field => field !== undefined && edits.has(field))) return mine
  const before = dialect.lists.rows(base)
  if (name === undefined || before === undefined) {
    if (own !== undefined && !sameValue(fieldOf(base, own), fieldOf(mine, own))) throw unseenList(id)
    return mine
  }
  if (!edits.has(name)) return mine
  const entries = dialect.lists.entries(mine, base)
  if (entries === undefined)
    throw new Failure('refused', 'the list of calculations cannot be taken away; write [] to clear it')
  const checked = checkedRows(ports, before, meantEntries(dialect, written, entries), context)
  return checked.then(rows => withRowsLike(dialect, { base, mine }, rows, name))
}

/**
 * Rows that stand as in the base with place numbers of another order: an edit of the numbers. But where another text that
 * the writer may have had has these, its rows may as well have been moved: by its last save, whose numbers it has not read.
 */
function meantEntries(
  { lists }: Dialect,
  { base, mine, asNear, earlier }: WrittenEdit,
  byNumber: readonly ListEntry[],
): readonly ListEntry[] {
  const idsOf = (entries: readonly ListEntry[]) =>
    entries.map(entry => (entry.as === 'id' ? entry.calculation : ''))
  const standing = lists.entries(mine) ?? []
  const [meant, stood] = [idsOf(byNumber), idsOf(standing)]
  const isKept = [...asNear, ...earlier].some(other => lists.hasPlacesOf(mine, other))
  // Rows as they were read, with other numbers: an edit of the numbers since then, whatever its saves were.
  const numbered = earlier.map(other => lists.entries(mine, other) ?? [])
  if (!isKept) return numbered.find(entries => idsOf(entries).join() !== stood.join()) ?? byNumber
  if (meant.join() === stood.join()) return byNumber
  if (earlier.length > 0 && !asNear.some(other => lists.hasPlacesOf(base, other))) return standing
  throw new Failure(
    'conflict',
    `the list stands in the order ${stood.join(', ')}, but its place numbers say ${meant.join(', ')}, and another client has changed it meanwhile: nothing was sent; write the numbers in the order that is meant`,
  )
}

/**
 * In the form the list had: a bare id in it stays a row with its title and place. Only where the program wrote more
 * into a row than that form would say, its own form goes out.
 */
function withRowsLike(
  { lists }: Dialect,
  { base, mine }: Pick<WrittenEdit, 'base' | 'mine'>,
  rows: readonly ReportRow[],
  name: string,
): JsonObject {
  const written = lists.withRows(mine, rows, base)
  const list = fieldOf(written, name)
  const usual = fieldOf(lists.withRows(base, rows), name)
  const isSaid = list !== undefined && usual !== undefined && saysAll(usual, list)
  return isSaid ? withField(mine, name, usual) : written
}

export const itemsIn = (list: Json | undefined): readonly Json[] => (list?.type === 'array' ? list.items : [])

function saysAll(usual: Json, list: Json): boolean {
  const usualRows = itemsIn(usual)
  return itemsIn(list).every((row, at) => {
    const said = usualRows[at]
    if (row.type !== 'object') return true
    if (said?.type !== 'object') return false
    return row.fields.every(field => sameValue(fieldOf(said, field.name), fieldOf(row, field.name)))
  })
}

export const unseenList = (id: ReportId): Failure =>
  new Failure(
    'refused',
    `the service does not show the calculations of report ${id}, and a new list would replace them unseen; if it shall: \`calcfs report set ${id} ID…\``,
  )

function sameValue(one: Json | undefined, other: Json | undefined): boolean {
  return one === undefined || other === undefined ? one === other : equalJson(one, other)
}

/** The rows that these entries mean; one without a title keeps the title that it had. @throws Failure 'refused' for an entry that is no calculation */
export async function checkedRows(
  ports: ReportPorts,
  before: readonly ReportRow[],
  entries: readonly ListEntry[],
  context: RequestContext,
): Promise<readonly ReportRow[]> {
  const known = new Set(before.map(row => row.calculation))
  const rows = await Promise.all(entries.map(entry => checkedRow(ports, known, entry, context)))
  const continued = continuedRows(rows, before)
  return rows.map(({ calculation, title }, at) => ({
    calculation,
    title: title ?? before[continued[at] ?? -1]?.title,
  }))
}

/** Only what is new in the list is asked for: a row that was there may name what the user may not read. */
async function checkedRow(
  ports: ReportPorts,
  known: ReadonlySet<CalculationId>,
  entry: ListEntry,
  context: RequestContext,
): Promise<ReportRow> {
  const calculation = await resolveEntryId(ports, entry, context)
  if (!known.has(calculation))
    await existing(`there is no calculation ${calculation}`, () =>
      ports.remote.calculation(calculation, context),
    )
  return { calculation, title: entry.as === 'nonsense' ? undefined : entry.title }
}

/** The calculation that an entry names. @throws Failure 'refused' where there is none */
export async function resolveEntryId(
  ports: ReportPorts,
  entry: ListEntry,
  context: RequestContext,
): Promise<CalculationId> {
  switch (entry.as) {
    case 'id':
      return entry.calculation
    case 'path':
      return existing(`there is no calculation at ${entry.path}`, () =>
        ports.resolveEntry(entry.path, context),
      )
    case 'nonsense':
      throw new Failure('refused', `${compactPrint(entry.value)} in the list is neither an id nor a path`)
  }
}

/** An entry that the service does not have, or does not take for an id, is a mistake of the list. */
async function existing<Found>(otherwise: string, look: () => Promise<Found>): Promise<Found> {
  try {
    return await look()
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (failure.kind !== 'absent' && failure.kind !== 'invalid') throw failure
    throw new Failure('refused', otherwise, { cause: failure, said: failure.said })
  }
}
