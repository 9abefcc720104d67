// Known subtree: what lies below a node as far as it was told before; no request is made.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { CalculationId, Dialect, ProjectId, RecordFacts } from '../../remote/remote.js'
import type { CalculationNode, Dentry } from '../nodes/node.js'
import type { Tree } from '../tree/tree.js'
import { type PlacedNode, type Subtree, subtreeOf } from './subtree.js'

export interface KnownParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly dialect: Dialect
  readonly identities: Identities
}

export function knownSubtree(from: PlacedNode, parts: KnownParts): Promise<Subtree> {
  const { catalog, dialect, tree } = parts
  return subtreeOf(from, {
    list(directory) {
      if (directory.kind !== 'report') return tree.listKnown(directory) ?? []
      const record = catalog.record({ kind: 'report', id: directory.id }).known()
      const rows = record === undefined ? [] : (dialect.rows(record) ?? [])
      return rows.flatMap(({ calculation }, at): Dentry[] => {
        const node = knownCalculation(calculation, parts)
        return node === undefined ? [] : [{ name: String(at + 1), node }]
      })
    },
  })
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
