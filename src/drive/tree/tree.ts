// Tree: the one mapping from paths to nodes; lookup and readdir of every directory stand side by side, so that they agree.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import {
  type CalculationId,
  type Dialect,
  idForm,
  type ProjectId,
  type ReportId,
  type RequestContext,
} from '../../remote/remote.js'
import type { KnownReports } from '../names/known-reports.js'
import type { NameAliases } from '../names/name-aliases.js'
import type { Roots } from '../names/roots.js'
import { nameFault } from '../nodes/name.js'
import {
  type Dentry,
  type DirectoryNode,
  isDirectory,
  type NewNode,
  type Node,
  nodeIn,
} from '../nodes/node.js'
import { type Name, type Place, rootPlace } from '../nodes/place.js'
import { isNewName, isProbe } from '../nodes/well-known-names.js'
import type { AccessRights } from './access.js'
import { openCalculationTree } from './calculation.js'
import { openMarks } from './identity-mark.js'
import { openProjectTree } from './projects.js'
import { type LocalFiles, type NewPlace, openReportTree } from './reports.js'
import { openUserTree } from './users.js'

/** The sources of the tree; editors' files and drafts come from the state directory. */
export interface TreeSources {
  readonly catalog: Catalog
  readonly identities: Identities
  readonly dialect: Dialect
  readonly roots: Roots
  readonly reports: KnownReports
  readonly rights: AccessRights
  readonly aliases: NameAliases
  readonly local: LocalFiles
}

const rootEntries: readonly Dentry[] = [
  { name: fixedNames.projects, node: { kind: 'top' } },
  { name: fixedNames.users, node: { kind: 'users' } },
  { name: fixedNames.reports, node: { kind: 'reports' } },
  { name: fixedNames.numbers, node: { kind: 'numbers' } },
  { name: fixedNames.own, node: { kind: 'own' } },
]
const ownEntries: readonly Dentry[] = [
  { name: fixedNames.status, node: { kind: 'generated', text: 'status', id: '' } },
  { name: fixedNames.user, node: { kind: 'generated', text: 'user', id: '' } },
  { name: fixedNames.reportTypes, node: { kind: 'generated', text: 'report-types', id: '' } },
  { name: fixedNames.readme, node: { kind: 'generated', text: 'readme', id: '' } },
  { name: fixedNames.drafts, node: { kind: 'drafts' } },
]
/** Without what the instance does not tell. */
const ownShown = ({ lacks }: Catalog): readonly Dentry[] =>
  ownEntries.filter(({ node }) => {
    const text = node.kind === 'generated' ? node.text : undefined
    return (text !== 'user' && text !== 'report-types') || !lacks(text)
  })

export function openTree(sources: TreeSources) {
  const { catalog, dialect, roots, reports, rights, local } = sources
  const marks = openMarks(sources)
  const projects = openProjectTree(sources, roots)
  const calculations = openCalculationTree(catalog, marks)
  const users = openUserTree(catalog, roots, projects)
  const doubted = new WeakSet<Failure>()
  const reportTree = openReportTree({ catalog, dialect, reports, hasDraft: local.hasDraft })

  /** The node at an absolute path of the drive; Failure 'absent' where there is none. */
  function walk(path: string, context: RequestContext): MaybePromise<Node> {
    const names = path.split('/').filter(name => name !== '')
    return chain(descend(rootPlace, names, context), ({ node }) => node)
  }

  /** Down from a place that is there, by the names that are left. */
  function descend(from: Place, names: readonly string[], context: RequestContext): MaybePromise<Place> {
    const [name, ...others] = names
    if (name === undefined) return from
    return chain(child({ parent: from, name }, context), node =>
      descend({ node, parent: from, name }, others, context),
    )
  }

  /** The node under a name of a directory; Failure 'absent' where there is none. */
  function child({ parent, name }: Name, context: RequestContext): MaybePromise<Node> {
    const directory = parent.node
    if (!isDirectory(directory)) throw new Failure('not-directory', `${parent.name} is a file`)
    const fault = nameFault(name)
    if (fault !== undefined) throw new Failure(fault, `${name}: this cannot be the name of anything here`)
    const found = lookup(directory, name, context)
    if (!(found instanceof Promise)) return requireNode(found, name)
    return found.catch(thrown => nothingIn(directory, thrown)).then(node => requireNode(node, name))
  }

  /**
   * Nothing, where a name was refused. A refusal of the directory's own list says nothing of the names in it, and what lists
   * that directory is asked again.
   * @throws Failure 'in-doubt', or any failure that is no refusal
   */
  function nothingIn(directory: DirectoryNode, thrown: unknown): undefined {
    const failure = asFailure(thrown)
    const isOwnList = directory.kind === 'project' || directory.kind === 'calculation'
    const isRefused = failure.kind === 'absent' || (failure.kind === 'invalid' && !isOwnList)
    if (!isRefused) throw failure
    if (!listed.has(directory.kind)) return undefined
    const known = directory.kind === 'project' ? catalog.parentOf(directory.id) : undefined
    const parent = known ?? (isOwnList ? directory.parent : undefined)
    // 'Not there' is believed for a while: one such answer asks once.
    if (parent !== undefined && !doubted.has(failure)) catalog.refreshProject(parent)
    doubted.add(failure)
    throw new Failure('in-doubt', failure.message, { cause: failure, said: failure.said })
  }

  function lookup(
    directory: DirectoryNode,
    name: string,
    context: RequestContext,
  ): MaybePromise<Node | undefined> {
    // A real thing of such a name was listed before; nothing is asked for it.
    if (isProbe(name)) return nodeIn(listKnown(directory) ?? [], name)
    const met = directory.kind === 'project' ? marks.of(directory, context) : undefined
    return chain(met, () =>
      chain(actual(directory, context), node => lookupIn(directory, scratchDirectory(node), name, context)),
    )
  }

  /** `place` is where the editors' files of that directory lie. */
  function lookupIn(
    directory: DirectoryNode,
    place: string | undefined,
    name: string,
    context: RequestContext,
  ): MaybePromise<Node | undefined> {
    const beside = place === undefined ? undefined : nodeIn(local.scratch(place), name)
    if (beside !== undefined) return beside
    const fresh = newIn(directory, name)
    if (fresh !== undefined) return local.isNew(fresh) ? fresh : undefined
    switch (directory.kind) {
      case 'root':
        return nodeIn(rootEntries, name)
      case 'own':
        return nodeIn(ownShown(catalog), name)
      case 'numbers':
        return nodeIn(idDirectories, name)
      case 'top':
        return projects.lookupTop(name, context)
      case 'project':
        return projects.lookup(directory.id, name, context)
      case 'users':
        return users.lookup(name)
      case 'user':
        return users.lookupBelow(directory.name, name, context)
      case 'number-room':
        return lookupById({ of: directory.of, name }, { catalog, dialect, rights }, context)
      case 'reports':
        return reportTree.lookup(name, context)
      case 'report-names':
        return nodeIn(reportTree.listNames(), name)
      case 'report':
        return reportTree.lookupRow(directory.id, name, context)
      case 'calculation':
        return calculations.lookup(directory, name, context)
      case 'shares':
      case 'drafts':
        return listOwn(directory, context).then(entries => nodeIn(entries, name))
    }
  }

  async function list(directory: DirectoryNode, context: RequestContext): Promise<readonly Dentry[]> {
    const node = await actual(directory, context)
    if (node.kind === 'project') await marks.of(node, context)
    const listed = directory.kind === 'top' ? await projects.listTop(context) : await listOwn(node, context)
    const fresh = newPlace(node)
    const unsent = fresh === undefined ? [] : local.unsentNew(fresh)
    const entries = [...listed, ...unsent.map(node => ({ name: node.name, node }))]
    const place = scratchDirectory(node)
    if (place === undefined) return entries
    const beside = local.scratch(place)
    return beside.length === 0 ? entries : [...entries, ...beside]
  }

  async function listOwn(directory: DirectoryNode, context: RequestContext): Promise<readonly Dentry[]> {
    switch (directory.kind) {
      case 'root':
        return rootEntries
      case 'own':
        return ownShown(catalog)
      case 'numbers':
        return idDirectories
      case 'number-room':
        return []
      case 'top':
        return projects.listTop(context)
      case 'project':
        return projects.list(directory.id, context)
      case 'shares':
        return projects.listShares(directory.project, context)
      case 'calculation':
        return calculations.list(directory, context)
      case 'users':
        return users.list(context)
      case 'user':
        return users.listBelow(directory.name, context)
      case 'reports':
        return reportTree.list()
      case 'report-names':
        return reportTree.listNames()
      case 'report':
        return reportTree.listRows(directory.id, context)
      case 'drafts':
        return local.drafts().map(name => ({ name, node: { kind: 'draft-text', name } }))
    }
  }

  /** The entries known at the last question, without any request; undefined where they are not known. */
  function listKnown(directory: DirectoryNode): readonly Dentry[] | undefined {
    switch (directory.kind) {
      case 'root':
        return rootEntries
      case 'top':
        return projects.listKnownTop()
      case 'project':
        return projects.listKnown(directory.id)
      case 'calculation':
        return calculations.listKnown(directory)
      case 'reports':
        return reportTree.list()
      default:
        return undefined
    }
  }

  /** `projects/` is a project itself where the user's root has an id. */
  function actual(directory: DirectoryNode, context: RequestContext): MaybePromise<DirectoryNode> {
    if (directory.kind !== 'top') return directory
    return roots.top(context).then(top => (top.form === 'one' ? { kind: 'project', id: top.id } : directory))
  }

  /** The directory at a path, `projects/` as the project it stands for; Failure 'not-directory' for a file. */
  async function directory(path: string, context: RequestContext): Promise<DirectoryNode> {
    const node = await walk(path, context)
    if (!isDirectory(node)) throw new Failure('not-directory', `${path} is not a directory`)
    return actual(node, context)
  }

  /** The next question about this directory goes to the service. */
  async function refresh(directory: DirectoryNode, context: RequestContext): Promise<void> {
    const node = await actual(directory, context)
    switch (node.kind) {
      case 'project':
        return catalog.refreshProject(node.id)
      case 'shares':
        return catalog.refreshProject(node.project)
      case 'calculation':
        return catalog.refreshCalculation(node.id)
      case 'report':
        return catalog.record({ kind: 'report', id: node.id }).refresh()
      case 'reports':
        for (const { id } of reports.list()) catalog.record({ kind: 'report', id }).refresh()
        return
      default:
        return
    }
  }

  return { walk, child, actual, list, listKnown, directory, refresh }
}

export type Tree = ReturnType<typeof openTree>

/** Directories in which the service is asked for a list, and not for the name. */
const listed = new Set<DirectoryNode['kind']>(['top', 'users', 'user', 'project', 'calculation'])

function requireNode(found: Node | undefined, name: string): Node {
  if (found === undefined) throw new Failure('absent', `${name}: there is nothing of this name`)
  return found
}

const newPlace = (directory: DirectoryNode): NewPlace | undefined =>
  directory.kind === 'reports' || directory.kind === 'shares' ? directory : undefined

/** The thing that a save under this name makes here, if any. */
export function newIn(directory: DirectoryNode, name: string): NewNode | undefined {
  if (!isNewName(name)) return undefined
  if (directory.kind === 'reports') return { kind: 'new', of: 'report', name }
  return directory.kind === 'shares'
    ? { kind: 'new', of: 'share', name, project: directory.project }
    : undefined
}

/** The directory of local files that belongs to a directory of the drive, where editors make files beside records. */
export function scratchDirectory(directory: DirectoryNode): string | undefined {
  switch (directory.kind) {
    case 'project':
    case 'calculation':
    case 'report':
      return `${directory.kind}-${directory.id}`
    case 'shares':
      return `shares-${directory.project}`
    case 'reports':
      return 'reports'
    default:
      return undefined
  }
}

const idKinds = ['project', 'calculation', 'report'] as const
type IdDirectory = (typeof idKinds)[number]

const idDirectories: readonly Dentry[] = idKinds.map(of => ({
  name: of,
  node: { kind: 'number-room', of },
}))

/** The node of a number; the service is asked whether it exists. A report is a link to its file. */
async function lookupById(
  { of, name }: { of: IdDirectory; name: string },
  { catalog, dialect, rights }: { catalog: Catalog; dialect: Dialect; rights: AccessRights },
  context: RequestContext,
): Promise<Node | undefined> {
  if (!idForm.test(name)) return undefined
  switch (of) {
    case 'project': {
      const id = name as ProjectId
      const [record] = await Promise.all([
        catalog.record({ kind: 'project', id }).ask(context),
        // A project in no listing of the caller's own is a colleague's, and perhaps shared for reading only.
        catalog.parentOf(id) === undefined ? rights.meet(id, context) : undefined,
      ])
      const { born, title, created, modified } = dialect.facts(record)
      return { kind: 'project', id, title, born, date: modified ?? created, parent: catalog.parentOf(id) }
    }
    case 'calculation': {
      const id = name as CalculationId
      const { born, title, created, modified } = dialect.facts(
        await catalog.record({ kind: 'calculation', id }).ask(context),
      )
      return { kind: 'calculation', id, title: title ?? '', born, date: modified ?? created }
    }
    case 'report':
      await catalog.record({ kind: 'report', id: name as ReportId }).ask(context)
      return { kind: 'link', to: `../../reports/${name}.json` }
  }
}
