// What a node is called for programs: its kind, and the id of the thing it belongs to.
import { contentLabel } from '../../content-kinds.js'
import type { Node } from './node.js'

/** The id of the project, calculation, report or share that the node is, or is a file of; undefined for none. */
export function nodeId(node: Node): string | undefined {
  if (node.kind === 'content') return node.content.calculation
  if (node.kind === 'shares') return node.project
  return 'id' in node && node.id !== '' ? node.id : undefined
}

/** As `user.calcfs.kind` says it: a record is called like the thing it is of. */
export function nodeKind(node: Node): string {
  if (node.kind === 'record') return node.of
  if (node.kind === 'content') return contentLabel(node.content.of)
  return node.kind
}
