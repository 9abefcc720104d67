// Path resolver: from a kernel path to a node, to a record whose file is away, or to a place for scratch files.

import { Failure, isAbsent, unlessAbsent } from '../../failure.js'
import { fixedNames, lastNameOf, parentOf } from '../../layout.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { RequestContext } from '../../remote/remote.js'
import { isScratchAmong, isScratchBeside } from '../nodes/local-names.js'
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
import { newIn, scratchDirectory, type Tree } from './tree.js'

export interface PathResolver {
  /** What is there; Failure 'absent' also for a record whose file was taken away a moment ago. */
  node(path: string, context: RequestContext): MaybePromise<Node>
  /** The file at a path whose saves reach the service, also while it is away or not made yet; undefined for anything else. */
  editable(path: string, context: RequestContext): Promise<EditableNode | undefined>
  /** The entries of a directory without what was taken away. */
  shown(entries: readonly Dentry[]): readonly Dentry[]
  /** A file that was unlinked while it is open answers under the name that libfuse gave it, until it is closed. */
  keepOpen(path: string, node: Node): void
  /** True if there was such a file, which is closed now. */
  closed(path: string): boolean
  /** Where an editor's own file of this name would lie; undefined where none may be. */
  scratch(path: string, context: RequestContext): Promise<ScratchPlace | undefined>
}

/** What was just taken away, or is about to be deleted. */
export interface RemovedPaths {
  isHidden(node: Node): boolean
  /** It was removed under this name, or lies in what was. */
  hides(node: Node, name: string): boolean
}

export function openPathResolver(tree: Tree, gone: RemovedPaths): PathResolver {
  const stillOpen = new Map<string, Node>()

  function node(path: string, context: RequestContext): MaybePromise<Node> {
    const open = stillOpen.get(path)
    if (open !== undefined) return open
    return chain(tree.walk(path, context), found => {
      const isAway = !isDirectory(found) && gone.isHidden(found)
      if (isAway || gone.hides(found, lastNameOf(path))) throw justRemoved(path)
      return found
    })
  }

  async function editable(path: string, context: RequestContext): Promise<EditableNode | undefined> {
    try {
      const found = await tree.walk(path, context)
      return isEditable(found) ? found : undefined
    } catch (thrown) {
      if (!isAbsent(thrown)) throw thrown
    }
    const directory = await tree.directory(parentOf(path), context).catch(unlessAbsent)
    return directory === undefined ? undefined : newIn(directory, lastNameOf(path))
  }

  async function scratch(path: string, context: RequestContext): Promise<ScratchPlace | undefined> {
    const directory = await tree.directory(parentOf(path), context)
    const name = lastNameOf(path)
    const beside = scratchDirectory(directory)
    return beside !== undefined && takesScratch(directory, name) ? { directory: beside, name } : undefined
  }

  return {
    node,
    editable,
    scratch,
    shown: entries =>
      filterEntries(entries, ({ node, name }) => !gone.isHidden(node) && !gone.hides(node, name)),
    keepOpen: (path, open) => stillOpen.set(path, open),
    closed: path => stillOpen.delete(path),
  }
}

const justRemoved = (path: string): Failure => new Failure('absent', `${path}: it was just taken away`)

/** Which directories take an editor's own files, and under which names. */
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
