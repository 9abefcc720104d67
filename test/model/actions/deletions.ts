// What the drive has deleted lately: more than three a minute are refused, and what follows without a pause counts as one go.
import type { Stage } from '../stage.js'
import { pass } from './time.js'

/** Milliseconds after which what was removed is deleted, and what was tried is forgotten. */
export const pauseMs = 3_200
const minute = 60_000
const perMinute = 3

/** Something was deleted just now. */
export function deleted({ deletions, clock }: Stage): void {
  deletions.push(clock)
}

/** Lets a minute pass where another deletion would be one too many, also one that is called off at once. */
export async function makeRoom(stage: Stage): Promise<void> {
  if (isFull(stage)) await pass(stage, minute + 1_000)
}

/** Whether the next one is refused. */
export const isFull = ({ deletions, clock }: Stage): boolean =>
  deletions.filter(at => clock - at < minute).length >= perMinute
