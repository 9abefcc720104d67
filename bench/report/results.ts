// Results of a run, as written to results.json and read by the table, the targets and the plot.
import type { ScaleRow } from '../run/scale.js'
import type { Verdicts } from '../run/trial.js'
import type { TreeName } from '../trees/trees.js'

/** One contender at one workload. */
export interface Cell {
  readonly tree: TreeName
  /** Milliseconds. */
  readonly roundTrip: number
  readonly work: string
  readonly contender: string
  readonly verdicts: Verdicts
}

export interface Results {
  readonly machine: string
  /** ISO 8601, the start of the run. */
  readonly date: string
  readonly command: string
  /** Name and version of each program in the run. */
  readonly versions: Readonly<Record<string, string>>
  /** The options each contender was given. */
  readonly contenders: Readonly<Record<string, string>>
  /** Contenders that could not take part, and why. */
  readonly absent: Readonly<Record<string, string>>
  readonly cells: readonly Cell[]
  /** Results of the largest tree and of a full cache; empty where they were not wanted. */
  readonly scale: readonly ScaleRow[]
}

/** Seconds of a phase that ended well; undefined otherwise. */
export function secondsOf(cell: Cell | undefined, phase: keyof Verdicts): number | undefined {
  const verdict = cell?.verdicts[phase]
  return verdict?.state === 'right' ? verdict.figures.seconds : undefined
}

/** The cell of this contender at this workload and distance. */
export const cellOf = (
  cells: readonly Cell[],
  at: Pick<Cell, 'roundTrip' | 'work' | 'contender'>,
): Cell | undefined =>
  cells.find(
    cell => cell.work === at.work && cell.roundTrip === at.roundTrip && cell.contender === at.contender,
  )
