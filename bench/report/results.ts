// Results of a run, as written to results.json and read by the table and the targets.
import type { Cell } from '../run/cells.js'
import type { ScaleRow } from '../run/scale.js'

export interface Results {
  readonly machine: string
  /** ISO 8601, the start of the run. */
  readonly date: string
  readonly command: string
  /** Seconds that it has taken. */
  readonly seconds: number
  /** Name and version of each program in the run. */
  readonly versions: Readonly<Record<string, string>>
  /** The options each contender was given. */
  readonly contenders: Readonly<Record<string, string>>
  /** Contenders that could not take part, and why. */
  readonly absent: Readonly<Record<string, string>>
  /** Cells of the plan for which there was no time, and why. */
  readonly leftOut: readonly string[]
  readonly cells: readonly Cell[]
  /** Results of the largest tree and of a full cache; empty where they were not wanted. */
  readonly scale: readonly ScaleRow[]
}
