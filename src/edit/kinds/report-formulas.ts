// Formulas of a report: no save may change by accident which calculation a cN means.
import { Failure } from '../../failure.js'
import { type Formulas, formulasIn } from '../../record/formulas.js'
import type { CalculationId, Dialect } from '../../remote/remote.js'
import type { RecordChange, WrittenEdit } from '../save/editable.js'

/**
 * Every cN, and every id in a graph, must name what it named where its configuration was written.
 * @throws Failure 'refused' where the program changed the list but not the formulas, 'conflict' where it changed the
 * formulas and another client the list
 */
export function refuseOtherMeaning(dialect: Dialect, written: WrittenEdit, change: RecordChange): void {
  const configuration = dialect.configuration(change.whole)
  const list = dialect.listField(change.whole)
  const isMine = configuration !== dialect.configuration(change.before)
  const isListMine = list !== undefined && change.edits.has(list)
  if (configuration === undefined || !(isMine || isListMine)) return
  const after = dialect.places(change.whole)
  if (after === undefined) return
  const formulas = formulasIn(configuration)
  const id = dialect.facts(change.whole).id ?? 'ID'
  const before = dialect.places(isMine ? written.mine : change.before)
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
    : `change these formulas in the same save, or let calcfs report renumber ${id} change both`
  throw new Failure('refused', `the new list changes what the formulas of this report mean: ${what}; ${mend}`)
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
