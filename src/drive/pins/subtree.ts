// Subtree: all that lies below a node, looked at side by side; what cannot be had is named, and the rest goes on.
import pLimit from 'p-limit'
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, type Failure, isA, isAbsent } from '../../failure.js'
import type { CalculationId, Content, Dialect, ProjectId, RecordFacts } from '../../remote/remote.js'
import {
  type CalculationNode,
  type Dentry,
  type DirectoryNode,
  type Node,
  nodeKey,
  type ProjectNode,
} from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'

/** A node and where it stands below the drive's root. */
export interface PlacedNode<Of extends Node = Node> {
  readonly path: string
  readonly node: Of
}

export interface PlacedContent {
  readonly path: string
  readonly content: Content
}

export interface MissingPart {
  readonly path: string
  readonly failure: Failure
}

export interface Subtree {
  readonly contents: readonly PlacedContent[]
  /** The keys of its projects, calculations and reports. */
  readonly things: ReadonlySet<string>
  readonly missing: readonly MissingPart[]
}

/** The entries of a project, a calculation or `projects/`; those of a report are its calculations. */
type ListEntries = (directory: WalkedNode) => Promise<readonly Dentry[]> | readonly Dentry[]

const sideBySide = 16

/** Everything below the node, itself included. A project that is listed below itself is looked at once. @throws Failure of an outage, or of the node itself */
export async function subtreeOf(from: PlacedNode, list: ListEntries): Promise<Subtree> {
  const limit = pLimit(sideBySide)
  const contents: PlacedContent[] = []
  const missing: MissingPart[] = []
  const things = new Set<string>()
  let isOver = false

  async function visit({ path, node }: PlacedNode): Promise<void> {
    if (isOver) return
    if (node.kind === 'content') contents.push({ path, content: node.content })
    if (!isWalked(node)) return
    // Several paths lead to one thing where a project is listed below itself, or a report lists a calculation twice.
    if (things.has(nodeKey(node))) return
    if (node.kind !== 'top') things.add(nodeKey(node))
    const entries = await limit(() => entriesOf(path, node))
    await Promise.all(entries.map(({ name, node: inner }) => visit({ path: `${path}/${name}`, node: inner })))
  }

  async function entriesOf(path: string, node: WalkedNode): Promise<readonly Dentry[]> {
    if (isOver) return []
    try {
      return await list(node)
    } catch (thrown) {
      const failure = asFailure(thrown)
      if (node === from.node || isOfAll(failure)) {
        isOver = true
        throw failure
      }
      // A thing that is gone is no part of it.
      if (!isAbsent(failure)) missing.push({ path, failure })
      return []
    }
  }

  await visit(from)
  return { contents, things, missing }
}

/** A failure that says nothing about the one thing that was asked for. */
export const isOfAll = (failure: Failure): boolean => isA('outage', failure) || failure.kind === 'internal'

type WalkedNode = ProjectNode | CalculationNode | Extract<DirectoryNode, { kind: 'top' | 'report' }>

const isWalked = (node: Node): node is WalkedNode =>
  node.kind === 'project' || node.kind === 'calculation' || node.kind === 'top' || node.kind === 'report'

export interface KnownParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: Identities
}

interface KnownSubtree extends Subtree {
  /** Directories of which nothing was told, so that more may lie in them. */
  readonly unlisted: number
}

export async function knownSubtree(from: PlacedNode, parts: KnownParts): Promise<KnownSubtree> {
  let unlisted = 0
  const found = await subtreeOf(from, directory => {
    const known = knownEntries(directory, parts)
    if (known === undefined) unlisted += 1
    return known ?? []
  })
  return { ...found, unlisted }
}

/** The entries of a directory as they were told last; those of a report are its calculations. */
function knownEntries(directory: DirectoryNode, parts: KnownParts): readonly Dentry[] | undefined {
  const { catalog, dialect, tree } = parts
  if (directory.kind !== 'report') return tree.listKnown(directory)
  const record = catalog.record({ kind: 'report', id: directory.id }).known()
  return (
    record &&
    (dialect.rows(record) ?? []).flatMap(({ calculation }, at): Dentry[] => {
      const node = knownCalculation(calculation, parts)
      return node === undefined ? [] : [{ name: String(at + 1), node }]
    })
  )
}

export function knownCalculation(
  id: CalculationId,
  parts: Omit<KnownParts, 'tree'>,
): CalculationNode | undefined {
  const record = parts.catalog.record({ kind: 'calculation', id }).known()
  return listedCalculation(id, parts) ?? (record && recordedCalculation(id, parts.dialect.facts(record)))
}

/**
 * The node that its project lists, if that is known. Fields that no answer gave would contradict what is known of its
 * identity, and what was downloaded of it would count as another thing's.
 */
export function listedCalculation(
  id: CalculationId,
  { catalog, identities }: Omit<KnownParts, 'tree'>,
): CalculationNode | undefined {
  const parent = identities.known({ kind: 'calculation', id })?.parent
  const siblings = parent === undefined ? undefined : catalog.children(parent as ProjectId).known()
  return siblings?.calculations.find(one => one.id === id)
}

export function recordedCalculation(
  id: CalculationId,
  { born, title = '' }: Pick<RecordFacts, 'born' | 'title'>,
): CalculationNode {
  return { kind: 'calculation', id, title, born }
}
