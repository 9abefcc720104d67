// Command line of the bench: round trips, trees, peers, workloads, repetitions, the time, and where results go.
import { parseArgs } from 'node:util'
import { type Link, links } from '../run/arena.js'
import { workloadNames } from '../run/workloads.js'
import { type TreeName, treeNames } from '../trees/trees.js'

export interface Options {
  readonly help: boolean
  /** Whether to say what would be done, and do nothing. */
  readonly plan: boolean
  /** Milliseconds; undefined for the plan's own selection. */
  readonly roundTrips?: readonly number[]
  readonly links?: readonly Link[]
  readonly tree?: TreeName
  /** Whether modules, calls, promises and bytes of the hot paths are counted, and nothing else. */
  readonly paths: boolean
  /** Whether the delays of the event loop are measured, and nothing else. */
  readonly delay: boolean
  /** Whether the fleet is measured, and nothing else. */
  readonly fleet: boolean
  /** Of the fleet; undefined for what is usual. */
  readonly sizes: FleetWish
  readonly peers?: readonly string[]
  readonly work?: readonly string[]
  readonly runs: number
  readonly quick: boolean
  /** What is not begun after so many minutes is left out. */
  readonly minutes: number
  /** Where results.json and the table are written. */
  readonly out: string
  /** Whether docs/performance.md is brought up to date. */
  readonly page: boolean
}

export const fleetRows = ['requests', 'lines', 'times', 'saves', 'gone'] as const
export type FleetRows = (typeof fleetRows)[number]

/** Mounts, lines without a kernel, saves, and which rows. */
export interface FleetWish {
  readonly nodes?: number
  readonly lines?: number
  readonly saves?: number
  readonly rows?: readonly FleetRows[]
}

export const usage = `npm run bench -- [options]        or, once it is built, node dist/bench/run.js [options]

  --rtt 0,30        round trips in milliseconds
  --link a,b        ${links.join(', ')}: a delay alone, with a certificate, with handshakes and a bandwidth
  --tree NAME       ${treeNames.join(', ')}; scale alone has its own scenarios;
                    fleet: many mounts over one Redis, the table of its targets
  --peers a,b       part of a name is enough: calcfs, raw, pass-through, disk, rclone, httpdirfs, davfs2, sshfs
  --work a,b        ${workloadNames.join(', ')}
  --runs N          times that each is done (3); what takes long is done once
  --quick           calcfs, the limits and the floors alone, once
  --minutes N       what is not begun by then is left out, and named (44, so that with set-up it is over after 47)
  --nodes N         of the fleet: mounts (8), --lines N without a kernel (200), --saves N (50)
  --rows a,b        of the fleet: ${fleetRows.join(', ')}
  --paths           modules, calls, promises, bytes and requests of five hot paths, and of raw undici
  --delay           how late the event loop is in a cold copy, a long walk, a long record and a save beside it
  --plan            say what would be done and how long it may take, and do nothing
  --out DIRECTORY   where results.json and report.md are written (dist/bench-results)
  --page            write docs/performance.md, too
  --help            this text
`

/** @throws Error that says what is wrong with a flag, and what would be right */
export function optionsOf(args: readonly string[]): Options {
  const { values } = parseArgs({
    args: [...args],
    options: {
      help: { type: 'boolean', default: false },
      plan: { type: 'boolean', default: false },
      rtt: { type: 'string' },
      link: { type: 'string' },
      tree: { type: 'string' },
      peers: { type: 'string' },
      work: { type: 'string' },
      runs: { type: 'string', default: '3' },
      quick: { type: 'boolean', default: false },
      minutes: { type: 'string', default: '44' },
      out: { type: 'string', default: 'dist/bench-results' },
      nodes: { type: 'string' },
      lines: { type: 'string' },
      saves: { type: 'string' },
      rows: { type: 'string' },
      page: { type: 'boolean', default: false },
      paths: { type: 'boolean', default: false },
      delay: { type: 'boolean', default: false },
    },
  })
  const fleet = values.tree === 'fleet'
  const [tree] = values.tree === undefined || fleet ? [] : among('tree', [values.tree], treeNames)
  const work =
    values.work === undefined ? undefined : among('workload', values.work.split(','), workloadNames)
  const chosenLinks = values.link === undefined ? undefined : among('link', values.link.split(','), links)
  return {
    help: values.help,
    plan: values.plan,
    ...(values.rtt === undefined
      ? {}
      : { roundTrips: values.rtt.split(',').map(text => number(text, '--rtt')) }),
    ...(chosenLinks === undefined ? {} : { links: chosenLinks }),
    ...(tree === undefined ? {} : { tree }),
    fleet,
    sizes: {
      ...(values.nodes === undefined ? {} : { nodes: number(values.nodes, '--nodes') }),
      ...(values.lines === undefined ? {} : { lines: number(values.lines, '--lines') }),
      ...(values.saves === undefined ? {} : { saves: number(values.saves, '--saves') }),
      ...(values.rows === undefined ? {} : { rows: among('row', values.rows.split(','), fleetRows) }),
    },
    ...(values.peers === undefined ? {} : { peers: values.peers.split(',') }),
    ...(work === undefined ? {} : { work }),
    runs: Math.max(1, values.quick ? 1 : number(values.runs, '--runs')),
    quick: values.quick,
    minutes: number(values.minutes, '--minutes'),
    out: values.out,
    page: values.page,
    paths: values.paths,
    delay: values.delay,
  }
}

/** The same names, all of them known. */
function among<Name extends string>(
  what: string,
  names: readonly string[],
  right: readonly Name[],
): readonly Name[] {
  return names.map(name => {
    const known = right.find(one => one === name)
    if (known === undefined) throw new Error(`there is no ${what} ${name}; there are: ${right.join(', ')}`)
    return known
  })
}

function number(text: string, flag: string): number {
  if (!/^\d{1,4}$/.test(text)) throw new Error(`${flag} has to be whole numbers, and ${text} is none`)
  return Number(text)
}
