// Report of removals in progress, for `calcfs why` and `calcfs status`.
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { CalculationId, Dialect, Instant } from '../../remote/remote.js'
import type { KnownReports } from '../names/known-reports.js'
import { type Node, nodeKey } from '../nodes/node.js'
import { type Burst, pauseMs, type WaitingRemoval } from './burst.js'

export interface RemovalReportSources {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly reports: KnownReports
  readonly burst: Pick<Burst, 'waiting' | 'unlinked'>
  readonly now: () => Instant
}

/** The known reports that hold a calculation lose its row. */
function rowsLost(id: CalculationId, { catalog, dialect, reports }: RemovalReportSources): string {
  const held = reports.list().filter(report => {
    const record = catalog.record({ kind: 'report', id: report.id }).known()
    const rows = record === undefined ? [] : (dialect.rows(record) ?? [])
    return rows.some(row => row.calculation === id)
  })
  if (held.length === 0) return ''
  return ` The reports that hold it lose its row: ${held.map(report => report.id).join(', ')}.`
}

function sentencesOf(removal: WaitingRemoval, sources: RemovalReportSources): readonly string[] {
  const { node, path, since, isSent, isUnsaved } = removal
  const rows = node.kind === 'calculation' ? rowsLost(node.id, sources) : ''
  if (isSent && isUnsaved !== true) return [`${path} (${whatGoes(removal)}) is being deleted now.${rows}`]
  const seconds = Math.max(0, Math.round((sources.now() - since) / 1000))
  return [
    `${path} (${whatGoes(removal)}) was removed ${seconds} s ago, and is deleted once nothing was removed for ${pauseMs / 1000} s.${rows}`,
    `To keep it: touch '${path.slice(1)}' (below the mount) before that.`,
  ]
}

/** What is about to be deleted, by the path at which it was removed. */
export const waitingRemovals = ({
  burst,
}: Pick<RemovalReportSources, 'burst'>): readonly { path: string; what: string; since: Instant }[] =>
  burst.waiting().map(removal => ({ path: removal.path, what: whatGoes(removal), since: removal.since }))

/** Sentences about a thing, and about what was removed below its path; none where nothing was. */
export function aboutRemoval(
  path: string,
  node: Node | undefined,
  sources: RemovalReportSources,
): readonly string[] {
  const key = node === undefined ? undefined : nodeKey(node)
  const isHere = (at: string): boolean => at === path || at.startsWith(`${path}/`)
  const waiting = sources.burst.waiting().filter(one => nodeKey(one.node) === key || isHere(one.path))
  if (waiting.length > 0) return waiting.flatMap(one => sentencesOf(one, sources))
  if (!sources.burst.unlinked().some(isHere)) return []
  return [
    `${path}: files were unlinked, which are back in ${pauseMs / 1000} s: the service deletes a calculation as a whole only (rm -r CALCULATION).`,
  ]
}

function whatGoes({ node, isUnsaved }: WaitingRemoval): string {
  if (node.kind === 'calculation') return `calculation ${node.id}`
  return isUnsaved === true ? `the unsaved text of ${node.of} ${node.id}` : `${node.of} ${node.id}`
}
