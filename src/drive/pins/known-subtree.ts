// Known subtree: what lies below a node as far as it was told before; no request is made.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { CalculationId, Dialect, ProjectId, RecordFacts } from '../../remote/remote.js'
import type { CalculationNode, Dentry, DirectoryNode } from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'
import { type PlacedNode, type Subtree, subtreeOf } from './subtree.js'

export interface KnownParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: Identities
}

export interface KnownSubtree extends Subtree {
  /** Directories of which nothing was told, so that more may lie in them. */
  readonly unlisted: number
}

export async function knownSubtree(from: PlacedNode, parts: KnownParts): Promise<KnownSubtree> {
  let unlisted = 0
  const found = await subtreeOf(from, {
    list(directory) {
      const known = knownEntries(directory, parts)
      if (known === undefined) unlisted += 1
      return known ?? []
    },
  })
  return { ...found, unlisted }
}

/** The entries of a directory as they were told last; those of a report are its calculations. */
export function knownEntries(directory: DirectoryNode, parts: KnownParts): readonly Dentry[] | undefined {
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

/** The node of a calculation, where its listing or its record is known. */
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
