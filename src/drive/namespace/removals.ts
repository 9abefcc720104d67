// Report of removals in progress: what waits, for how long, what blocks it, and what stays.
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { CalculationId, Dialect, Instant } from '../../remote/remote.js'
import type { KnownReports } from '../names/known-reports.js'
import { type Node, nodeKey } from '../nodes/node.js'
import type { Deletable, PendingDelete, PendingDeletes } from './pending-deletes.js'
import type { Whiteouts } from './whiteouts.js'

export interface RemovalReportSources {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly reports: KnownReports
  readonly pending: Pick<PendingDeletes, 'waiting'>
  readonly whiteouts: Pick<Whiteouts, 'left' | 'has'>
  readonly now: () => Instant
}

export interface RemovalReport {
  /** What is about to be deleted, by the path at which it was removed. */
  waiting(): readonly { readonly path: string; readonly what: string; readonly since: Instant }[]
  /** Files of calculations that were unlinked alone, and are there all the same. */
  left(): readonly string[]
  /** Sentences about a thing, and about what was removed below its path; none where nothing was. */
  about(path: string, node: Node | undefined): readonly string[]
}

/** So many paths are named one by one. */
const namedAtMost = 20

export function openRemovalReport({
  catalog,
  dialect,
  reports,
  pending,
  whiteouts,
  now,
}: RemovalReportSources): RemovalReport {
  /** Of the reports whose records are known here. */
  function holders(id: CalculationId): readonly string[] {
    return reports.list().flatMap(report => {
      const record = catalog.record({ kind: 'report', id: report.id }).known()
      const rows = record === undefined ? [] : (dialect.rows(record) ?? [])
      return rows.some(row => row.calculation === id) ? [report.id] : []
    })
  }

  function sentencesOf({ node, path, isSent }: PendingDelete): readonly string[] {
    const held = node.kind === 'calculation' ? holders(node.id) : []
    const rows = held.length === 0 ? '' : ` The reports that hold it lose its row: ${held.join(', ')}.`
    if (isSent) return [`${path} (${describeNode(node)}) is being deleted now.${rows}`]
    const seconds = Math.max(0, Math.round((now() - sinceOf(path)) / 1000))
    return [
      `${path} (${describeNode(node)}) was removed ${seconds} s ago and is deleted after a short pause.${rows}`,
      `To keep it: touch '${path.slice(1)}' (below the mount) before the pause is over.`,
    ]
  }

  const sinceOf = (path: string): number => pending.waiting().find(one => one.path === path)?.since ?? now()

  function leftSentences(paths: readonly string[]): readonly string[] {
    if (paths.length === 0) return []
    const more = paths.length > namedAtMost ? ` and ${paths.length - namedAtMost} more` : ''
    return [
      `Unlinked here, but not deleted: ${paths.slice(0, namedAtMost).join(', ')}${more}. The service deletes a calculation as a whole only, so its files are all there still.`,
      'To delete the calculation: rm -r CALCULATION. To call it off: touch it.',
    ]
  }

  return {
    waiting: () =>
      pending.waiting().map(({ node, path, since }) => ({ path, what: describeNode(node), since })),
    left: () => whiteouts.left().map(({ path }) => path),
    about(path, node) {
      const key = node === undefined ? undefined : nodeKey(node)
      const waiting = pending
        .waiting()
        .filter(one => nodeKey(one.node) === key || one.path === path || one.path.startsWith(`${path}/`))
      const isHere = (one: { path: string; key: string }): boolean =>
        one.key === key || one.path === path || one.path.startsWith(`${path}/`)
      const isAway = new Set<string>(waiting.map(one => nodeKey(one.node)))
      const left = whiteouts
        .left()
        .filter(one => isHere(one) && !isAway.has(`calculation ${one.calculation}`))
        .map(one => one.path)
      return [...waiting.flatMap(sentencesOf), ...leftSentences(left)]
    },
  }
}

const describeNode = (node: Deletable): string =>
  node.kind === 'calculation' ? `calculation ${node.id}` : `${node.of} ${node.id}`
