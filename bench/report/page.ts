// Output of a run for readers: the table and the targets as text, and the part of docs/performance.md between its marks.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { workload } from '../run/workloads.js'
import type { Cell } from './results.js'
import { cellOf, type Results } from './results.js'
import { shownTimes, table } from './table.js'
import { judged, targets } from './targets.js'

const [begin, end] = ['<!-- measured: begin -->', '<!-- measured: end -->']

/** One table for each distance and tree family: seconds cold / warm / after a remount. */
export function timesTables({ cells }: Results): string {
  const distances = [...new Set(cells.map(({ roundTrip }) => roundTrip))].sort((one, other) => one - other)
  return distances.map(roundTrip => timesTable(cells, roundTrip)).join('\n\n')
}

function timesTable(cells: readonly Cell[], roundTrip: number): string {
  const here = cells.filter(cell => cell.roundTrip === roundTrip)
  const contenders = [...new Set(here.map(({ contender }) => contender))]
  const rows = [...new Set(here.map(({ work }) => work))].map(work => {
    const times = contenders.map(contender => {
      const cell = cellOf(here, { work, roundTrip, contender })
      return cell === undefined ? '' : shownTimes(cell)
    })
    return [workload(work)?.title ?? work, ...times]
  })
  return `### Round trip ${roundTrip} ms\n\nSeconds: cold / warm / after a remount.\n\n${table(['work', ...contenders], rows)}`
}

/** The requests of calcfs, and its resources. */
export function costTable({ cells }: Results): string {
  const rows = cells
    .filter(({ contender }) => contender === 'calcfs')
    .map(cell => {
      const costs = (['cold', 'warm', 'remount'] as const).map(phase => {
        const verdict = cell.verdicts[phase]
        if (verdict?.state !== 'right') return '–'
        const { requests = 0, bytes = 0, cpuSeconds = 0, peakBytes = 0 } = verdict.figures
        return `${requests} / ${(bytes / 1e6).toFixed(1)} / ${cpuSeconds.toFixed(2)} / ${Math.round(peakBytes / 1e6)}`
      })
      return [workload(cell.work)?.title ?? cell.work, `${cell.roundTrip}`, ...costs]
    })
  const head = ['work', 'ms', 'cold', 'warm', 'remount']
  return `Requests / MB received / processor seconds / peak memory in MB of calcfs.\n\n${table(head, rows)}`
}

/** Each target, the result, and whether it is met. */
export function targetTable({ cells }: Results): string {
  const rows = targets(cells).map(target => [target.what, target.found ?? '–', judged(target)])
  return table(['target', 'found', ''], rows)
}

/** The scenarios of scale. */
export function scaleTable({ scale }: Results): string {
  const rows = scale.map(({ what, found, target, met }) => {
    const word = met === undefined ? '' : met ? 'met' : 'missed'
    return [what, found, target, word]
  })
  return rows.length === 0 ? 'Not measured in this run.' : table(['scale', 'found', 'target', ''], rows)
}

/** The whole report of one run, in Markdown. */
export function report(results: Results): string {
  const list = (entries: Readonly<Record<string, string>>): string =>
    Object.entries(entries)
      .map(([name, text]) => `- ${name}: ${text}`)
      .join('\n')
  const absent =
    Object.keys(results.absent).length === 0
      ? 'No contender was left out.'
      : `Left out:\n${list(results.absent)}`
  return [
    `Measured ${results.date.slice(0, 10)} on ${results.machine} with \`${results.command}\`.`,
    '## Targets',
    targetTable(results),
    '## Times',
    timesTables(results),
    '## Scale',
    scaleTable(results),
    '## What calcfs used',
    costTable(results),
    '## Contenders',
    list(results.contenders),
    absent,
    `Versions: ${Object.entries(results.versions)
      .map(([name, version]) => `${name} ${version}`)
      .join(', ')}.`,
  ].join('\n\n')
}

/**
 * Replaces what stands between the marks of a page.
 * @throws Error where the page has no marks
 */
export function updatePage(page: string, results: Results): void {
  const text = existsSync(page) ? readFileSync(page, 'utf8') : ''
  const [from, to] = [text.indexOf(begin), text.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`${page} has no place for results: ${begin} … ${end}`)
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n${report(results)}\n${text.slice(to)}`)
}
