// Text of `order.txt`: a report's list as lines of id, title and path, and how edited lines are parsed.
import { Failure } from '../../failure.js'
import { quotedCell, unquotedCell } from '../../record/tsv.js'
import type { ReportRow } from '../../remote/remote.js'

/** One line that says something. */
export interface OrderLine {
  /** As in an editor, counted from 1. */
  readonly line: number
  /** An id or a path. */
  readonly entry: string
  /** Undefined where the line has no such cell; empty where it was emptied. */
  readonly title: string | undefined
  /** The path beside an id; it must be that one's. */
  readonly path: string
}

/** The list as it is shown; a tab or a line end in a title is escaped. */
export function orderText(rows: readonly ReportRow[]): string {
  return rows
    .map(({ calculation, title }) => `${calculation}\t${quotedCell(title ?? '')}\t${byIdPath(calculation)}\n`)
    .join('')
}

export const byIdPath = (calculation: string): string => `/by-id/calculation/${calculation}`

/**
 * The lines that are not blank. Where a line has tabs its first cell counts, or the path where that is empty.
 * @throws Failure 'refused' for a line that says more than one calculation: two lines joined, a tab in a title
 */
export function orderLines(text: string): readonly OrderLine[] {
  return text
    .replace(/^\ufeff/, '')
    .split(/\r\n|\r|\n/)
    .flatMap((written, at): OrderLine[] => {
      if (written.trim() === '') return []
      const line = at + 1
      const cells = written.split('\t').map(cell => unquotedCell(cell.trim()))
      const [first = '', title, path = ''] = cells
      if (cells.slice(3).some(cell => cell !== '')) throw tooManyCells(line)
      return [{ line, entry: first === '' ? path : first, title, path: first === '' ? '' : path }]
    })
}

function tooManyCells(line: number): Failure {
  return new Failure(
    'refused',
    `line ${line} has more than an id, a title and a path: one calculation a line, no tabs in a title`,
    {
      place: { line, column: 1 },
    },
  )
}
