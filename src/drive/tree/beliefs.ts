// Beliefs: by which directory's listing a name and what is told of it counts, and until when.
import type { Catalog } from '../../cache/metadata/catalog.js'
import { fixedNames, parentOf } from '../../layout.js'
import { type Instant, instant, type ProjectId } from '../../remote/remote.js'
import { type Node, nodeKey } from '../nodes/node.js'

/** A directory by its node's key. */
export interface Belief {
  readonly directory: string
  readonly until: Instant
}

export interface Beliefs {
  /** Undefined for what no listing tells, or one that is over. From memory. */
  of(path: string, node: Node): Belief | undefined
}

/** @param namesUntil when the names of a project's children may become others by themselves; undefined where they stay */
export function openBeliefs(
  catalog: Catalog,
  namesUntil: (project: ProjectId) => Instant | undefined,
): Beliefs {
  const byListing = (directory: string, until: Instant | undefined): Belief | undefined =>
    until === undefined ? undefined : { directory, until }

  return {
    of(path, node) {
      switch (node.kind) {
        case 'project':
        case 'calculation': {
          // Below by-id/ its own record says whether it is there.
          if (node.parent === undefined || node.isOldName || isByNumber(path)) return undefined
          const listed = catalog.children(node.parent).freshUntil()
          const until = listed && instant(Math.min(listed, namesUntil(node.parent) ?? listed))
          return byListing(nodeKey({ kind: 'project', id: node.parent }), until)
        }
        case 'content': {
          const { calculation } = node.content
          return byListing(`calculation ${calculation}`, catalog.files(calculation).freshUntil())
        }
        // A text that is saved is no longer there, by whatever path it was.
        case 'draft-text':
          return byListing(draftsKey, instant(0))
        default:
          return undefined
      }
    },
  }
}

/** The directory of what is not saved. */
export const draftsKey = nodeKey({ kind: 'drafts' })

const isByNumber = (path: string): boolean => parentOf(parentOf(path)) === `/${fixedNames.numbers}`
