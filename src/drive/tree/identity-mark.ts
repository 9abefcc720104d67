// Identity mark: the identity of a project or calculation, noted before anything kept under its id is used.
import type { Identities } from '../../cache/identity.js'
import { Failure } from '../../failure.js'
import type { CalculationNode, ProjectNode } from '../nodes/node.js'

/**
 * Answers the mark under which its contents are kept; each node is looked at once.
 * @throws Failure 'replaced' where its id stands for another thing since then: the directory that showed it is listed again
 */
export type MarkOf = (node: ProjectNode | CalculationNode) => string

/** A listing gives each child one node until it changes. */
export function openMarks(identities: Identities): MarkOf {
  const marks = new WeakMap<ProjectNode | CalculationNode, { mark: string; changes: number }>()

  return node => {
    const { kind, id, born, title, parent, since } = node
    const known = marks.get(node)
    if (known !== undefined) {
      // A record that was read by its number may have told it; the listing of this node is old then.
      const change = identities.count === known.changes ? undefined : identities.changeOf({ kind, id })
      if (change !== undefined && change.place > known.changes) throw new Failure('replaced', change.sentence)
      return known.mark
    }
    const isListed = since !== undefined
    const said = { born, owner: undefined, title, parent: isListed ? parent : undefined }
    const mark = identities.observe({ kind, id }, said, isListed ? 'listing' : 'record')
    marks.set(node, { mark, changes: identities.count })
    return mark
  }
}
