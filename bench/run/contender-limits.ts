// Lower bound of each workload in raw requests: the same listings, sizes and contents without a mount.
import type { LimitJob } from '../limits/limits.js'
import { measureLimit } from '../processes/start.js'
import type { TreeName } from '../trees/trees.js'
import type { Arena } from './arena.js'
import type { Verdicts } from './trial.js'
import type { Workload } from './workloads.js'

/** A workload on a tree. */
export interface Limited {
  readonly work: Workload
  readonly tree: TreeName
}

type Wanted = Omit<LimitJob, 'url' | 'connections'>

const fourProjects = ['01', '02', '03', '04'].map(number => `project-${number}`)

/** The walk of the lab in other orders than the listing's, by their names; two at once ask no more than one. */
export const walks: readonly string[] = [
  ...['walk-backwards', 'ls-lrR', 'walk-shuffled', 'walk-scattered', 'walk-locale'],
  ...['walk-os', 'os-walk', 'walk-two', 'ls-two'],
]

/** The limit of each workload that has one, by its name. */
const jobs: Readonly<Record<string, Wanted>> = {
  'ls-lR': { job: 'walk' },
  find: { job: 'listings' },
  'ls-deep': { job: 'walk' },
  ...Object.fromEntries(walks.map(name => [name, { job: 'walk' } as const])),
  cp: { job: 'copy' },
  'cp-reverse': { job: 'copy' },
  'cp-part': { job: 'copy', below: fourProjects },
  'md5-P1': { job: 'copy', ending: '.out' },
  'md5-P8': { job: 'copy', ending: '.out' },
  'md5-part-P1': { job: 'copy', ending: '.out', below: fourProjects },
  'md5-part-P8': { job: 'copy', ending: '.out', below: fourProjects },
  analysis: { job: 'copy', ending: '.out', below: fourProjects },
  dd: { job: 'one' },
  readers8: { job: 'one' },
}

/** Whether the workload's minimal requests are known. Another tree than the workload's own has other projects. */
export function hasLimit({ work, tree }: Limited): boolean {
  const job = jobs[work.name]
  return job !== undefined && (job.below === undefined || tree === work.tree)
}

/** Undefined where the workload's minimal requests are unknown. */
export async function limitOf(
  { work, tree }: Limited,
  arena: Arena,
  connections: number,
): Promise<Verdicts | undefined> {
  const job = jobs[work.name]
  if (job === undefined || !hasLimit({ work, tree })) return undefined
  const { rest, authorityFile } = arena.doors
  const authority = authorityFile === undefined ? {} : { authorityFile }
  const limit = await measureLimit({ ...job, ...authority, url: rest, connections })
  const { seconds, requests, bytes, processor } = limit
  return { cold: { state: 'right', figures: { seconds, requests, bytes, cpuSeconds: processor }, runs: 1 } }
}
