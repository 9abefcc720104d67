// THE mapping from paths to nodes: lookup and readdir of every directory stand side by side, so that they agree.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure } from '../../failure.js'
import { after, type Soon } from '../../maybe-promise.js'
import type { Ask, Dialect, Instant, ProjectId } from '../../remote/remote.js'
import type { FreedNames } from '../names/freed-names.js'
import type { KnownReports } from '../names/known-reports.js'
import type { WrittenNames } from '../names/name-aliases.js'
import type { Roots } from '../names/roots.js'
import { isNewName } from '../nodes/local-names.js'
import { nameFault } from '../nodes/name.js'
import {
  type Dentry,
  type DirectoryNode,
  isDirectory,
  type NewNode,
  type Node,
  nodeIn,
} from '../nodes/node.js'
import { isProbe } from '../nodes/well-known-names.js'
import type { Rights } from './access.js'
import { lookupNumber, numberRooms } from './by-id.js'
import { openCalculationTree } from './calculation.js'
import type { LocalFiles, NewPlace } from './local-files.js'
import { openMeet } from './met.js'
import { cutAt, cutIn } from './own-ancestor.js'
import { openProjectTree } from './projects.js'
import { openReportTree } from './reports.js'
import { openUserTree } from './users.js'

/** What the tree looks at; editors' files and drafts come from the state directory. */
export interface TreeSources {
  readonly catalog: Catalog
  readonly identities: Identities
  readonly dialect: Dialect
  readonly roots: Roots
  readonly reports: KnownReports
  readonly rights: Rights
  readonly written: WrittenNames
  readonly local: LocalFiles
  readonly freed: FreedNames
  readonly now: () => Instant
}

export interface Tree {
  /** The node at an absolute path of the drive; Failure 'absent' where there is none. */
  walk(path: string, ask: Ask): Soon<Node>
  /** With its path, a project that is one of those above it is a link. */
  list(directory: DirectoryNode, ask: Ask, path?: string): Promise<readonly Dentry[]>
  /** The directory at a path, `projects/` as the project it stands for; Failure 'not-directory' for a file. */
  directory(path: string, ask: Ask): Promise<DirectoryNode>
  /** The next question about this directory goes to the service. */
  refresh(directory: DirectoryNode, ask: Ask): Promise<void>
}

const root: Node = { kind: 'root' }
const rootEntries: readonly Dentry[] = [
  { name: 'projects', node: { kind: 'top' } },
  { name: 'db', node: { kind: 'users' } },
  { name: 'reports', node: { kind: 'reports' } },
  { name: 'by-id', node: { kind: 'numbers' } },
  { name: '.calcfs', node: { kind: 'own' } },
]
const ownEntries: readonly Dentry[] = [
  { name: 'status.json', node: { kind: 'generated', text: 'status', id: '' } },
  { name: 'user.json', node: { kind: 'generated', text: 'user', id: '' } },
  { name: 'report-types.json', node: { kind: 'generated', text: 'report-types', id: '' } },
  { name: 'README.txt', node: { kind: 'generated', text: 'readme', id: '' } },
  { name: 'drafts', node: { kind: 'drafts' } },
]

export function openTree(sources: TreeSources): Tree {
  const { catalog, dialect, roots, reports, rights, local } = sources
  const meet = openMeet(sources.identities)
  const projects = openProjectTree(sources, roots)
  const calculations = openCalculationTree(catalog, meet)
  const users = openUserTree(catalog, roots, projects)
  const reportTree = openReportTree({ catalog, dialect, reports, hasDraft: local.hasDraft })

  function walk(path: string, ask: Ask): Soon<Node> {
    const names = path.split('/').filter(name => name !== '')
    return descend({ path, names, ask, above: [] }, root, 0)
  }

  /** Down from a node that is there, by the names that are left. */
  function descend(way: Way, from: Node, begun: number): Soon<Node> {
    const { path, names, ask, above } = way
    let node = from
    for (let at = begun; at < names.length; at += 1) {
      const name = names[at] ?? ''
      if (!isDirectory(node)) throw new Failure('not-directory', `${path}: a part of this path is a file`)
      const fault = nameFault(name)
      if (fault !== undefined) throw new Failure(fault, `${path}: this cannot be the name of anything here`)
      noteAbove(node, above)
      // The kernel asks for each directory of a path by itself; on the way to the last one, what is known will do.
      const known = at < names.length - 1 ? knownChild(node, name) : undefined
      const next = known ?? lookup(node, name, ask)
      if (next instanceof Promise)
        return next.catch(unlessNothing).then(found => descend(way, cutAt(there(found, path), above), at + 1))
      node = cutAt(there(next, path), above)
    }
    return node
  }

  /** The projects on a way, `projects/` as the one it stands for. */
  function noteAbove(directory: DirectoryNode, above: ProjectId[]): void {
    if (directory.kind === 'project') above.push(directory.id)
    const top = directory.kind === 'top' ? roots.known() : undefined
    if (top?.form === 'one') above.push(top.id)
  }

  /** Of a directory, itself included. */
  async function aboveOf(path: string, ask: Ask): Promise<readonly ProjectId[]> {
    const way = { path, names: path.split('/').filter(name => name !== ''), ask, above: [] }
    const node = await descend(way, root, 0)
    if (isDirectory(node)) noteAbove(node, way.above)
    return way.above
  }

  const isKnownFile = (directory: DirectoryNode, name: string): boolean =>
    directory.kind === 'calculation' && calculations.isKnownFile(directory, name)

  function knownChild(directory: DirectoryNode, name: string): Node | undefined {
    if (directory.kind === 'project') meet(directory)
    switch (directory.kind) {
      case 'root':
        return nodeIn(rootEntries, name)
      case 'top':
        return projects.knownTop(name)
      case 'project':
        return projects.known(directory.id, name)
      default:
        return undefined
    }
  }

  function knownProbe(directory: DirectoryNode, name: string): Node | undefined {
    if (directory.kind === 'top') return projects.knownTop(name)
    return directory.kind === 'project' ? projects.known(directory.id, name) : undefined
  }

  function lookup(directory: DirectoryNode, name: string, ask: Ask): Soon<Node | undefined> {
    if (directory.kind === 'project') meet(directory)
    // What the service really has under such a name was listed before; nothing is asked for it.
    if (isProbe(name) && !isKnownFile(directory, name)) return knownProbe(directory, name)
    return after(actual(directory, ask), node => lookupIn(directory, scratchDirectory(node), name, ask))
  }

  /** `place` is where the editors' files of that directory lie. */
  function lookupIn(
    directory: DirectoryNode,
    place: string | undefined,
    name: string,
    ask: Ask,
  ): Soon<Node | undefined> {
    const beside = place === undefined ? undefined : nodeIn(local.scratch(place), name)
    if (beside !== undefined) return beside
    const fresh = newIn(directory, name)
    if (fresh !== undefined) return local.isNew(fresh) ? fresh : undefined
    switch (directory.kind) {
      case 'root':
        return nodeIn(rootEntries, name)
      case 'own':
        return nodeIn(ownEntries, name)
      case 'numbers':
        return nodeIn(numberRooms, name)
      case 'top':
        return projects.lookupTop(name, ask)
      case 'project':
        return projects.lookup(directory.id, name, ask)
      case 'users':
        return users.lookup(name)
      case 'user':
        return users.lookupBelow(directory.name, name, ask)
      case 'number-room':
        return lookupNumber({ of: directory.of, name }, { catalog, dialect, rights }, ask)
      case 'reports':
        return reportTree.lookup(name, ask)
      case 'report':
        return reportTree.lookupRow(directory.id, name, ask)
      case 'calculation':
        return calculations.lookup(directory, name, ask)
      case 'shares':
      case 'drafts':
        return listOwn(directory, ask).then(entries => nodeIn(entries, name))
    }
  }

  async function list(directory: DirectoryNode, ask: Ask, path?: string): Promise<readonly Dentry[]> {
    const node = await actual(directory, ask)
    if (node.kind === 'project') meet(node)
    const all = await listOwn(node, ask)
    const isCut = node.kind === 'project' && path !== undefined
    const listed = isCut ? cutIn(all, await aboveOf(path, ask)) : all
    const fresh = newPlace(node)
    const unsent = fresh === undefined ? [] : local.unsentNew(fresh)
    const entries = [...listed, ...unsent.map(node => ({ name: node.name, node }))]
    const place = scratchDirectory(node)
    if (place === undefined) return entries
    const beside = local.scratch(place)
    return beside.length === 0 ? entries : [...entries, ...beside]
  }

  async function listOwn(directory: DirectoryNode, ask: Ask): Promise<readonly Dentry[]> {
    switch (directory.kind) {
      case 'root':
        return rootEntries
      case 'own':
        return ownEntries
      case 'numbers':
        return numberRooms
      case 'number-room':
        return []
      case 'top':
        return projects.listTop(ask)
      case 'project':
        return projects.list(directory.id, ask)
      case 'shares':
        return projects.listShares(directory.project, ask)
      case 'calculation':
        return calculations.list(directory, ask)
      case 'users':
        return users.list(ask)
      case 'user':
        return users.listBelow(directory.name, ask)
      case 'reports':
        return reportTree.list()
      case 'report':
        return reportTree.listRows(directory.id, ask)
      case 'drafts':
        return local.drafts().map(name => ({ name, node: { kind: 'draft-text', name } }))
    }
  }

  /** `projects/` is a project itself where the user's root has an id. */
  function actual(directory: DirectoryNode, ask: Ask): Soon<DirectoryNode> {
    if (directory.kind !== 'top') return directory
    return roots.top(ask).then(top => (top.form === 'one' ? { kind: 'project', id: top.id } : directory))
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

interface Way {
  readonly path: string
  readonly names: readonly string[]
  readonly ask: Ask
  /** The projects that were passed, the topmost first. */
  readonly above: ProjectId[]
}

function there(found: Node | undefined, path: string): Node {
  if (found === undefined) throw new Failure('absent', `${path}: there is nothing of this name`)
  return found
}

const newPlace = (directory: DirectoryNode): NewPlace | undefined =>
  directory.kind === 'reports' || directory.kind === 'shares' ? directory : undefined

/** What a save under this name makes here, if anything. */
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

/** Documented answers to a lookup that mean no more than that there is no such thing. */
function unlessNothing(thrown: unknown): undefined {
  const failure = asFailure(thrown)
  if (failure.kind !== 'absent' && failure.kind !== 'invalid') throw failure
}
