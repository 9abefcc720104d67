// Who a directory's project or calculation is, told before anything that is kept under its id is looked at.
import type { Identities } from '../cache/identity.js'
import type { CalculationNode, ProjectNode } from './node.js'

/** Answers the mark under which its contents are kept; each node is looked at once. */
export type Meet = (node: ProjectNode | CalculationNode) => string

/** A listing gives each child one node until it changes. */
export function openMeet(identities: Identities): Meet {
  const marks = new WeakMap<ProjectNode | CalculationNode, string>()

  return node => {
    const known = marks.get(node)
    if (known !== undefined) return known
    const { kind, id, born, title, parent, since } = node
    const isListed = since !== undefined
    const said = { born, owner: undefined, title, parent: isListed ? parent : undefined }
    const mark = identities.meet({ kind, id }, said, isListed ? 'listing' : 'record')
    marks.set(node, mark)
    return mark
  }
}
