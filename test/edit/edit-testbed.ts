// What the tests of the journal share: a clock that is turned by hand and a scratch directory.
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type Instant, instant } from '../../src/remote/remote.js'

/** A clock that a test turns by hand; in milliseconds. */
export function handClock(start = 1_700_000_000_000): {
  now: () => Instant
  turn: (milliseconds: number) => void
} {
  let at = start
  return {
    now: () => instant(at),
    turn: milliseconds => {
      at += milliseconds
    },
  }
}

export async function scratch(t: { teardown: (end: () => Promise<void>) => void }): Promise<string> {
  const directory = await mkdtemp(join(tmpdir(), 'calcfs-edit-'))
  t.teardown(() => rm(directory, { recursive: true, force: true }))
  return directory
}
