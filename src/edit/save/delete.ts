// Deletion: one DELETE; where its answer was lost, a look tells whether the thing is gone.
import { asFailure, isA, isAbsent } from '../../failure.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import { sentOnce } from './reconcile.js'

/** How one thing is deleted, and how one sees that it is still there. */
export interface DeleteOperation {
  delete(context: RequestContext): Promise<void>
  /** Rejects with a Failure 'absent' once it is gone. */
  look(context: RequestContext): Promise<unknown>
}

/**
 * Resolves once the thing is gone, whichever client has deleted it.
 * @throws Failure: why it is still there, or why that is not known
 */
export async function deleteOnce(
  deletion: DeleteOperation,
  context: RequestContext,
  now: Instant,
): Promise<void> {
  const late = sentOnce(context, now)
  try {
    await deletion.delete(late.context)
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (failure.kind === 'absent') return
    if (!isA('undecided', failure) || !(await isGone(deletion, context))) throw failure
    late.seen()
  }
}

async function isGone(deletion: DeleteOperation, context: RequestContext): Promise<boolean> {
  try {
    await deletion.look(context)
    return false
  } catch (thrown) {
    return isAbsent(thrown)
  }
}
