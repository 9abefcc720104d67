// Doubtful absence: "not found" says nothing of a name where it is the directory that is called absent.
import type { Catalog } from '../../cache/metadata/catalog.js'
import { asFailure, Failure } from '../../failure.js'
import type { ProjectId } from '../../remote/remote.js'
import type { DirectoryNode } from '../nodes/node.js'

export interface Doubts {
  /**
   * Undefined where the failure of a lookup in this directory means that there is no such name; else what the lookup has to
   * fail with, unless the directory is gone as well: what lists it is asked again.
   * @throws any other failure
   */
  of(directory: DirectoryNode, thrown: unknown): Failure | undefined
}

export function openDoubts(
  catalog: Pick<Catalog, 'parentOf' | 'refreshProject'>,
  lastParent: (directory: DirectoryNode) => ProjectId | undefined,
): Doubts {
  const seen = new WeakSet<Failure>()

  function askParentAgain(directory: DirectoryNode, failure: Failure): void {
    // 'Not there' is believed for a while: one such answer asks once.
    if (seen.has(failure)) return
    seen.add(failure)
    const parent = parentOf(directory)
    if (parent !== undefined) catalog.refreshProject(parent)
  }

  function parentOf(directory: DirectoryNode): ProjectId | undefined {
    if (directory.kind === 'project')
      return catalog.parentOf(directory.id) ?? directory.parent ?? lastParent(directory)
    return directory.kind === 'calculation' ? (directory.parent ?? lastParent(directory)) : undefined
  }

  return {
    of(directory, thrown) {
      const failure = asFailure(thrown)
      const isOwnList = directory.kind === 'project' || directory.kind === 'calculation'
      // It may say so of a name, never of a listing.
      const isInvalid = failure.kind === 'invalid' && !isOwnList
      if (failure.kind !== 'absent' && !isInvalid) throw failure
      if (!listed.has(directory.kind)) return undefined
      askParentAgain(directory, failure)
      const { message, said } = failure
      return new Failure('in-doubt', message, { cause: failure, said })
    },
  }
}

/** Directories in which the service is asked for a list, and not for the name. */
const listed = new Set<DirectoryNode['kind']>(['top', 'users', 'user', 'project', 'calculation'])
