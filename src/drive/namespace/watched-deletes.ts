// Decorator of the drive: detects the steps of an `rm -r` in its calls, where one begins, what it skips, and what waits meanwhile.
import { asFailure, isAbsent } from '../../failure.js'
import { parentOf } from '../../layout.js'
import type { RequestContext } from '../../remote/remote.js'
import type { Attributes } from '../interface/attributes.js'
import type { Drive } from '../interface/verbs.js'
import type { AccessRights } from '../tree/access.js'
import { isDirectorysOwn } from '../tree/path-resolver.js'
import type { Tree } from '../tree/tree.js'
import type { DeleteRules } from './delete.js'
import type { PendingDeletes } from './pending-deletes.js'

export interface WatchedDeletesParts {
  readonly deleteRules: Pick<DeleteRules, 'waits' | 'ownFileTried' | 'ownFileUnseen'>
  readonly pending: Pick<PendingDeletes, 'due'>
  readonly tree: Pick<Tree, 'directory'>
  readonly rights: Pick<AccessRights, 'access'>
}

export function withWatchedDeletes(
  drive: Drive,
  { deleteRules, pending, tree, rights }: WatchedDeletesParts,
  until: Record<'metadata' | 'save', () => RequestContext>,
): Drive {
  async function waitedFor(path: string, attributes: Promise<Attributes>): Promise<Attributes> {
    const ended = deleteRules.waits(path)
    try {
      return await attributes
    } catch (thrown) {
      guardUnseen(path, thrown)
      throw thrown
    } finally {
      ended()
    }
  }

  /** An `rm -r` passes by a record that cannot be looked at, and goes on with what it can see. */
  function guardUnseen(path: string, thrown: unknown): void {
    if (!isDirectorysOwn(path) || isAbsent(thrown) || rights.access !== 'manage') return
    const directory = parentOf(path)
    tree.directory(directory, until.metadata()).then(
      node => deleteRules.ownFileUnseen(directory, node),
      // What has no directory that can be found has nothing in it that could be deleted.
      asFailure,
    )
  }

  return {
    ...drive,
    getattr(path) {
      pending.due()
      try {
        const attributes = drive.getattr(path)
        return attributes instanceof Promise ? waitedFor(path, attributes) : attributes
      } catch (thrown) {
        guardUnseen(path, thrown)
        throw thrown
      }
    },
    async readdir(path) {
      pending.due()
      const ended = deleteRules.waits(`${path}/`)
      try {
        return await drive.readdir(path)
      } finally {
        ended()
      }
    },
    async unlink(path) {
      if (!isDirectorysOwn(path)) return drive.unlink(path)
      const above = parentOf(path)
      const directory = await tree.directory(above, until.save())
      // Whatever becomes of it: an rm -r of the directory has begun, unless the file is created again.
      await drive.unlink(path).finally(() => deleteRules.ownFileTried(above, directory))
    },
  }
}
