// Tree: the one mapping from names to nodes, over the kinds of directories.
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure, isAbsent } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { CalculationId, RequestContext, ServicePath } from '../../remote/remote.js'
import { nameFault, titlesIn } from '../nodes/name.js'
import {
  type Dentry,
  type DirectoryNode,
  type EditableNode,
  generatedEntry,
  isEditable,
  type NewNode,
  type Node,
  nodeIn,
  type ScratchPlace,
} from '../nodes/node.js'
import { directoryIn, type Name, pathOf, placeAt } from '../nodes/place.js'
import { isNewName, isProbe, isScratchAmong, isScratchBeside } from '../nodes/well-known-names.js'
import { openCalculationKind } from './calculation.js'
import { type DirectoryKind, type DirectoryKinds, knownHere, type TreeSources } from './directory-kind.js'
import { openMarks } from './identity-mark.js'
import { openNumberKinds } from './numbers.js'
import { openProjectKinds } from './projects.js'
import { openReportKinds } from './reports.js'
import { openUserKinds } from './users.js'

const rootEntries: readonly Dentry[] = [
  { name: fixedNames.projects, node: { kind: 'top' } },
  { name: fixedNames.users, node: { kind: 'users' } },
  { name: fixedNames.reports, node: { kind: 'reports' } },
  { name: fixedNames.numbers, node: { kind: 'numbers' } },
  { name: fixedNames.own, node: { kind: 'own' } },
]
const ownEntries: readonly Dentry[] = [
  generatedEntry(fixedNames.status, 'status'),
  generatedEntry(fixedNames.user, 'user'),
  generatedEntry(fixedNames.reportTypes, 'report-types'),
  generatedEntry(fixedNames.readme, 'readme'),
  { name: fixedNames.drafts, node: { kind: 'drafts' } },
]
/** Without what the instance does not tell. */
const ownShown = ({ lacks }: Catalog): readonly Dentry[] =>
  ownEntries.filter(({ node }) => {
    const text = node.kind === 'generated' ? node.text : undefined
    return (text !== 'user' && text !== 'report-types') || !lacks(text)
  })

export function openTree(sources: TreeSources) {
  const { catalog, roots, local } = sources
  const marks = openMarks(sources)
  const projects = openProjectKinds(sources)
  const kinds: DirectoryKinds = {
    root: knownHere(() => rootEntries),
    own: knownHere(() => ownShown(catalog)),
    drafts: knownHere(() => local.drafts().map(name => ({ name, node: { kind: 'draft-text', name } }))),
    ...openNumberKinds(sources),
    calculation: openCalculationKind(catalog, marks),
    ...projects,
    ...openUserKinds(sources, projects),
    ...openReportKinds(sources),
  }
  const kindOf = ({ kind }: DirectoryNode) => kinds[kind] as DirectoryKind<DirectoryNode>
  const doubted = new WeakSet<Failure>()

  /** The node at an absolute path of the drive; Failure 'absent' where there is none. */
  function walk(path: string, context: RequestContext): MaybePromise<Node> {
    return chain(
      placeAt(path, name => child(name, context)),
      ({ node }) => node,
    )
  }

  /** The node under a name of a directory; Failure 'absent' where there is none. */
  function child({ parent, name }: Name, context: RequestContext): MaybePromise<Node> {
    const directory = directoryIn(parent)
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
    // A real thing of such a name was listed before; nothing is asked for it. A command may come to a top that is not known yet.
    if (isProbe(name) && (directory.kind !== 'top' || listKnown(directory) !== undefined))
      return nodeIn(listKnown(directory) ?? [], name)
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
    const kind = kindOf(directory)
    if (kind.lookup !== undefined) return kind.lookup(directory, name, context)
    return chain(kind.list(directory, context), entries => nodeIn(entries, name))
  }

  async function list(directory: DirectoryNode, context: RequestContext): Promise<readonly Dentry[]> {
    const node = await actual(directory, context)
    if (node.kind === 'project') await marks.of(node, context)
    const listed = await kindOf(directory).list(directory, context)
    const place = scratchDirectory(node)
    const isNewPlace = node.kind === 'reports' || node.kind === 'shares'
    return [
      ...listed,
      ...(isNewPlace ? local.unsentNew(node).map(fresh => ({ name: fresh.id, node: fresh })) : []),
      ...(place === undefined ? [] : local.scratch(place)),
    ]
  }

  /** The entries known at the last question, without any request; undefined where they are not known. */
  const listKnown = (directory: DirectoryNode): readonly Dentry[] | undefined =>
    kindOf(directory).known?.(directory)

  /** `projects/` is a project itself where the user's root has an id. */
  function actual(directory: DirectoryNode, context: RequestContext): MaybePromise<DirectoryNode> {
    if (directory.kind !== 'top') return directory
    return roots.top(context).then(top => (top.form === 'one' ? { kind: 'project', id: top.id } : directory))
  }

  /** The same but for what was taken away a moment ago. */
  const shown = (name: Name, context: RequestContext): MaybePromise<Node> =>
    chain(child(name, context), found => {
      if (local.hides(found, name.name))
        throw new Failure('absent', `${pathOf(name)}: it was just taken away`)
      return found
    })

  /** The file under a name whose saves reach the service, also while it is away or not made yet; undefined for anything else. */
  async function editable(name: Name, context: RequestContext): Promise<EditableNode | undefined> {
    try {
      const found = await child(name, context)
      return isEditable(found) ? found : undefined
    } catch (thrown) {
      if (!isAbsent(thrown)) throw thrown
    }
    return newIn(await actual(directoryIn(name.parent), context), name.name)
  }

  /** Where an editor's own file of this name would lie; undefined where none may be. */
  async function scratch({ parent, name }: Name, context: RequestContext): Promise<ScratchPlace | undefined> {
    const node = await actual(directoryIn(parent), context)
    const directory = scratchDirectory(node)
    if (directory === undefined) return undefined
    const edited = editedBeside[node.kind]
    const isTaken = edited === undefined ? isScratchAmong(name) : isScratchBeside(edited, name)
    return isTaken ? { directory, name } : undefined
  }

  /** The directory at a path, `projects/` as the project it stands for; Failure 'not-directory' for a file. */
  async function directory(path: string, context: RequestContext): Promise<DirectoryNode> {
    const place = await placeAt(path, name => child(name, context))
    return actual(directoryIn(place), context)
  }

  /**
   * The calculation at a path of the drive, of the mount as a shell sees it, or of the web pages.
   * @throws Failure 'absent' where none is there
   */
  async function calculationAt(path: string, context: RequestContext): Promise<CalculationId> {
    const { mountPoint } = sources
    const below = path.startsWith(`${mountPoint}/`) ? path.slice(mountPoint.length) : path
    if (/^\/db\//.test(below)) return calculationOfService(below, context)
    const node = await walk(below, context)
    if (node.kind === 'calculation') return node.id
    const linked = node.kind === 'link' ? byNumber.exec(node.to)?.[1] : undefined
    if (linked !== undefined) return linked as CalculationId
    throw new Failure('absent', `${path}: there is no calculation at this path`)
  }

  /** As the web pages write it; else with the escapes of the drive, where it was completed by a shell. */
  async function calculationOfService(path: string, context: RequestContext): Promise<CalculationId> {
    const plain = path.replace(/\/+$/, '')
    const unescaped = titlesIn(plain).join('/')
    const at = (one: string) => sources.remote.resolveCalculation(one as ServicePath, context)
    return at(plain).catch((thrown: unknown) => {
      if (!isAbsent(thrown) || unescaped === plain) throw thrown
      return at(unescaped)
    })
  }

  /** The next question about this directory goes to the service. */
  async function refresh(directory: DirectoryNode, context: RequestContext): Promise<void> {
    const node = await actual(directory, context)
    kindOf(node).refresh?.(node)
  }

  return {
    walk,
    child,
    shown,
    editable,
    scratch,
    actual,
    list,
    listKnown,
    directory,
    calculationAt,
    refresh,
    markOf: marks.of,
  }
}

export type Tree = ReturnType<typeof openTree>

const byNumber = /^\.\.\/\.\.\/by-id\/calculation\/(\d+)$/

/** Directories in which the service is asked for a list, and not for the name. */
const listed = new Set<DirectoryNode['kind']>(['top', 'users', 'user', 'project', 'calculation'])

function requireNode(found: Node | undefined, name: string): Node {
  if (found === undefined) throw new Failure('absent', `${name}: there is nothing of this name`)
  return found
}

/** The thing that a save under this name makes here, if any. */
function newIn(directory: DirectoryNode, name: string): NewNode | undefined {
  if (!isNewName(name)) return undefined
  if (directory.kind === 'reports') return { kind: 'new', of: 'report', id: name }
  return directory.kind === 'shares'
    ? { kind: 'new', of: 'share', id: name, project: directory.project }
    : undefined
}

/** The directory of local files that belongs to a directory of the drive, where editors make files beside records. */
function scratchDirectory(directory: DirectoryNode): string | undefined {
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

/** The one file of a directory that an editor edits; `reports/` and `.shares/` have many. */
const editedBeside: Partial<Record<DirectoryNode['kind'], string>> = {
  project: fixedNames.project,
  calculation: fixedNames.calculation,
  report: fixedNames.order,
}
