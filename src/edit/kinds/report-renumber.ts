// Renumbering: a new order of a report and its formulas change in one text, so that neither is ever stored alone.
import { Failure } from '../../failure.js'
import type { JsonObject } from '../../record/json/json.js'
import { newlyMeaningful, renumber } from '../../record/renumber.js'
import type { Dialect, ReportRow } from '../../remote/remote.js'

export interface Renumbered {
  readonly now: JsonObject
  /** The record to save beside the new order: the service's own record, or a draft of it. */
  readonly mine: JsonObject
  readonly rows: readonly ReportRow[]
}

/**
 * The report in this order, every formula meaning the calculations it meant.
 * @throws Failure 'refused' where a formula's calculation is no longer in the list, where the list cannot be seen, and
 * where the draft changes the configuration in another way
 */
export function renumberedReport(dialect: Dialect, { now, mine, rows }: Renumbered): JsonObject {
  const before = dialect.places(now)
  if (before === undefined) {
    throw new Failure(
      'refused',
      'the service does not show the calculations of this report, so what its formulas mean is not known',
    )
  }
  const ordered = dialect.withRows(mine, rows, now)
  const after = dialect.places(dialect.withRows(now, rows)) ?? []
  const configuration = dialect.configuration(now)
  if (configuration === undefined) return ordered
  const result = renumber(configuration, before, after)
  if ('lost' in result) {
    const lost = result.lost.map(({ formula, calculation }) => `${formula} is calculation ${calculation}`)
    throw new Failure(
      'refused',
      `formulas compute with calculations that the new list does not have: ${lost.join('; ')}; keep them in the list, or change the configuration first`,
    )
  }
  refuseNewMeaning(newlyMeaningful(configuration, before, after))
  const own = dialect.configuration(mine)
  if (own !== configuration && own !== result.renumbered) {
    throw new Failure(
      'refused',
      'the draft changes the configuration too, and which order its formulas are written for is not known; save one of the two first',
    )
  }
  return result.renumbered === configuration ? ordered : dialect.withConfiguration(ordered, result.renumbered)
}

function refuseNewMeaning(formulas: readonly string[]): void {
  if (formulas.length === 0) return
  throw new Failure(
    'refused',
    `${formulas.join(', ')} names no calculation so far, and would name one in the longer list; change the configuration first`,
  )
}
