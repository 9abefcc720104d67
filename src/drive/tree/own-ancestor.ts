// Own ancestors: a project that the service lists below itself is a link to its place above, so that every walk ends.
import type { ProjectId } from '../../remote/remote.js'
import type { Dentry, Node } from '../nodes/node.js'

/** The node, or a link where its project is one of those above it, the topmost first. */
export function linkIfAncestor(node: Node, above: readonly ProjectId[]): Node {
  const place = node.kind === 'project' ? above.indexOf(node.id) : -1
  if (place < 0 || node.kind !== 'project') return node
  const up = above.length - 1 - place
  return {
    kind: 'link',
    to: up === 0 ? '.' : Array.from({ length: up }, () => '..').join('/'),
    because: `the service lists project ${node.id} below itself: this is a link to where it stands above`,
  }
}

/** The same for a listing; the very same one where there is nothing to cut. */
export function linkAncestors(entries: readonly Dentry[], above: readonly ProjectId[]): readonly Dentry[] {
  const isCut = ({ node }: Dentry) => node.kind === 'project' && above.includes(node.id)
  if (!entries.some(isCut)) return entries
  return entries.map(({ name, node }) => ({ name, node: linkIfAncestor(node, above) }))
}
