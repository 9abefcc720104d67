// `npm run bench`: says what it will do, does it, prints each figure as it comes, and writes the results after each.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { fleetLine, fleetTable, measureFleet } from './fleet/fleet.js'
import { forecast, nameOf } from './plan/forecast.js'
import { type Options, optionsOf, usage } from './plan/options.js'
import { openPace } from './plan/pace.js'
import { planOf } from './plan/plan.js'
import { openSession } from './plan/session.js'
import { clear } from './processes/leftovers.js'
import { endCommand } from './processes/measure.js'
import { startKeeper } from './processes/start.js'
import { report, scaleTable, targetTable, timesTables, updatePage } from './report/page.js'
import { speedPlot } from './report/plot.js'
import type { Results } from './report/results.js'
import { line } from './report/table.js'
import { type Cell, isSame } from './run/cells.js'
import { contenders } from './run/contenders.js'
import { machine, versions } from './run/machine.js'
import { measureScale, type ScaleRow, scaleSeconds } from './run/scale.js'
import type { Workshop } from './run/trial.js'

/** Directories of a run, which a keeper takes away even where the run is killed. */
async function openPlaces(out: string) {
  const directories = {
    base: mkdtempSync(join(tmpdir(), 'calcfs-bench-')),
    scratch: mkdtempSync(join(existsSync('/dev/shm') ? '/dev/shm' : tmpdir(), 'calcfs-bench-')),
  }
  const keeper = await startKeeper(Object.values(directories))
  // davfs2 drops its privileges, and then has to find its cache.
  chmodSync(directories.base, 0o755)
  const workshop: Workshop = { ...directories, scratch: join(directories.scratch, 'work'), stopped: false }
  const trees = resolve('dist/bench-trees')
  for (const directory of [trees, out]) mkdirSync(directory, { recursive: true })
  return {
    directories,
    workshop,
    ground: { trees, base: directories.base },
    /** `meanwhile` ends what may have to answer at the unmount. */
    async end(meanwhile: () => Promise<void> = async () => undefined): Promise<void> {
      workshop.stopped = true
      endCommand()
      // First the mounts: a process of the origin may have to answer what is asked at the unmount.
      await clear(Object.values(directories))
      await meanwhile()
      await keeper.end()
    },
  }
}

/** The table of the fleet. */
async function fleet(options: Options): Promise<void> {
  const { workshop, ground, end } = await openPlaces(options.out)
  stopWith(end)
  const began = performance.now()
  try {
    const rows = await measureFleet(options, { workshop, ground }, row => console.log(fleetLine(row)))
    const seconds = (performance.now() - began) / 1000
    const found = {
      machine: machine(),
      date: new Date().toISOString(),
      command: commandLine(),
      seconds,
      rows,
    }
    writeFileSync(join(options.out, 'fleet.json'), `${JSON.stringify(found, null, 1)}\n`)
    console.log(`\n${fleetTable(rows)}\n\nIt took ${(seconds / 60).toFixed(1)} minutes.`)
  } finally {
    if (!workshop.stopped) await end()
  }
}

/** In a process of its own: nothing else runs in it, and its garbage is collected when it is told. */
function alone(program: string): void {
  const child = fileURLToPath(new URL(program, import.meta.url))
  const { status } = spawnSync(process.execPath, ['--expose-gc', child], { stdio: 'inherit' })
  process.exitCode = status ?? 1
}

const commandLine = (): string => ['npm run bench --', ...process.argv.slice(2)].join(' ').replace(/ --$/, '')

async function main(options: Options): Promise<void> {
  const { present, absent } = contenders(options)
  const items = planOf(options)
  const withScale = isWhole(options)
  console.log(forecast({ options, items, present, absent, withScale }))
  if (options.plan) return

  const { directories, workshop, ground, end: endPlaces } = await openPlaces(options.out)
  const began = performance.now()
  const about = {
    machine: machine(),
    date: new Date().toISOString(),
    command: commandLine(),
    versions: versions(),
    contenders: Object.fromEntries(present.map(({ name, options: how }) => [name, how])),
    absent,
  }
  const cells: Cell[] = []
  const leftOut: string[] = []

  function keep(scale: readonly ScaleRow[]): Results {
    const seconds = (performance.now() - began) / 1000
    const results: Results = { ...about, seconds, leftOut, cells, scale }
    writeFileSync(join(options.out, 'results.json'), `${JSON.stringify(results, null, 1)}\n`)
    writeFileSync(join(options.out, 'report.md'), `${report(results)}\n`)
    return results
  }

  const session = openSession({
    present,
    runs: options.runs,
    workshop,
    ground,
    pace: openPace({
      seconds: options.minutes * 60 - (withScale ? scaleSeconds : 0),
      now: () => performance.now() / 1000,
    }),
    telling: {
      cell(cell) {
        const same = cells.findIndex(one => isSame(one, cell))
        cells.splice(same === -1 ? cells.length : same, 1, cell)
        console.log(line(cell))
        keep([])
      },
      leftOut(part) {
        leftOut.push(nameOf(part))
        console.log(`${nameOf(part)}: left out, no time is left`)
      },
    },
  })

  const end = (): Promise<void> => endPlaces(session.close)

  stopWith(() => {
    console.log(`interrupted; what was measured lies in ${options.out}`)
    return end()
  })
  try {
    await session.measure(items)
    const scale = withScale && !workshop.stopped ? await scenarios(join(directories.scratch, 'scale')) : []
    if (!workshop.stopped) conclude(keep(scale), options)
  } finally {
    if (!workshop.stopped) await end()
  }
}

/** Milliseconds in which a signal comes twice, from the terminal and from a program in between. */
const sameSignal = 2_000

/** Whatever a terminal or a service manager sends; later once more: at once, and the keeper takes away what is left. */
function stopWith(stop: () => Promise<void>): void {
  let since: number | undefined
  const hear = (): void => {
    if (since === undefined) void stop().then(() => process.exit(130))
    since ??= performance.now()
    if (performance.now() - since > sameSignal) process.exit(130)
  }
  for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(name, hear)
  process.once('disconnect', hear)
  process.channel?.unref()
}

async function scenarios(place: string): Promise<readonly ScaleRow[]> {
  const rows: ScaleRow[] = []
  await measureScale(place, row => {
    rows.push(row)
    console.log(`${row.what}: ${row.found} (${row.target})`)
  })
  return rows
}

/** A run without a selection, or with the largest tree, includes its scenarios. */
const isWhole = ({ tree, work, peers, quick, roundTrips, links }: Options): boolean =>
  tree === 'scale' || ((tree ?? work ?? peers ?? roundTrips ?? links) === undefined && !quick)

/** The tables on the terminal, and with --page on the page, with its plot. */
function conclude(results: Results, options: Options): void {
  const tables = [timesTables, targetTable, scaleTable]
  console.log(`\n${tables.map(table => table(results)).join('\n\n')}`)
  console.log(`\nIt took ${(results.seconds / 60).toFixed(1)} minutes.`)
  if (!options.page) return
  updatePage('docs/performance.md', results)
  writeFileSync('docs/speed.svg', speedPlot(readFileSync('docs/performance.md', 'utf8')))
}

try {
  const options = optionsOf(process.argv.slice(2))
  if (options.help) console.log(usage)
  else if (options.paths) alone('paths/paths.js')
  else if (options.delay) alone('delay/delay.js')
  else if (options.fleet) await fleet(options)
  else await main(options)
} catch (thrown) {
  console.error(thrown instanceof Error ? thrown.message : thrown)
  console.error('--help tells the options.')
  process.exitCode = 1
}
