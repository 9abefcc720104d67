// Known subtree: what lies below a node as far as it was told before; no request is made.
import type { Identities } from '../../cache/identity.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { CalculationId, Dialect } from '../../remote/remote.js'
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
      return rows.map(
        ({ calculation }, at): Dentry => ({
          name: String(at + 1),
          node: knownCalculation(calculation, parts),
        }),
      )
    },
  })
}

/** The node of a calculation as its number leads to it; its title decides what its generated files are called. */
export function knownCalculation(
  id: CalculationId,
  { catalog, dialect, identities }: Omit<KnownParts, 'tree'>,
): CalculationNode {
  const record = catalog.record({ kind: 'calculation', id }).known()
  const facts = record === undefined ? identities.known({ kind: 'calculation', id }) : dialect.facts(record)
  return { kind: 'calculation', id, title: facts?.title ?? '', born: facts?.born }
}
