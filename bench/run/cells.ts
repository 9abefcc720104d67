// Cells of the table: one contender at one workload, over one tree and one link.
import type { Setting } from './arena.js'
import type { Phase, Verdicts } from './trial.js'
import { workload } from './workloads.js'

export interface Cell extends Setting {
  readonly work: string
  readonly contender: string
  readonly verdicts: Verdicts
  /** Seconds of all its runs, with what is not measured: mounting, comparing, clearing away. */
  readonly took: number
}

/** A cell's place; by default on the workload's own tree, over a plain link. */
export type CellPlace = Pick<Cell, 'work' | 'roundTrip' | 'contender'> & Partial<Setting>

export function cellOf(cells: readonly Cell[], place: CellPlace): Cell | undefined {
  const { work, roundTrip, contender, link = 'plain', tree = workload(work)?.tree } = place
  return cells.find(
    cell =>
      cell.work === work &&
      cell.roundTrip === roundTrip &&
      cell.contender === contender &&
      cell.link === link &&
      cell.tree === tree,
  )
}

/** Seconds of a phase that ended well; undefined otherwise. */
export function secondsOf(cell: Cell | undefined, phase: Phase): number | undefined {
  const verdict = cell?.verdicts[phase]
  return verdict?.state === 'right' ? verdict.figures.seconds : undefined
}

const mounts = ['rclone', 'davfs2', 'sshfs', 'httpdirfs']

/** Whether it is a mount of others. */
export const isPeer = ({ contender }: Cell): boolean => mounts.some(name => contender.startsWith(name))

/** Whether they stand in one place of the table. */
export const isSame = (one: Cell, other: Cell): boolean =>
  one.work === other.work &&
  one.contender === other.contender &&
  one.tree === other.tree &&
  one.roundTrip === other.roundTrip &&
  one.link === other.link
