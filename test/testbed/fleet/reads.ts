// Reads of a fleet's tests: all that a drive shows, and how long the longest of the calls took.
import type { Test } from 'tap'
import { stopwatch } from '../machine/stopwatch.js'
import { until, within } from '../within.js'
import type { FleetBed, FleetNode } from './fleet.js'
import { isUsed } from './node.js'

/** Everything below a directory, one call after another. */
export async function walk({ files }: Pick<FleetNode, 'files'>, path: string) {
  /** Every path with what it holds. */
  const seen: string[] = []
  /** Milliseconds, without those in which programs waited for a processor. */
  let longest = 0
  async function timed<Value>(work: Promise<Value>): Promise<Value> {
    const elapsed = stopwatch()
    const value = await work
    longest = Math.max(longest, elapsed())
    return value
  }
  async function below(directory: string): Promise<void> {
    for (const [name, kind] of await timed(files.readdir(directory))) {
      const inner = `${directory}/${name}`
      if (kind === 'directory') await below(inner)
      else if (kind === 'file')
        seen.push(`${inner} ${(await timed(files.readFile(inner))).toString('base64')}`)
    }
  }
  await below(path)
  return { seen, longest }
}

export const everything = async (node: Pick<FleetNode, 'files'>, path: string): Promise<readonly string[]> =>
  (await walk(node, path)).seen

/** Mounts of a fleet walk beside one without: they read the same, and no call of theirs takes long. */
export async function sameAsAlone(
  t: Pick<Test, 'ok' | 'strictSame'>,
  bed: FleetBed,
  nodes: readonly FleetNode[],
  what: string,
): Promise<void> {
  const alone = await bed.join({}, true)
  const walks = Promise.all([alone, ...nodes].map(node => walk(node, 'projects')))
  const [usual, ...others] = await within(240_000, what, walks)
  // A mount whose process is kept busy waits for a sign of the fleet.
  const limit = 3 * (usual?.longest ?? 0) + 8_000
  for (const { seen, longest } of others) {
    t.strictSame(seen, usual?.seen, `${what}: what is read is right`)
    t.ok(longest < limit, `${what}: the longest call took ${Math.round(longest)} of ${Math.round(limit)} ms`)
  }
}

/** Milliseconds within which all mounts show a change: a second, and two for other programs. The bench measures the second. */
const seenMs = 3_000

/**
 * Until one of a fleet's mounts shows a change, which it does in time. While one of them passes the fleet by, as on a busy
 * machine, that time has not begun: afterwards it asks for all again.
 */
export async function untilSeen(
  nodes: readonly FleetNode[],
  what: string,
  isSo: () => Promise<boolean>,
  limit = seenMs,
): Promise<void> {
  let elapsed = stopwatch()
  await until(60_000, what, async () => {
    if (!nodes.every(isUsed)) elapsed = stopwatch()
    const asked = elapsed()
    if (await isSo()) return true
    if (asked > limit && nodes.every(isUsed)) throw new Error(`${what}: not so after ${limit} ms`)
    return false
  })
}

/** How long the work takes. */
export async function milliseconds(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work
  return Math.round(performance.now() - began)
}
