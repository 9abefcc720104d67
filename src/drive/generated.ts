// The texts that calcfs writes itself: indexes, the order of a report, status, the caller, the report types, a word of help.
import type { Catalog } from '../cache/catalog.js'
import { escapeCell } from '../record/cell.js'
import { prettyPrint } from '../record/print.js'
import type { Ask, Dialect, ProjectId } from '../remote/remote.js'
import type { KnownReports } from './known-reports.js'
import type { Dentry, GeneratedNode } from './node.js'
import type { Tree } from './tree.js'

export interface GeneratedSources {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly tree: Tree
  readonly reports: KnownReports
  /** The mount's own state as JSON text. */
  readonly status: () => Promise<string>
}

/** The present wording of a generated text. */
export async function generate(node: GeneratedNode, sources: GeneratedSources, ask: Ask): Promise<string> {
  switch (node.text) {
    case 'project-index':
      return projectIndex(node.id, sources, ask)
    case 'report-index':
      return table(
        ['id', 'title', 'type', 'calculations'],
        sources.reports.list().map(known => [known.id, known.title, known.type, known.calculations ?? '?']),
      )
    case 'status':
      return sources.status()
    case 'user':
      return prettyPrint((await sources.catalog.user(ask)).record)
    case 'report-types': {
      const types = await sources.catalog.reportTypes(ask)
      return prettyPrint({ type: 'array', items: types.map(type => type.record) })
    }
    case 'readme':
      return readme
  }
}

async function projectIndex(id: ProjectId, sources: GeneratedSources, ask: Ask): Promise<string> {
  const children = await sources.catalog.children(id, ask)
  const rest = new Map([
    ...children.projects.map(child => [`project ${child.id}`, child.rest] as const),
    ...children.calculations.map(child => [`calculation ${child.id}`, child.rest] as const),
  ])
  const entries = await sources.tree.list({ kind: 'project', id }, ask)
  return table(
    ['id', 'kind', 'name', 'listed'],
    entries.flatMap(entry => indexLine(entry, rest)),
  )
}

function indexLine({ name, node }: Dentry, rest: ReadonlyMap<string, string>): string[][] {
  if (node.kind !== 'project' && node.kind !== 'calculation') return []
  return [[node.id, node.kind, name, rest.get(`${node.kind} ${node.id}`) ?? '{}']]
}

function table(head: readonly string[], rows: readonly (readonly (string | number)[])[]): string {
  return [head, ...rows].map(row => `${row.map(value => escapeCell(String(value))).join('\t')}\n`).join('')
}

const readme = `This drive shows a computational-chemistry data platform.

projects/            your projects; a calculation is a folder with its files and a generated .xyz
projects/X/.project.json, X/CALC/.calculation.json
                     the records: edit and save them; .index.tsv lists what a project holds
projects/X/.shares/  who else sees it; save {"user": "...", "permission": "READ"} as new.json to share it
db/USER/PROJECT      paths as the platform's web pages show them, colleagues' shared projects too
reports/42.json      a report: edit it, save it, and the service has it; save new.json to make one
reports/42/          its calculations in order; move, delete and add lines in order.txt
by-id/               any project, calculation or report by its number
.calcfs/status.json  who is signed in, whether the service answers, what is unsent
.calcfs/drafts/      texts that could not be saved, each with a .why that says what to do

mkdir makes a project, mv gives a project or calculation another name, rmdir takes an empty project away.
Files of calculations never change and cannot be created here: the service has no upload.
calcfs why PATH explains what failed; touch a folder to see other people's changes at once.
`
