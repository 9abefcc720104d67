// Reads of a fleet's tests: all that a drive shows, and how long the longest of the calls took.
import type { Test } from 'tap'
import { stopwatch } from '../machine/stopwatch.js'
import { until, within } from '../within.js'
import type { FleetBed, FleetNode } from './fleet.js'

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

/** What a mount that comes up reads of what others have asked for; on a busy machine some pass the fleet by for moments. */
export async function sharedReads(join: () => Promise<FleetNode>): Promise<readonly string[]> {
  let seen: readonly string[] = []
  await until(60_000, 'a mount reads from the fleet', async () => {
    const next = await join()
    seen = await everything(next, 'projects')
    return (next.line.fleet?.status().saved ?? 0) > 10
  })
  return seen
}

/** What the longest call may take: a mount whose process is kept busy waits for a sign of the fleet. */
const allowed = (usual: number): number => 3 * usual + 8_000

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
  const limit = allowed(usual?.longest ?? 0)
  for (const { seen, longest } of others) {
    t.strictSame(seen, usual?.seen, `${what}: what is read is right`)
    t.ok(longest < limit, `${what}: the longest call took ${Math.round(longest)} of ${Math.round(limit)} ms`)
  }
}

/** How long the work takes. */
export async function milliseconds(work: Promise<unknown>): Promise<number> {
  const began = performance.now()
  await work
  return Math.round(performance.now() - began)
}
