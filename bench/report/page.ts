// Output of a run for readers: the table and the targets as text, and the part of docs/performance.md between its marks.
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { type Cell, isPeer } from '../run/cells.js'
import { workload } from '../run/workloads.js'
import type { Results } from './results.js'
import { linkName, rowName, shownTimes, table, unreadShare } from './table.js'
import { judged, targets } from './targets.js'

const [begin, end] = ['<!-- measured: begin -->', '<!-- measured: end -->']

/** One table for each distance: seconds cold / warm / after a remount. */
export function timesTables({ cells }: Pick<Results, 'cells'>): string {
  return inTables(cells)
    .map(([link, here]) => `### Round trip ${link}\n\n${contendersTable(here, shownTimes)}`)
    .join('\n\n')
}

/** Weaker modes and mounts are in report.md only. */
const isLess = (contender: string): boolean => /^(httpdirfs|rclone (http|webdav))$/.test(contender)

/** Works that other mounts do, too, near and far: what is compared with a limit alone has its target. */
function onPage(cells: readonly Cell[]): readonly Cell[] {
  const compared = new Set(cells.filter(isPeer).map(cell => `${rowName(cell)} ${linkName(cell)}`))
  return cells.filter(
    cell =>
      cell.link === 'plain' &&
      [0, 30].includes(cell.roundTrip) &&
      !isLess(cell.contender) &&
      compared.has(`${rowName(cell)} ${linkName(cell)}`),
  )
}

/** The cells of one table, nearest first. */
function inTables(cells: readonly Cell[]): readonly (readonly [link: string, cells: readonly Cell[]])[] {
  const near = [...cells].sort((one, other) => one.roundTrip - other.roundTrip)
  const names = [...new Set(near.map(linkName))]
  return names.map(name => [name, cells.filter(cell => linkName(cell) === name)])
}

/** A row for each workload, a column for each contender. */
function contendersTable(cells: readonly Cell[], show: (cell: Cell) => string): string {
  const contenders = [...new Set(cells.map(({ contender }) => contender))]
  const rows = [...new Set(cells.map(rowName))].map(name => {
    const here = cells.filter(cell => rowName(cell) === name)
    const shown = contenders.map(contender => {
      const cell = here.find(one => one.contender === contender)
      return cell === undefined ? '' : show(cell)
    })
    const [first] = here
    return [first === undefined ? name : titleOf(first), ...shown]
  })
  return table(['work', ...contenders], rows)
}

function titleOf(cell: Cell): string {
  const work = workload(cell.work)
  return `${work?.title ?? cell.work}${work?.tree === cell.tree ? '' : ` (${cell.tree})`}`
}

/** What calcfs fetched of the files' contents, and what of it the workload never read. */
export function unreadTable({ cells }: Results): string {
  const rows = cells
    .filter(({ contender }) => contender === 'calcfs')
    .flatMap(cell => {
      const verdict = cell.verdicts.cold
      if (verdict?.state !== 'right' || !verdict.figures.contentBytes) return []
      const { contentBytes, unreadBytes = 0 } = verdict.figures
      const all = `${(contentBytes / 1e6).toFixed(1)} MB`
      return [[titleOf(cell), linkName(cell), all, unreadShare(unreadBytes, contentBytes)]]
    })
  const head = ['work, cold', 'round trip', 'contents fetched', 'of which never read']
  return rows.length === 0 ? 'No contents were fetched in this run.' : table(head, rows)
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
      return [titleOf(cell), linkName(cell), ...costs]
    })
  const head = ['work', 'round trip', 'cold', 'warm', 'remount']
  return `Requests / MB received / processor seconds / peak memory in MB of calcfs.\n\n${table(head, rows)}`
}

/** Each target, the result, and whether it is met. */
export function targetTable({ cells, scale }: Results): string {
  const rows = targets(cells, scale).map(target => [target.what, target.found ?? '–', judged(target)])
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

/** What the page says of a run, in Markdown. */
function summary(results: Results): string {
  const list = (entries: Readonly<Record<string, string>>): string =>
    Object.entries(entries)
      .filter(([name]) => !isLess(name))
      .map(([name, text]) => `- ${name}: ${text}`)
      .join('\n')
  const versions = Object.entries(results.versions).map(([name, version]) => `${name} ${version}`)
  return [
    `Measured ${results.date.slice(0, 10)} on ${results.machine} with \`${results.command}\`, in ${Math.round(results.seconds / 60)} minutes. ${versions.join(', ')}.`,
    '## Targets',
    targetTable(results),
    '## Seconds: cold / warm / after a remount',
    timesTables({ cells: onPage(results.cells) }),
    '## Scale',
    scaleTable(results),
    '## Contenders',
    list(results.contenders),
    ...(Object.keys(results.absent).length === 0 ? [] : [`Left out:\n${list(results.absent)}`]),
    ...(results.leftOut.length === 0 ? [] : [`For want of time: ${worksOf(results.leftOut).join('; ')}.`]),
  ].join('\n\n')
}

/** Of `calcfs at cp, 30 ms` and the like: each work, and of how many contenders it is. */
function worksOf(cells: readonly string[]): readonly string[] {
  const counts = new Map<string, number>()
  for (const cell of cells) {
    const work = cell.slice(cell.indexOf(' at ') + 4)
    counts.set(work, (counts.get(work) ?? 0) + 1)
  }
  return [...counts].map(([work, count]) => `${work} (${count})`)
}

/** All of a run, in Markdown. */
export function report(results: Results): string {
  return [
    summary(results),
    '## All distances and contenders',
    timesTables(results),
    '## Used by calcfs',
    costTable(results),
    '## Fetched and never read',
    unreadTable(results),
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
  writeFileSync(page, `${text.slice(0, from + begin.length)}\n${summary(results)}\n${text.slice(to)}`)
}
