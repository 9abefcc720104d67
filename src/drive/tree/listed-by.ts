// Listed by: the directory whose listing names a node, so that the kernel is told of it with that listing.
import { type Node, nodeKey } from '../nodes/node.js'

/** The directory by its node's key; undefined for what no listing tells. From memory. */
export function listedBy(node: Node, above: Node | undefined): string | undefined {
  switch (node.kind) {
    case 'project':
    case 'calculation':
      // Below by-id/ its own record says whether it is there.
      if (node.parent === undefined || above?.kind === 'number-room') return undefined
      return nodeKey({ kind: 'project', id: node.parent })
    // It is there as long as that project has nothing in it.
    case 'generated':
      return node.text === 'no-project-yet' ? nodeKey({ kind: 'project', id: node.id }) : undefined
    case 'content':
      return `calculation ${node.content.calculation}`
    case 'link':
      return above?.kind === 'report-names' ? reportNamesKey : undefined
    // A text that is saved is no longer there, under whatever name it was.
    case 'draft-text':
      return draftsKey
    default:
      return undefined
  }
}

/** The directory of what is not saved. */
export const draftsKey = nodeKey({ kind: 'drafts' })

/** The directory of the known reports by their titles. */
export const reportNamesKey = nodeKey({ kind: 'report-names' })
