// Command line of the bench: round trips, trees, peers, workloads, repetitions, and where results go.
import { parseArgs } from 'node:util'
import { type TreeName, treeNames } from '../trees/trees.js'
import { workloadNames } from './workloads.js'

export interface Options {
  /** Milliseconds; undefined for the plan's own selection. */
  readonly roundTrips?: readonly number[]
  readonly tree?: TreeName
  readonly peers?: readonly string[]
  readonly work?: readonly string[]
  readonly runs: number
  readonly quick: boolean
  /** Where results.json, the table and the plot are written. */
  readonly out: string
  /** Whether docs/performance.md is brought up to date. */
  readonly page: boolean
}

export const usage = `node dist/bench/run.js [options]

  --rtt 0,30        round trips in milliseconds
  --tree NAME       ${treeNames.join(', ')}; scale alone has its own scenarios
  --peers a,b       part of a name is enough: calcfs, raw, pass-through, disk, rclone, httpdirfs, davfs2, sshfs
  --work a,b        ${workloadNames.join(', ')}
  --runs N          times that each is done (3); what takes long is done once
  --quick           calcfs, the limits and the floors alone, once
  --out DIRECTORY   where results.json, report.md and plot-<rtt>ms.svg are written (dist/bench-results)
  --page            write docs/performance.md, too
`

/** @throws Error that says what is wrong with a flag */
export function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      rtt: { type: 'string' },
      tree: { type: 'string' },
      peers: { type: 'string' },
      work: { type: 'string' },
      runs: { type: 'string', default: '3' },
      quick: { type: 'boolean', default: false },
      out: { type: 'string', default: 'dist/bench-results' },
      page: { type: 'boolean', default: false },
    },
  })
  const tree = treeNames.find(name => name === values.tree)
  if (values.tree !== undefined && tree === undefined) throw new Error(`there is no tree ${values.tree}`)
  const work = values.work?.split(',')
  const unknown = work?.find(name => !workloadNames.includes(name))
  if (unknown !== undefined) throw new Error(`there is no workload ${unknown}`)
  return {
    ...(values.rtt === undefined
      ? {}
      : { roundTrips: values.rtt.split(',').map(text => number(text, '--rtt')) }),
    ...(tree === undefined ? {} : { tree }),
    ...(values.peers === undefined ? {} : { peers: values.peers.split(',') }),
    ...(work === undefined ? {} : { work }),
    runs: Math.max(1, values.quick ? 1 : number(values.runs, '--runs')),
    quick: values.quick,
    out: values.out,
    page: values.page,
  }
}

function number(text: string, flag: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error(`${flag} has to be whole numbers, and ${text} is none`)
  return Number(text)
}
