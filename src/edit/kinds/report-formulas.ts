// Formulas of a report: no save changes by accident which calculation a cN means, and a renumbering changes order and formulas in one text.
import { Failure } from '../../failure.js'
import { type Formulas, formulasIn, newlyMeaningful, renumber } from '../../record/formulas.js'
import type { JsonObject } from '../../record/json/json.js'
import type { CalculationId, ReportRow } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { RecordChange, WrittenEdit } from '../save/editable.js'

/**
 * Every cN, and every id in a graph, must name what it named where its configuration was written.
 * @throws Failure 'refused' where the program changed the list but not the formulas, 'conflict' where it changed the
 * formulas and another client the list
 */
export function refuseOtherMeaning(
  { facts, lists, reports }: Dialect,
  written: WrittenEdit,
  change: RecordChange,
): void {
  const configuration = reports.configuration(change.whole)
  const list = lists.fieldIn(change.whole)
  const isMine = configuration !== reports.configuration(change.before)
  const isListMine = list !== undefined && change.edits.has(list)
  if (configuration === undefined || !(isMine || isListMine)) return
  const after = lists.places(change.whole)
  if (after === undefined) return
  const formulas = formulasIn(configuration)
  const id = facts(change.whole).id ?? 'ID'
  const before = lists.places(isMine ? written.mine : change.before)
  if (before === undefined) return
  const changed = [...movedPlaces(formulas, before, after), ...missingIds(formulas, before, after)]
  if (changed.length === 0) return
  const what = `${changed.join('; ')} (formulas: ${formulas.texts.join(', ')})`
  if (!isListMine)
    throw new Failure(
      'conflict',
      `another client has changed the list that these formulas compute with: ${what}`,
    )
  // A renumbering takes no row away.
  const mend = before.some(row => !after.includes(row))
    ? `calculations and formulas are changed together in reports/${id}.json: in one save of "calculations" and "configuration"`
    : `change these formulas in the same save, or let \`calcfs report renumber ${id}\` change both`
  throw new Failure(
    'refused',
    `the new list changes what the formulas of this report mean (c1 is its first line): ${what}; ${mend}`,
  )
}

type RowPlaces = readonly (CalculationId | undefined)[]

/** A place beyond the old list, or an empty one, meant nothing, so nothing can be taken from it. */
function movedPlaces({ places }: Formulas, before: RowPlaces, after: RowPlaces): readonly string[] {
  return places
    .filter(place => before[place - 1] !== undefined && before[place - 1] !== after[place - 1])
    .map(place => `c${place} was calculation ${before[place - 1]} and would be ${after[place - 1] ?? 'none'}`)
}

function missingIds({ ids }: Formulas, before: RowPlaces, after: RowPlaces): readonly string[] {
  const gone = before.filter(id => id !== undefined && ids.includes(id) && !after.includes(id))
  return gone.map(id => `the graph computes with calculation ${id}, which would be gone`)
}

/**
 * The report in this order, every formula meaning the calculations it meant; `mine` is the record to save beside the new order: the
 * service's own record, or a draft of it.
 * @throws Failure 'refused' where a formula's calculation is no longer in the list, where the list cannot be seen, and
 * where the draft changes the configuration in another way
 */
export function renumberedReport(
  { lists, reports }: Dialect,
  { now, mine, rows }: Record<'now' | 'mine', JsonObject> & { readonly rows: readonly ReportRow[] },
): JsonObject {
  const before = lists.places(now)
  if (before === undefined)
    throw new Failure(
      'refused',
      'the service does not show the calculations of this report, so what its formulas mean is not known',
    )
  const ordered = lists.withRows(mine, rows, now)
  const after = lists.places(lists.withRows(now, rows)) ?? []
  const configuration = reports.configuration(now)
  if (configuration === undefined) return ordered
  const result = renumber(configuration, before, after)
  if ('lost' in result) {
    const lost = result.lost.map(({ formula, calculation }) => `${formula} is calculation ${calculation}`)
    throw new Failure(
      'refused',
      `formulas compute with calculations that the new list does not have: ${lost.join('; ')}; keep them in the list, or change the configuration first`,
    )
  }
  const fresh = newlyMeaningful(configuration, before, after)
  if (fresh.length > 0)
    throw new Failure(
      'refused',
      `${fresh.join(', ')} names no calculation so far, and would name one in the longer list; change the configuration first`,
    )
  const own = reports.configuration(mine)
  if (own !== configuration && own !== result.renumbered)
    throw new Failure(
      'refused',
      'the draft changes the configuration too, and which order its formulas are written for is not known; save one of the two first',
    )
  return result.renumbered === configuration ? ordered : reports.withConfiguration(ordered, result.renumbered)
}
