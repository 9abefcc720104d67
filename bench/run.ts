// `npm run bench`: carries out the plan, prints each figure as it comes, and writes the results after each.
import { spawnSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { commandPath } from './peers/peers.js'
import { endCommand } from './processes/measure.js'
import { report, scaleTable, targetTable, timesTables, updatePage } from './report/page.js'
import { plot } from './report/plot.js'
import { type Cell, type Results, secondsOf } from './report/results.js'
import { line } from './report/table.js'
import { type Arena, openArena } from './run/arena.js'
import { type Contender, contenders } from './run/contenders.js'
import { machine, versions } from './run/machine.js'
import { type Options, optionsOf, usage } from './run/options.js'
import { type Item, planOf } from './run/plan.js'
import { measureScale, type ScaleRow } from './run/scale.js'
import { type Effort, perform, phases, trial, type Verdicts, type Workshop } from './run/trial.js'
import { workload } from './run/workloads.js'

/** Seconds: what takes longer is done once, and ended after the limit. */
const onceOver = 5
const longest = 60
const shortest = 20
/** A peer this many times slower than calcfs is ended early and not measured further. */
const patience = 15

async function main(): Promise<void> {
  const options = optionsOf(process.argv.slice(2))
  const base = mkdtempSync(join(tmpdir(), 'calcfs-bench-'))
  // davfs2 drops its privileges, and then has to find its cache.
  chmodSync(base, 0o755)
  const memory = existsSync('/dev/shm') ? '/dev/shm' : base
  const workshop: Workshop = {
    base,
    scratch: join(memory, `calcfs-bench-${process.pid}`),
    current: undefined,
  }
  const trees = resolve('dist/bench-trees')
  mkdirSync(trees, { recursive: true })
  const cells: Cell[] = []
  const { present, absent } = contenders(options)
  if (present.length === 0) throw new Error(`there is no contender called ${options.peers?.join(' or ')}`)
  for (const [name, why] of Object.entries(absent)) console.log(`left out: ${name}: ${why}`)
  mkdirSync(options.out, { recursive: true })
  const about = {
    machine: machine(),
    date: new Date().toISOString(),
    command: ['node dist/bench/run.js', ...process.argv.slice(2)].join(' '),
    versions: versions(),
    contenders: Object.fromEntries(present.map(({ name, options: how }) => [name, how])),
    absent,
  }
  let interrupted = false
  const stop = (): void => {
    interrupted = true
    console.log(`interrupted; what was measured lies in ${options.out}`)
    void end().then(() => process.exit(130))
  }
  let arena: Arena | undefined

  async function end(): Promise<void> {
    endCommand()
    await workshop.current?.unmount()
    await arena?.close()
    arena = undefined
    rmSync(workshop.scratch, { recursive: true, force: true })
    rmSync(base, { recursive: true, force: true })
  }

  async function arenaFor({ tree, roundTrip }: Item): Promise<Arena> {
    if (arena?.tree === tree && arena.roundTrip === roundTrip) return arena
    await arena?.close()
    arena = undefined
    arena = await openArena(tree, roundTrip, trees)
    return arena
  }

  async function measure(item: Item): Promise<void> {
    const here = await arenaFor(item)
    const truth = await perform(item.work, here.doors.disk, 300, workshop)
    if (truth.state === 'late') throw new Error(`${item.work.name} took five minutes on the local disk`)
    let own: number | undefined
    for (const contender of present.filter(one => takesPart(one, item))) {
      const effort: Effort = { runs: options.runs, limitSeconds: limit(contender, own), onceOver, phases }
      const verdicts = await contend(contender, { item, arena: here, truth: truth.result }, effort, workshop)
      // An interrupted measurement says nothing about its contender.
      if (interrupted) return
      if (verdicts === undefined) continue
      const { tree, roundTrip, work } = item
      const cell: Cell = { tree, roundTrip, work: work.name, contender: contender.name, verdicts }
      cells.push(cell)
      if (contender.name === 'calcfs') own = secondsOf(cell, 'cold')
      console.log(line(cell))
      write(cells)
    }
  }

  function write(known: readonly Cell[]): void {
    keep({ ...about, cells: known, scale: [] })
  }

  function keep(results: Results): void {
    writeFileSync(join(options.out, 'results.json'), `${JSON.stringify(results, null, 1)}\n`)
    writeFileSync(join(options.out, 'report.md'), `${report(results)}\n`)
  }

  async function scenarios(): Promise<readonly ScaleRow[]> {
    const rows: ScaleRow[] = []
    await measureScale(join(workshop.scratch, 'scale'), row => {
      rows.push(row)
      console.log(`${row.what}: ${row.found} (${row.target})`)
    })
    return rows
  }

  process.once('SIGINT', stop).once('SIGTERM', stop)
  try {
    if (options.tree !== 'scale') for (const item of planOf(options)) if (!interrupted) await measure(item)
    const scale = isWhole(options) && !interrupted ? await scenarios() : []
    const results: Results = { ...about, cells, scale }
    keep(results)
    conclude(results, options)
  } finally {
    await end()
  }
}

/** A run without a selection, or with the largest tree, includes its scenarios. */
const isWhole = ({ tree, work, peers, quick }: Options): boolean =>
  tree === 'scale' || ((tree ?? work ?? peers) === undefined && !quick)

/** The table and the targets on the terminal, the plots next to the results. */
function conclude(results: Results, options: Options): void {
  console.log(`\n${timesTables(results)}\n\n${targetTable(results)}\n\n${scaleTable(results)}`)
  const drawn = [...new Set(results.cells.map(({ roundTrip }) => roundTrip))]
  const works = [...new Set(results.cells.map(({ work }) => work))].flatMap(name => workload(name) ?? [])
  for (const roundTrip of drawn)
    draw(join(options.out, `plot-${roundTrip}ms.svg`), plot(results.cells, roundTrip, works))
  if (!options.page) return
  updatePage('docs/performance.md', results)
  for (const roundTrip of [0, 30].filter(distance => drawn.includes(distance)))
    writeFileSync(`docs/performance-${roundTrip}ms.svg`, plot(results.cells, roundTrip, works))
}

/** A PNG, too, where a program is there that makes one. */
function draw(file: string, svg: string): void {
  writeFileSync(file, svg)
  if (commandPath('rsvg-convert') !== undefined)
    spawnSync('rsvg-convert', ['-o', file.replace(/svg$/, 'png'), file], { stdio: 'inherit' })
}

interface Contest {
  readonly item: Item
  readonly arena: Arena
  readonly truth: string
}

async function contend(
  contender: Contender,
  { item, arena, truth }: Contest,
  effort: Effort,
  workshop: Workshop,
): Promise<Verdicts | undefined> {
  if (contender.peer !== undefined)
    return trial({ peer: contender.peer, work: item.work, arena, truth }, effort, workshop)
  return contender.limit?.(item, arena, effort.runs)
}

function takesPart(contender: Contender, { ranks }: Item): boolean {
  return ranks === 'all' || (ranks === 'best' ? contender.rank !== 'weaker' : contender.rank === 'own')
}

function limit(contender: Contender, own: number | undefined): number {
  if (contender.rank === 'own' || own === undefined) return 120
  return Math.round(Math.min(longest, Math.max(shortest, own * patience)))
}

main().catch(thrown => {
  console.error(thrown instanceof Error ? thrown.message : thrown)
  console.error(usage)
  process.exitCode = 1
})
