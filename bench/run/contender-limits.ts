// Lower bound of each workload in raw requests: the same listings, sizes and contents without a mount.
import type { Limit, LimitJob } from '../limits/limits.js'
import { median } from '../processes/measure.js'
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

/** The limit of each workload that has one, by its name. */
const jobs: Readonly<Record<string, Wanted>> = {
  'ls-lR': { job: 'walk' },
  find: { job: 'listings' },
  'ls-deep': { job: 'walk' },
  'walk-backwards': { job: 'walk' },
  'walk-shuffled': { job: 'walk' },
  'walk-locale': { job: 'walk' },
  'walk-os': { job: 'walk' },
  'walk-two': { job: 'walk' },
  cp: { job: 'copy' },
  'cp-part': { job: 'copy', below: fourProjects },
  'md5-P1': { job: 'copy', ending: '.out' },
  'md5-P8': { job: 'copy', ending: '.out' },
  'md5-part-P1': { job: 'copy', ending: '.out', below: fourProjects },
  'md5-part-P8': { job: 'copy', ending: '.out', below: fourProjects },
  analysis: { job: 'copy', ending: '.out', below: fourProjects },
  dd: { job: 'one' },
  readers8: { job: 'one' },
}

/** Undefined where the workload's minimal requests are unknown. */
export async function limitOf(
  { work, tree }: Limited,
  arena: Arena,
  { runs, connections }: { readonly runs: number; readonly connections: number },
): Promise<Verdicts | undefined> {
  const job = jobs[work.name]
  // Another tree than the workload's own has other projects.
  if (job === undefined || (job.below !== undefined && tree !== work.tree)) return undefined
  const { rest, authorityFile } = arena.doors
  const authority = authorityFile === undefined ? {} : { authorityFile }
  const limits: Limit[] = []
  for (let run = 0; run < runs; run++)
    limits.push(await measureLimit({ ...job, ...authority, url: rest, connections }))
  const [first] = limits
  if (first === undefined) return undefined
  const figures = {
    seconds: median(limits.map(({ seconds }) => seconds)),
    requests: first.requests,
    bytes: first.bytes,
    cpuSeconds: median(limits.map(({ processor }) => processor)),
  }
  return { cold: { state: 'right', figures, runs } }
}
