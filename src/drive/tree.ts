// THE mapping from paths to nodes: readdir and lookup of every directory stand side by side, so that they agree.
import type { Catalog, Children, Readable } from '../cache/catalog.js'
import { Failure } from '../failure.js'
import {
  type Ask,
  type CalculationId,
  type Dialect,
  type FileTitle,
  idForm,
  type Listed,
  type ProjectId,
  type ReportId,
  type ReportRow,
  type ShareId,
} from '../remote/remote.js'
import type { KnownReports } from './known-reports.js'
import {
  escapeTitle,
  nameChildren,
  nameFault,
  nameFiles,
  nameGeometry,
  nameRow,
  splitMark,
  titleOf,
} from './name.js'
import { type Dentry, type DirectoryNode, isDirectory, type Node } from './node.js'
import { isProbe } from './probe.js'
import type { Found, Roots } from './roots.js'

/** What the tree looks at; local files of editors and drafts come from the state directory. */
export interface TreeSources {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly roots: Roots
  readonly reports: KnownReports
  readonly local: LocalFiles
}

/** Files that exist here only. */
export interface LocalFiles {
  scratch(directory: string): readonly string[]
  drafts(): readonly string[]
}

export interface Tree {
  /** The node at an absolute path of the drive; Failure 'absent' where there is none. */
  walk(path: string, ask: Ask): Promise<Node>
  list(directory: DirectoryNode, ask: Ask): Promise<readonly Dentry[]>
  /** The directory at a path, `projects/` as the project it stands for; Failure 'not-directory' for a file. */
  directory(path: string, ask: Ask): Promise<DirectoryNode>
  /** The next question about this directory goes to the service. */
  refresh(directory: DirectoryNode, ask: Ask): Promise<void>
}

const ownFiles: readonly Dentry[] = [
  { name: 'status.json', node: { kind: 'generated', text: 'status', id: '' } },
  { name: 'user.json', node: { kind: 'generated', text: 'user', id: '' } },
  { name: 'report-types.json', node: { kind: 'generated', text: 'report-types', id: '' } },
  { name: 'README.txt', node: { kind: 'generated', text: 'readme', id: '' } },
  { name: 'drafts', node: { kind: 'drafts' } },
]
const rootEntries: readonly Dentry[] = [
  { name: 'projects', node: { kind: 'top' } },
  { name: 'db', node: { kind: 'users' } },
  { name: 'reports', node: { kind: 'reports' } },
  { name: 'by-id', node: { kind: 'numbers' } },
  { name: '.calcfs', node: { kind: 'own' } },
]
const numberRooms: readonly Dentry[] = (['project', 'calculation', 'report'] as const).map(of => ({
  name: of,
  node: { kind: 'number-room', of },
}))

/** The scratch directory a directory node has, where editors may make files beside its records. */
export function scratchDirectory(directory: DirectoryNode): string | undefined {
  switch (directory.kind) {
    case 'project':
    case 'calculation':
      return `${directory.kind}-${directory.id}`
    case 'shares':
      return `shares-${directory.project}`
    case 'reports':
      return 'reports'
    case 'report':
      return `report-${directory.id}`
    default:
      return undefined
  }
}

export function openTree(sources: TreeSources): Tree {
  const { catalog, dialect, roots, reports, local } = sources
  const names = new WeakMap<object, Map<string, Node>>()

  async function walk(path: string, ask: Ask): Promise<Node> {
    let node: Node = { kind: 'root' }
    const parts = path.split('/').filter(part => part !== '')
    for (const [at, name] of parts.entries()) {
      if (!isDirectory(node)) throw new Failure('not-directory', `${path}: a part of this path is a file`)
      const fault = nameFault(name)
      if (fault !== undefined) throw new Failure(fault, `${path}: this cannot be the name of anything here`)
      // The kernel asks for each directory of a path by itself; on the way to the last one, what is known will do.
      const known: Node | undefined = at < parts.length - 1 ? knownChild(node, name) : undefined
      const next: Node | undefined = known ?? (await lookup(node, name, ask))
      if (next === undefined) throw new Failure('absent', `${path}: there is nothing of this name`)
      node = next
    }
    return node
  }

  function knownChild(directory: DirectoryNode, name: string): Node | undefined {
    if (directory.kind !== 'project') return undefined
    const children = catalog.knownChildren(directory.id)
    return children === undefined ? undefined : childrenByName(children).get(name)
  }

  async function lookup(directory: DirectoryNode, name: string, ask: Ask): Promise<Node | undefined> {
    const scratch = scratchDirectory(await actual(directory, ask))
    if (scratch !== undefined && local.scratch(scratch).includes(name)) {
      return { kind: 'scratch', place: { directory: scratch, name } }
    }
    if (isProbe(name)) return knownChild(directory, name)
    switch (directory.kind) {
      case 'root':
        return nodeIn(rootEntries, name)
      case 'own':
        return nodeIn(ownFiles, name)
      case 'numbers':
        return nodeIn(numberRooms, name)
      case 'top':
        return lookupTop(name, ask)
      case 'project':
        return lookupInProject(directory.id, name, ask)
      case 'users':
        return lookupUser(name, ask)
      case 'user':
        return lookupBelowUser(directory.name, name, ask)
      case 'number-room':
        return lookupNumber(directory.of, name, ask)
      case 'reports':
        return lookupReport(name, ask)
      case 'calculation':
      case 'shares':
      case 'report':
      case 'drafts':
        return nodeIn(await list(directory, ask), name)
    }
  }

  /** `projects/` is a project itself where the user's root has an id. */
  async function actual(directory: DirectoryNode, ask: Ask): Promise<DirectoryNode> {
    if (directory.kind !== 'top') return directory
    const top = await roots.top(ask)
    return top.form === 'one' ? { kind: 'project', id: top.id } : directory
  }

  async function list(directory: DirectoryNode, ask: Ask): Promise<readonly Dentry[]> {
    const node = await actual(directory, ask)
    const scratch = scratchDirectory(node)
    const entries = await listOwn(node, ask)
    if (scratch === undefined) return entries
    const beside = local.scratch(scratch).map(name => scratchEntry(scratch, name))
    return beside.length === 0 ? entries : [...entries, ...beside]
  }

  async function listOwn(directory: DirectoryNode, ask: Ask): Promise<readonly Dentry[]> {
    switch (directory.kind) {
      case 'root':
        return rootEntries
      case 'own':
        return ownFiles
      case 'numbers':
        return numberRooms
      case 'number-room':
        return []
      case 'top':
        return dentries(topByName((await severalAtTop(ask)).entries))
      case 'project':
        return [
          ...projectOwn(directory.id),
          ...dentries(childrenByName(await catalog.children(directory.id, ask))),
        ]
      case 'calculation':
        return listCalculation(directory, ask)
      case 'shares':
        return listShares(directory.project, ask)
      case 'users':
        return (await roots.users(ask)).map(name => ({
          name: escapeTitle(name),
          node: { kind: 'user', name },
        }))
      case 'user':
        return listBelowUser(directory.name, ask)
      case 'reports':
        return [reportIndex, ...reports.list().flatMap(({ id }) => reportEntries(id))]
      case 'report':
        return listReport(directory.id, ask)
      case 'drafts':
        return local.drafts().map(name => ({ name, node: { kind: 'draft-text', name } }))
    }
  }

  // ── projects ────────────────────────────────────────────────────────────────────────────────────────────────────
  async function severalAtTop(ask: Ask) {
    const top = await roots.top(ask)
    return top.form === 'several' ? top : { entries: [], users: [top.user] }
  }

  async function lookupTop(name: string, ask: Ask): Promise<Node | undefined> {
    const top = await roots.top(ask)
    if (top.form === 'one') return lookupInProject(top.id, name, ask)
    const known = topByName(top.entries).get(name)
    if (known !== undefined) return known
    for (const user of top.users) {
      const found = await roots.find(user, titleOf(name), ask)
      if (found !== undefined) return { kind: 'project', id: found.id }
    }
    return undefined
  }

  async function lookupInProject(id: ProjectId, name: string, ask: Ask): Promise<Node | undefined> {
    const own = nodeIn(projectOwn(id), name)
    if (own !== undefined) return own
    const children = await catalog.children(id, ask)
    return childrenByName(children).get(name) ?? markedChild(children, name)
  }

  /** `name~c7` finds calculation 7 here, whoever has the bare name just now. */
  function markedChild(children: Children, name: string): Node | undefined {
    const mark = splitMark(name)
    if (mark?.letter === 'p') return children.projects.filter(({ id }) => id === mark.id).map(projectNode)[0]
    if (mark?.letter === 'c')
      return children.calculations.filter(({ id }) => id === mark.id).map(calculationNode)[0]
    return undefined
  }

  function childrenByName(children: Children): Map<string, Node> {
    return remembered(children, () => {
      const nodes: Node[] = [
        ...children.projects.map(projectNode),
        ...children.calculations.map(calculationNode),
      ]
      const given = nameChildren([
        ...children.projects.map(({ id, title }) => ({ kind: 'project', id, title }) as const),
        ...children.calculations.map(({ id, title }) => ({ kind: 'calculation', id, title }) as const),
      ])
      return new Map(given.flatMap((name, at) => pairWith(name, nodes[at])))
    })
  }

  function topByName(entries: readonly Found[]): Map<string, Node> {
    const unique = [...new Map(entries.map(entry => [entry.id, entry])).values()]
    const given = nameChildren(unique.map(({ id, title }) => ({ kind: 'project', id, title })))
    return new Map(unique.flatMap(({ id }, at) => pairWith(given[at] ?? id, { kind: 'project', id })))
  }

  function remembered(owner: object, make: () => Map<string, Node>): Map<string, Node> {
    const known = names.get(owner) ?? make()
    names.set(owner, known)
    return known
  }

  // ── calculations ────────────────────────────────────────────────────────────────────────────────────────────────
  async function listCalculation(calculation: CalculationNode, ask: Ask): Promise<readonly Dentry[]> {
    const { id, title, date } = calculation
    const titles = await catalog.files(id, ask)
    const files = nameFiles(titles)
    const entries: Dentry[] = [{ name: '.calculation.json', node: { kind: 'record', of: 'calculation', id } }]
    for (const [name, file] of files) {
      entries.push({
        name,
        node: { kind: 'content', content: { of: 'file', calculation: id, title: file as FileTitle }, date },
      })
    }
    if (await catalog.hasGeometry(id, ask)) {
      const name = nameGeometry({ id, title }, files)
      const content = { of: 'xyz', calculation: id, title: name as FileTitle } as const
      entries.push({ name, node: { kind: 'content', content, date } })
    }
    return entries
  }

  async function listShares(project: ProjectId, ask: Ask): Promise<readonly Dentry[]> {
    const shares = await catalog.shares(project, ask)
    return shares.map(({ id }) => ({
      name: `${id}.json`,
      node: { kind: 'record', of: 'share', id: id as ShareId, project },
    }))
  }

  // ── db ──────────────────────────────────────────────────────────────────────────────────────────────────────────
  async function lookupUser(name: string, ask: Ask): Promise<Node | undefined> {
    const user = titleOf(name)
    if ((await roots.users(ask)).includes(user)) return { kind: 'user', name: user }
    const top = await roots.top(ask)
    // Where not even the caller's own space has an id, a name that has none proves nothing: what is below may resolve.
    if (top.form === 'several' || (await roots.userRoot(user, ask)) !== undefined)
      return { kind: 'user', name: user }
    return undefined
  }

  async function lookupBelowUser(user: string, name: string, ask: Ask): Promise<Node | undefined> {
    const listed = nodeIn(await listBelowUser(user, ask), name)
    if (listed !== undefined) return listed
    const found = (await roots.find(user, name, ask)) ?? (await roots.find(user, titleOf(name), ask))
    return found === undefined ? undefined : { kind: 'link', to: `../../by-id/project/${found.id}` }
  }

  async function listBelowUser(user: string, ask: Ask): Promise<readonly Dentry[]> {
    const top = await roots.top(ask)
    if (top.form === 'one' ? top.user === user : top.users.includes(user)) {
      const own =
        top.form === 'one' ? childrenByName(await catalog.children(top.id, ask)) : topByName(top.entries)
      return [...own.keys()].map(name => ({ name, node: { kind: 'link', to: `../../projects/${name}` } }))
    }
    const root = await roots.userRoot(user, ask)
    const found = root === undefined ? roots.foundBelow(user) : (await catalog.children(root, ask)).projects
    return dentries(topByName(found)).map(({ name, node }) => ({
      name,
      node: node.kind === 'project' ? { kind: 'link', to: `../../by-id/project/${node.id}` } : node,
    }))
  }

  // ── reports ─────────────────────────────────────────────────────────────────────────────────────────────────────
  async function lookupReport(name: string, ask: Ask): Promise<Node | undefined> {
    if (name === reportIndex.name) return reportIndex.node
    const [, number, json] = /^(\d+)(\.json)?$/.exec(name) ?? []
    if (number === undefined || !idForm.test(number)) return undefined
    const id = number as ReportId
    reports.refresh(id, await catalog.record({ kind: 'report', id }, ask))
    return json === undefined ? { kind: 'report', id } : { kind: 'record', of: 'report', id }
  }

  async function listReport(id: ReportId, ask: Ask): Promise<readonly Dentry[]> {
    const rows = dialect.rows(await catalog.record({ kind: 'report', id }, ask)) ?? []
    const digits = Math.max(2, String(rows.length).length)
    const links = await Promise.all(
      rows.map(async (row, at) => reportLink(row, String(at + 1).padStart(digits, '0'), ask)),
    )
    return [{ name: 'order.txt', node: { kind: 'generated', text: 'order', id } }, ...links]
  }

  async function reportLink(row: ReportRow, place: string, ask: Ask): Promise<Dentry> {
    const title = row.title ?? (await titleOfCalculation(row.calculation, ask))
    return {
      name: nameRow(place, title, row.calculation),
      node: { kind: 'link', to: `../../by-id/calculation/${row.calculation}` },
    }
  }

  async function titleOfCalculation(id: CalculationId, ask: Ask): Promise<string> {
    try {
      return dialect.facts(await catalog.record({ kind: 'calculation', id }, ask)).title ?? ''
    } catch (thrown) {
      // A row may name a calculation that is gone or not ours to see; the row itself still stands in the list.
      if (thrown instanceof Failure && (thrown.kind === 'absent' || thrown.kind === 'forbidden')) return ''
      throw thrown
    }
  }

  async function lookupNumber(
    of: 'project' | 'calculation' | 'report',
    name: string,
    ask: Ask,
  ): Promise<Node | undefined> {
    if (!idForm.test(name)) return undefined
    switch (of) {
      case 'project':
        return datedNode({ kind: 'project', id: name as ProjectId }, ask)
      case 'calculation':
        return datedNode({ kind: 'calculation', id: name as CalculationId }, ask)
      case 'report':
        await catalog.record({ kind: 'report', id: name as ReportId }, ask)
        return { kind: 'link', to: `../../reports/${name}.json` }
    }
  }

  async function datedNode(of: Exclude<Readable, { kind: 'report' }>, ask: Ask): Promise<Node> {
    const { title, created, modified } = dialect.facts(await catalog.record(of, ask))
    const date = modified ?? created
    return of.kind === 'project' ? { ...of, date } : { ...of, title: title ?? '', date }
  }

  async function directory(path: string, ask: Ask): Promise<DirectoryNode> {
    const node = await walk(path, ask)
    if (!isDirectory(node)) throw new Failure('not-directory', `${path} is not a directory`)
    return actual(node, ask)
  }

  async function refresh(directory: DirectoryNode, ask: Ask): Promise<void> {
    const node = await actual(directory, ask)
    switch (node.kind) {
      case 'project':
        return catalog.refreshProject(node.id)
      case 'shares':
        return catalog.refreshProject(node.project)
      case 'calculation':
        return catalog.refreshCalculation(node.id)
      case 'report':
        return catalog.refreshRecord({ kind: 'report', id: node.id })
      case 'reports':
        for (const { id } of reports.list()) catalog.refreshRecord({ kind: 'report', id })
        return
      default:
        return
    }
  }

  return { walk, list, directory, refresh }
}

const reportIndex: Dentry = { name: 'INDEX.tsv', node: { kind: 'generated', text: 'report-index', id: '' } }

function projectOwn(id: ProjectId): readonly Dentry[] {
  return [
    { name: '.project.json', node: { kind: 'record', of: 'project', id } },
    { name: '.index.tsv', node: { kind: 'generated', text: 'project-index', id } },
    { name: '.shares', node: { kind: 'shares', project: id } },
  ]
}

function reportEntries(id: ReportId): readonly Dentry[] {
  return [
    { name: `${id}.json`, node: { kind: 'record', of: 'report', id } },
    { name: id, node: { kind: 'report', id } },
  ]
}

type CalculationNode = Extract<Node, { kind: 'calculation' }>

const projectNode = ({ id, facts }: Listed<ProjectId>): Node => ({
  kind: 'project',
  id,
  date: facts.modified ?? facts.created,
})
const calculationNode = ({ id, title, facts }: Listed<CalculationId>): Node => ({
  kind: 'calculation',
  id,
  title,
  date: facts.modified ?? facts.created,
})
const scratchEntry = (directory: string, name: string): Dentry => ({
  name,
  node: { kind: 'scratch', place: { directory, name } },
})
const nodeIn = (entries: readonly Dentry[], name: string): Node | undefined =>
  entries.find(entry => entry.name === name)?.node
const dentries = (named: Map<string, Node>): Dentry[] => [...named].map(([name, node]) => ({ name, node }))
const pairWith = (name: string, node: Node | undefined): [string, Node][] =>
  node === undefined ? [] : [[name, node]]
