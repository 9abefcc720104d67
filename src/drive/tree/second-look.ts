// Second look: at a path whose name was passed on to another thing while it was looked at.
import { asFailure } from '../../failure.js'

/** Looks once more where the name means another thing by now: the next look finds that one. */
export async function withSecondLook<Found>(look: () => Promise<Found>): Promise<Found> {
  try {
    return await look()
  } catch (thrown) {
    if (asFailure(thrown).kind !== 'another-thing') throw thrown
    return look()
  }
}
