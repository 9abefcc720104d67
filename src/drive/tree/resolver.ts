// Resolver: from a name in a directory to a node, to a record whose file is away, or to a place for scratch files.

import { Failure, isAbsent } from '../../failure.js'
import { fixedNames } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import {
  type Dentry,
  type DirectoryNode,
  type EditableNode,
  filterEntries,
  isDirectory,
  isEditable,
  type Node,
  type ScratchPlace,
} from '../nodes/node.js'
import { type Name, type Place, pathOf } from '../nodes/place.js'
import { isScratchAmong, isScratchBeside } from '../nodes/well-known-names.js'
import { newIn, scratchDirectory, type Tree } from './tree.js'

/** `isHidden`: it was removed under this name, or lies in what was. */
export function openResolver(tree: Tree, isHidden: (node: Node, name: string) => boolean) {
  return {
    /** The node there; Failure 'absent' also for a record whose file was taken away a moment ago. */
    child: (name: Name, context: RequestContext): MaybePromise<Node> =>
      chain(tree.child(name, context), found => {
        if (isHidden(found, name.name)) throw new Failure('absent', `${pathOf(name)}: it was just taken away`)
        return found
      }),
    /** The file under a name whose saves reach the service, also while it is away or not made yet; undefined for anything else. */
    async editable(name: Name, context: RequestContext): Promise<EditableNode | undefined> {
      try {
        const found = await tree.child(name, context)
        return isEditable(found) ? found : undefined
      } catch (thrown) {
        if (!isAbsent(thrown)) throw thrown
      }
      const directory = await tree.actual(directoryIn(name.parent), context)
      return newIn(directory, name.name)
    },
    /** Where an editor's own file of this name would lie; undefined where none may be. */
    async scratch({ parent, name }: Name, context: RequestContext): Promise<ScratchPlace | undefined> {
      const directory = await tree.actual(directoryIn(parent), context)
      const beside = scratchDirectory(directory)
      return beside !== undefined && takesScratch(directory, name) ? { directory: beside, name } : undefined
    },
    /** The entries of a directory without what was taken away. */
    shown: (entries: readonly Dentry[]): readonly Dentry[] =>
      filterEntries(entries, ({ node, name }) => !isHidden(node, name)),
  }
}

export type Resolver = ReturnType<typeof openResolver>

/** @throws Failure 'not-directory' */
export function directoryIn(place: Place): DirectoryNode {
  if (!isDirectory(place.node)) throw new Failure('not-directory', `${pathOf(place)} is not a directory`)
  return place.node
}

/** Directories that take an editor's own files, and the names of those. */
function takesScratch(directory: DirectoryNode, name: string): boolean {
  switch (directory.kind) {
    case 'project':
      return isScratchBeside(fixedNames.project, name)
    case 'calculation':
      return isScratchBeside(fixedNames.calculation, name)
    case 'report':
      return isScratchBeside(fixedNames.order, name)
    case 'reports':
    case 'shares':
      return isScratchAmong(name)
    default:
      return false
  }
}
