// Tree below reports/: the known reports, any other by its number, and each one's calculations in order.
import { asFailure, isAbsent } from '../../failure.js'
import { fixedNames, recordFile } from '../../layout.js'
import {
  type CalculationId,
  idForm,
  type ReportId,
  type ReportRow,
  type RequestContext,
} from '../../remote/remote.js'
import { nameChildren, nameRow } from '../nodes/name.js'
import { type Dentry, generatedEntry, type Node, nodeIn } from '../nodes/node.js'
import { type DirectoryKinds, knownHere, type TreeSources } from './directory-kind.js'

const ownEntries: readonly Dentry[] = [
  generatedEntry(fixedNames.reportIndex, 'report-index'),
  { name: fixedNames.reportNames, node: { kind: 'report-names' } },
  // How to find a report that nothing lists.
  generatedEntry(fixedNames.readme, 'reports-readme'),
]

export function openReportKinds(
  sources: TreeSources,
): Pick<DirectoryKinds, 'reports' | 'report-names' | 'report'> {
  const { catalog, dialect, reports, local } = sources

  async function lookup(name: string, context: RequestContext): Promise<Node | undefined> {
    const own = nodeIn(ownEntries, name)
    if (own !== undefined) return own
    const [, number, json] = /^(\d+)(\.json)?$/.exec(name) ?? []
    if (number === undefined || !idForm.test(number)) return undefined
    const id = number as ReportId
    const record = { kind: 'record', of: 'report', id } as const
    if (json !== undefined && local.hasDraft(record)) return record
    await present(id, context)
    return json === undefined ? { kind: 'report', id } : record
  }

  /** Its record; whether it is there is what the next listing says. */
  async function present(id: ReportId, context: RequestContext) {
    try {
      const record = await catalog.record({ kind: 'report', id }).ask(context)
      reports.refresh(id, record)
      return record
    } catch (thrown) {
      if (isAbsent(thrown)) reports.drop(id)
      throw thrown
    }
  }

  /** The known ones by their titles, as links to the records; from memory. */
  function listNames(): readonly Dentry[] {
    const known = reports.list()
    const names = nameChildren(known.map(({ id, title }) => ({ kind: 'report', id, title })))
    return known.map(({ id }, at) => ({
      name: names[at] ?? '',
      node: { kind: 'link', to: `../${recordFile(id)}` },
    }))
  }

  async function listRows(id: ReportId, context: RequestContext): Promise<readonly Dentry[]> {
    const record = await present(id, context)
    const rows = dialect.lists.rows(record) ?? []
    const digits = Math.max(2, String(rows.length).length)
    const links = rows.map((row, at) => link(row, String(at + 1).padStart(digits, '0'), context))
    return [orderEntry(id), ...(await Promise.all(links))]
  }

  /** An entry of one report's folder; its order needs no title of a row. */
  async function lookupRow(id: ReportId, name: string, context: RequestContext): Promise<Node | undefined> {
    const order = orderEntry(id)
    if (name === order.name) return order.node
    return nodeIn(await listRows(id, context), name)
  }

  async function link(row: ReportRow, place: string, context: RequestContext): Promise<Dentry> {
    const title = row.title ?? (await titleOfCalculation(row.calculation, context))
    return {
      name: nameRow(place, title, row.calculation),
      node: { kind: 'link', to: `../../by-id/calculation/${row.calculation}` },
    }
  }

  async function titleOfCalculation(id: CalculationId, context: RequestContext): Promise<string> {
    try {
      return dialect.facts(await catalog.record({ kind: 'calculation', id }).ask(context)).title ?? ''
    } catch (thrown) {
      // A row may name a calculation that is gone, not ours to see, or not known while the service is away: the row
      // itself still stands in the list.
      if (asFailure(thrown).kind === 'internal') throw thrown
      return ''
    }
  }

  return {
    reports: {
      ...knownHere(() => [...ownEntries, ...reports.list().flatMap(({ id }) => entries(id))]),
      lookup: (_, name, context) => lookup(name, context),
      refresh() {
        for (const { id } of reports.list()) catalog.record({ kind: 'report', id }).refresh()
      },
    },
    'report-names': knownHere(listNames),
    report: {
      list: ({ id }, context) => listRows(id, context),
      lookup: ({ id }, name, context) => lookupRow(id, name, context),
      refresh: ({ id }) => catalog.record({ kind: 'report', id }).refresh(),
    },
  }
}

const orderEntry = (id: ReportId): Dentry => ({
  name: fixedNames.order,
  node: { kind: 'order', of: 'report', id },
})

function entries(id: ReportId): readonly Dentry[] {
  return [
    { name: recordFile(id), node: { kind: 'record', of: 'report', id } },
    { name: id, node: { kind: 'report', id } },
  ]
}
