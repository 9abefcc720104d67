// `order.txt`: a report's list as lines of id, title and path; and what a person means by the lines he has left.
import { escapeCell } from '../record/cell.js'
import type { ReportRow } from '../remote/remote.js'

/** One line that says something. */
export interface OrderLine {
  /** As in an editor, counted from 1. */
  readonly line: number
  /** An id or a path. */
  readonly entry: string
  /** Undefined where the line names none. */
  readonly title: string | undefined
}

/** The list as it is shown; a tab or a line end in a title is escaped. */
export function orderText(rows: readonly ReportRow[]): string {
  return rows
    .map(({ calculation, title }) => `${calculation}\t${escapeCell(title ?? '')}\t${placeOf(calculation)}\n`)
    .join('')
}

const placeOf = (calculation: string): string => `/by-id/calculation/${calculation}`

/** The lines that are not blank. Where a line has tabs its first cell counts, or the path where that is empty. */
export function orderLines(text: string): readonly OrderLine[] {
  return text.split(/\r?\n/).flatMap((written, at): OrderLine[] => {
    if (written.trim() === '') return []
    const [first = '', title = '', path = ''] = written.split('\t').map(cell => cell.trim())
    const entry = first === '' ? path : first
    return [{ line: at + 1, entry, title: title === '' ? undefined : title }]
  })
}
