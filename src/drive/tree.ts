// THE mapping from paths to nodes: lookup and readdir of every directory stand side by side, so that they agree.
import type { Catalog } from '../cache/catalog.js'
import { asFailure, Failure } from '../failure.js'
import type { Ask, Dialect } from '../remote/remote.js'
import type { Rights } from './access.js'
import type { KnownReports } from './known-reports.js'
import type { LocalFiles, NewPlace } from './local-files.js'
import { nameFault, nameFiles } from './name.js'
import { type Dentry, type DirectoryNode, isDirectory, type NewNode, type Node, nodeIn } from './node.js'
import { isProbe } from './probe.js'
import type { Roots } from './roots.js'
import { isNewName } from './scratch-name.js'
import { listCalculation } from './tree-calculation.js'
import { lookupNumber, numberRooms } from './tree-numbers.js'
import { openProjectTree } from './tree-projects.js'
import { openReportTree } from './tree-reports.js'
import { openUserTree } from './tree-users.js'
import type { WrittenNames } from './written-names.js'

/** What the tree looks at; editors' files and drafts come from the state directory. */
export interface TreeSources {
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly roots: Roots
  readonly reports: KnownReports
  readonly rights: Rights
  readonly written: WrittenNames
  readonly local: LocalFiles
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

export function openTree({ catalog, dialect, roots, reports, rights, written, local }: TreeSources): Tree {
  const projects = openProjectTree({ catalog, rights, written }, roots)
  const users = openUserTree(catalog, roots, projects)
  const reportTree = openReportTree({ catalog, dialect, reports, hasDraft: local.hasDraft })

  async function walk(path: string, ask: Ask): Promise<Node> {
    let node: Node = { kind: 'root' }
    const parts = path.split('/').filter(part => part !== '')
    for (const [at, name] of parts.entries()) {
      if (!isDirectory(node)) throw new Failure('not-directory', `${path}: a part of this path is a file`)
      const fault = nameFault(name)
      if (fault !== undefined) throw new Failure(fault, `${path}: this cannot be the name of anything here`)
      // The kernel asks for each directory of a path by itself; on the way to the last one, what is known will do.
      const known: Node | undefined = at < parts.length - 1 ? knownChild(node, name) : undefined
      const next: Node | undefined = known ?? (await lookup(node, name, ask).catch(unlessNothing))
      if (next === undefined) throw new Failure('absent', `${path}: there is nothing of this name`)
      node = next
    }
    return node
  }

  const isKnownFile = (directory: DirectoryNode, name: string): boolean =>
    directory.kind === 'calculation' && nameFiles(catalog.knownFiles(directory.id) ?? []).has(name)

  const knownChild = (directory: DirectoryNode, name: string): Node | undefined =>
    directory.kind === 'project' ? projects.known(directory.id, name) : undefined

  async function lookup(directory: DirectoryNode, name: string, ask: Ask): Promise<Node | undefined> {
    if (isProbe(name) && !isKnownFile(directory, name)) return knownChild(directory, name)
    const place = scratchDirectory(await actual(directory, ask))
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
      case 'shares':
      case 'drafts':
        return nodeIn(await listOwn(directory, ask), name)
    }
  }

  async function list(directory: DirectoryNode, ask: Ask): Promise<readonly Dentry[]> {
    const node = await actual(directory, ask)
    const listed = await listOwn(node, ask)
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
        return listCalculation(directory, catalog, ask)
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
  async function actual(directory: DirectoryNode, ask: Ask): Promise<DirectoryNode> {
    if (directory.kind !== 'top') return directory
    const top = await roots.top(ask)
    return top.form === 'one' ? { kind: 'project', id: top.id } : directory
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
