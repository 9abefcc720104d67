// Generated texts: indexes, the order of a report, status, the user, the report types, the readme.
import { LRUCache } from 'lru-cache'
import type { Catalog } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import { derivedKinds, derivedNames } from '../content-kinds.js'
import { recover } from '../maybe-promise.js'
import { type BatchEntry, textsOf } from '../record/compact/compressed-batch.js'
import { fieldOf, type Json, textOf } from '../record/json/json.js'
import { parseObject } from '../record/json/parse.js'
import { bytesOfParts, compactPrint, prettyPrint } from '../record/json/print.js'
import { quotedCell } from '../record/tsv.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import type { KnownReports } from './names/known-reports.js'
import {
  type CalculationNode,
  type Dentry,
  filterEntries,
  type GeneratedNode,
  type Node,
  nodeKey,
  type ProjectNode,
} from './nodes/node.js'
import type { TextSnapshot } from './records/source.js'
import type { Tree } from './tree/tree.js'

export interface GeneratedSources {
  readonly catalog: Catalog
  readonly tree: Tree
  readonly reports: KnownReports
  readonly status: () => Promise<string>
  /** Nodes that wait to be deleted are not listed. */
  readonly isHidden: (node: Node) => boolean
}

const lookedAtMost = 16
/** Of all of them together. */
const lookedBytes = 32 << 20
const lookedMs = 2_000

/**
 * Each look makes the text again; an open takes that of the look before it. The status differs each time it is made: looks at it
 * within that time see one text, as the kernel takes another one for another file.
 */
export class GeneratedTexts {
  readonly #looked = new LRUCache<string, { readonly text: TextSnapshot; readonly at: Instant }>({
    max: lookedAtMost,
    maxSize: lookedBytes,
    sizeCalculation: ({ text }) => text.bytes.length + 1,
  })

  constructor(
    private readonly sources: GeneratedSources,
    private readonly times: Pick<Times, 'ofText'>,
    private readonly now: () => Instant,
  ) {}

  async look(node: GeneratedNode, context: RequestContext): Promise<TextSnapshot> {
    return (node.text === 'status' ? this.#seen(node) : undefined) ?? this.#made(node, context)
  }

  async open(node: GeneratedNode, context: RequestContext): Promise<TextSnapshot> {
    return this.#seen(node) ?? this.#made(node, context)
  }

  #seen(node: GeneratedNode): TextSnapshot | undefined {
    const looked = this.#looked.get(nodeKey(node))
    return looked !== undefined && this.now() - looked.at < lookedMs ? looked.text : undefined
  }

  async #made(node: GeneratedNode, context: RequestContext): Promise<TextSnapshot> {
    const key = nodeKey(node)
    const made = await generateText(node, this.sources, context)
    const bytes = typeof made === 'string' ? Buffer.from(made) : made
    const text = { bytes, mtime: this.times.ofText(key, bytes, undefined) }
    this.#looked.set(key, { text, at: this.now() })
    return text
  }
}

async function generateText(
  node: GeneratedNode,
  sources: GeneratedSources,
  context: RequestContext,
): Promise<Uint8Array | string> {
  switch (node.text) {
    case 'project-index': {
      const all = await sources.tree.list({ kind: 'project', id: node.id }, context)
      const children = filterEntries(all, entry => isChild(entry) && !sources.isHidden(entry.node))
      return bytesOfParts(indexLines(children))
    }
    case 'report-index':
      return reportIndex(sources, context)
    case 'status':
      return sources.status()
    case 'user':
      return prettyPrint((await sources.catalog.user().ask(context)).record)
    case 'report-types': {
      const types = await sources.catalog.reportTypes().ask(context)
      return prettyPrint({ type: 'array', items: types.map(type => type.record) })
    }
    default:
      return fixedTexts[node.text]
  }
}

/** Without the list of types, which an old answer may be of, their numbers are shown. */
async function reportIndex({ catalog, reports }: GeneratedSources, context: RequestContext): Promise<string> {
  const known = reports.list()
  const types = known.length === 0 ? [] : await recover(catalog.reportTypes().ask(context), () => [])
  const nameOf = (type: string): string => types.find(({ id }) => id === type)?.title ?? type
  const rows = known.map(({ id, title, type, calculations = '?' }) => [id, title, nameOf(type), calculations])
  return [['id', 'title', 'type', 'calculations'], ...rows].map(tsvLine).join('')
}

const ownColumns = ['id', 'kind', 'name']
/** Of a listing whose items have each other fields, a table of all would be the square of it. */
const columnsAtMost = 100

/** A column for each field that the listing carries beside. */
function* indexLines(entries: readonly Dentry[]): Generator<string> {
  const carried = carriedFields(entries)
  const isOwn = (field: string) => ownColumns.includes(field)
  yield tsvLine([...ownColumns, ...carried.map(field => (isOwn(field) ? `listed ${field}` : field))])
  const others = textsOf(bundled(entries))
  for (const entry of entries) {
    if (!isChild(entry)) continue
    const { name, node } = entry
    const other = parseObject(String(others.next().value))
    yield tsvLine([node.id, node.kind, name, ...carried.map(field => plainText(fieldOf(other, field)))])
  }
}

function carriedFields(entries: readonly Dentry[]): readonly string[] {
  const names = new Set<string>()
  for (const text of textsOf(bundled(entries)))
    for (const name of Object.keys(JSON.parse(text))) if (names.size < columnsAtMost) names.add(name)
  return [...names]
}

/** A text without its quotes; nothing for `null`. */
function plainText(json: Json | undefined): string {
  if (json === undefined || (json.type === 'word' && json.raw === 'null')) return ''
  return textOf(json) ?? compactPrint(json)
}

function* bundled(entries: readonly Dentry[]): Generator<BatchEntry> {
  for (const entry of entries)
    if (isChild(entry)) yield { bundle: entry.node.bundle, place: entry.node.place ?? 0 }
}

type ChildEntry = Dentry & { readonly node: ProjectNode | CalculationNode }
const isChild = (entry: Dentry): entry is ChildEntry =>
  entry.node.kind === 'project' || entry.node.kind === 'calculation'

const tsvLine = (row: readonly (string | number)[]): string =>
  `${row.map(value => quotedCell(String(value))).join('\t')}\n`

const generatedEndings = derivedNames.map(name => derivedKinds[name].ending).join(', ')

const firstSteps = `This directory is empty because the service does not tell which projects are yours. What you can do:

cd NAME              here: a project of yours is found by its name, and listed from then on
cd ../db/USER/NAME   a project of a colleague who shares it with you, by the path that the web pages show
cd ../by-id/project/NUMBER
                     any project by its number
calcfs mount --root /db/USER/PROJECT URL DIRECTORY
                     lists this project from the start; root = ["/db/USER/PROJECT"] in the configuration file does it for good
                     a NUMBER does as well, and is what a service without paths needs

.calcfs/status.json  says as "top" what is shown here and why
This file is not listed any more once there is a project.
`

const usersReadme = `The service has no list of what others share with you. What you can do:

cd USER/PROJECT      a colleague's project, by the path that the platform's web pages show
cd ../by-id/project/NUMBER
                     the same by its number, which its owner sees in .project.json
calcfs mount ... --root /db/USER/PROJECT
                     shows it in projects/, from the start

A project that was opened once by its path is listed here in USER/. Where cd says "no such file", ask its owner:
.shares/ of the project says who may see it.
`

const reportsReadme = `The service has no list of reports: this directory lists those that were opened or made here. What you can do:

cat 42.json          any report by its number; it is listed from then on
calcfs report add 42 43 44
                     lists several at once, and says which do not exist
INDEX.tsv, by-name/  the listed ones with their titles

A number comes from the platform's web pages or from the report's author; no operation of the service finds one.
`

const readme = `This drive shows a computational-chemistry data platform.

projects/            your projects; a calculation is a folder with its files and a generated ${generatedEndings}
projects/X/.project.json, X/CALC/.calculation.json
                     the records: edit and save them; .index.tsv lists what a project holds
projects/X/.shares/  users it is shared with; save {"user": "...", "permission": "READ"} as new.json to share it
db/USER/PROJECT      paths as the platform's web pages show them, colleagues' shared projects too
reports/42.json      a report: edit it, save it, and the service has it; save new.json to make one
reports/42/          its calculations in order; move, delete and add lines in order.txt
reports/by-name/     the known reports by their titles, as links
by-id/               any project, calculation or report by its number
.calcfs/status.json  the user signed in, whether the service answers, what is unsent
.calcfs/drafts/      texts that could not be saved, each with a .why that says what to do

mkdir makes a project, mv gives a project or calculation another name, rmdir takes an empty project away.
With --access manage, rm -r CALCULATION deletes it after three seconds: touch it before to keep it. rm -r of a project
is refused; calcfs delete PATH... deletes several things, and asks before.
Files of calculations never change, and you cannot create files here: the server accepts no uploads.
calcfs why PATH explains what failed; touch a folder to see other people's changes at once.
`

const fixedTexts = {
  'first-steps': firstSteps,
  readme,
  'reports-readme': reportsReadme,
  'users-readme': usersReadme,
} as const
