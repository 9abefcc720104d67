// A formula says c1 and means a calculation: no save may make it mean another one by the way.
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
  const after = dialect.places(change.whole)
  if (configuration === undefined || after === undefined) return
  const isMine = configuration !== dialect.configuration(change.before)
  const before = dialect.places(isMine ? written.mine : change.before)
  if (before === undefined) return
  const formulas = formulasIn(configuration)
  const changed = [...movedPlaces(formulas, before, after), ...missingIds(formulas, before, after)]
  if (changed.length === 0) return
  const list = dialect.listField(change.whole)
  const isListMine = list !== undefined && change.edits.has(list)
  throw isListMine
    ? missingReference(dialect.facts(change.whole).id ?? 'ID', changed, formulas)
    : movedElsewhere(changed, formulas)
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

function missingReference(id: string, changed: readonly string[], { texts }: Formulas): Failure {
  return new Failure(
    'refused',
    `the new list changes what the formulas of this report mean: ${changed.join('; ')} (formulas: ${texts.join(', ')}); change the configuration in the same save, or let calcfs report renumber ${id} change both`,
  )
}

function movedElsewhere(changed: readonly string[], { texts }: Formulas): Failure {
  return new Failure(
    'conflict',
    `another client has changed the list that these formulas compute with: ${changed.join('; ')} (formulas: ${texts.join(', ')})`,
  )
}
