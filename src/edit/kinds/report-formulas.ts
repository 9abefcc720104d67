// Formulas of a report: no save changes by accident which calculation a cN means, and a renumbering changes order and formulas in one text.
import { Failure } from '../../failure.js'
import { type Formulas, formulasIn, renumber } from '../../record/formulas.js'
import type { JsonObject } from '../../record/json/json.js'
import type { ReportRow } from '../../remote/remote.js'
import type { Dialect } from '../../remote/wire/dialect.js'
import type { RecordChange, WrittenEdit } from '../save/editable.js'

/**
 * The change, in which every cN, and every id in a graph, names what it named where its configuration was written.
 * @throws Failure 'refused' where the program changed the list but not the formulas, 'conflict' where its text alone
 * changes no meaning: another client has changed the list or the formulas
 */
export function withSameMeaning(
  { facts, lists, reports }: Dialect,
  { base, mine }: WrittenEdit,
  change: RecordChange,
): RecordChange {
  const { before, whole, edits } = change
  const configuration = reports.configuration(whole)
  const isMine = configuration !== reports.configuration(before)
  if (configuration === undefined || !(isMine || edits.has(lists.fieldIn(whole) ?? ''))) return change
  const [meant, after] = [lists.places(isMine ? mine : before), lists.places(whole)]
  const formulas = formulasIn(configuration)
  const changed = otherMeanings(formulas, meant, after)
  if (changed.length === 0) return change
  const what = `${changed.join('; ')} (formulas: ${formulas.texts.join(', ')})`
  const had = formulasIn(reports.configuration(base) ?? '')
  if (isMine || otherMeanings(had, lists.places(base), lists.places(mine)).length === 0)
    throw new Failure(
      'conflict',
      `another client has changed these formulas or the list that they compute with: ${what}`,
    )
  const id = facts(whole).id ?? 'ID'
  // A renumbering takes no row away.
  const mend = meant?.some(row => !after?.includes(row))
    ? `calculations and formulas are changed together in reports/${id}.json: in one save of "calculations" and "configuration"`
    : `change these formulas in the same save, or let \`calcfs report renumber ${id}\` change both`
  throw new Failure(
    'refused',
    `the new list changes what the formulas of this report mean (c1 is its first line): ${what}; ${mend}`,
  )
}

type RowPlaces = ReturnType<Dialect['lists']['places']>

/** A place beyond the old list, or an empty one, meant nothing, so nothing can be taken from it. */
function otherMeanings({ places, ids }: Formulas, before: RowPlaces, after: RowPlaces): readonly string[] {
  if (before === undefined || after === undefined) return []
  const moved = places.filter(at => before[at - 1] !== undefined && before[at - 1] !== after[at - 1])
  const gone = before.filter(id => id !== undefined && ids.includes(id) && !after.includes(id))
  return [
    ...moved.map(at => `c${at} was calculation ${before[at - 1]} and would be ${after[at - 1] ?? 'none'}`),
    ...gone.map(id => `the graph computes with calculation ${id}, which would be gone`),
  ]
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
  if (result.fresh.length > 0)
    throw new Failure(
      'refused',
      `${result.fresh.join(', ')} names no calculation so far, and would name one in the longer list; change the configuration first`,
    )
  const own = reports.configuration(mine)
  if (own !== configuration && own !== result.renumbered)
    throw new Failure(
      'refused',
      'the draft changes the configuration too, and which order its formulas are written for is not known; save one of the two first',
    )
  return result.renumbered === configuration ? ordered : reports.withConfiguration(ordered, result.renumbered)
}
