// How long what is removed waits, and how long after a save a report cannot be removed.
import type { Stage, Thing } from '../stage.js'
import { pass } from './time.js'

/** Milliseconds after which a burst of removals has ended. */
export const pauseMs = 3_200

/** A report that was written within the last minute is not removed. */
export async function mayBeRemoved(stage: Stage, { kind }: Thing): Promise<void> {
  if (kind === 'report' && stage.theatre.access === 'manage') await pass(stage, 61_000)
}
