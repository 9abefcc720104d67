// Table of a run in words: one row per workload and distance, one column per contender.
import type { Cell } from '../run/cells.js'
import { phases, type Verdict } from '../run/trial.js'
import { workload } from '../run/workloads.js'

/** `1.23`, `> 60` for one that was ended, or why there is no figure. */
export function shown(verdict: Verdict | undefined): string {
  if (verdict === undefined) return '–'
  switch (verdict.state) {
    case 'right':
      return seconds(verdict.figures.seconds)
    case 'late':
      return `> ${verdict.limitSeconds}`
    case 'wrong':
      return 'WRONG'
    case 'failed':
      return 'failed'
  }
}

const seconds = (value: number): string =>
  value >= 100
    ? value.toFixed(0)
    : value >= 10
      ? value.toFixed(1)
      : value >= 0.1
        ? value.toFixed(2)
        : value.toFixed(3)

/** A workload, and the tree where it is not the usual one. */
export const rowName = ({ work, tree }: Pick<Cell, 'work' | 'tree'>): string =>
  tree === workload(work)?.tree ? work : `${work} (${tree})`

/** `30 ms`, `30 ms, tls`. */
export const linkName = ({ roundTrip, link }: Pick<Cell, 'roundTrip' | 'link'>): string =>
  `${roundTrip} ms${link === 'plain' ? '' : `, ${link}`}`

/** Megabytes and per cent. */
export const unreadShare = (unread: number, all: number | undefined): string =>
  `${(unread / 1e6).toFixed(1)} MB (${all === undefined || all === 0 ? 0 : Math.round((100 * unread) / all)} %)`

/** `cold / warm / remount`. */
export const shownTimes = ({ verdicts }: Cell): string =>
  phases
    .filter(phase => verdicts[phase] !== undefined)
    .map(phase => shown(verdicts[phase]))
    .join(' / ')

/** One line a cell for the terminal: times, requests, megabytes, processor seconds, memory. */
export function line(cell: Cell): string {
  const where = `${rowName(cell)} ${linkName(cell)}`.padEnd(24)
  const parts = phases.flatMap(phase => {
    const verdict = cell.verdicts[phase]
    return verdict === undefined ? [] : [`${phase} ${details(verdict)}`]
  })
  return `${where} ${cell.contender.padEnd(24)} ${parts.join(' | ')}`
}

function details(verdict: Verdict): string {
  if (verdict.state === 'late') return shown(verdict)
  if (verdict.state !== 'right') return `${shown(verdict)} (${verdict.why})`
  const { requests, bytes, cpuSeconds, peakBytes, contentBytes, unreadBytes } = verdict.figures
  const more = [
    ...(requests === undefined ? [] : [`${requests} req`]),
    ...(bytes === undefined ? [] : [`${(bytes / 1e6).toFixed(1)} MB`]),
    ...(unreadBytes === undefined || unreadBytes === 0
      ? []
      : [`${unreadShare(unreadBytes, contentBytes)} never read`]),
    ...(cpuSeconds === undefined ? [] : [`cpu ${cpuSeconds.toFixed(2)}`]),
    ...(peakBytes === undefined ? [] : [`${Math.round(peakBytes / 1e6)} MB mem`]),
  ]
  return `${shown(verdict)} s (${more.join(', ')})`
}

/** A table in Markdown. */
export function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`
  return [line(head), line(head.map(() => '---')), ...rows.map(line)].join('\n')
}
