// A DELETE is sent once; where its answer was lost, a look tells whether the thing is gone.
import { asFailure } from '../../failure.js'
import type { Ask, Instant } from '../../remote/remote.js'
import { isUndecided } from './reconcile.js'
import { withReserve } from './reserve.js'

/** How one thing is deleted, and how one sees that it is still there. */
export interface Deletion {
  delete(ask: Ask): Promise<void>
  /** Rejects with a Failure 'absent' once it is gone. */
  look(ask: Ask): Promise<unknown>
}

/**
 * Resolves once the thing is gone, whoever has deleted it.
 * @throws Failure: why it is still there, or why nobody can say
 */
export async function deleteOnce(deletion: Deletion, ask: Ask, now: Instant): Promise<void> {
  try {
    await deletion.delete(withReserve(ask, now))
  } catch (thrown) {
    const failure = asFailure(thrown)
    if (failure.kind === 'absent') return
    if (isUndecided(failure) && (await isGone(deletion, ask))) return
    throw failure
  }
}

async function isGone(deletion: Deletion, ask: Ask): Promise<boolean> {
  try {
    await deletion.look(ask)
    return false
  } catch (thrown) {
    return asFailure(thrown).kind === 'absent'
  }
}
