// The benchmark itself: it runs, holds each result against the truth, and leaves its table behind. No promise is about speed.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { localDisk } from '../../bench/peers/local.js'
import type { Peer } from '../../bench/peers/peers.js'
import type { Results } from '../../bench/report/results.js'
import { openArena } from '../../bench/run/arena.js'
import { perform, trial, type Workshop } from '../../bench/run/trial.js'
import { workload } from '../../bench/run/workloads.js'
import { scratch } from '../testbed/disk/scratch.js'
import { plainNode } from '../testbed/programs.js'
import { within } from '../testbed/within.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))
const run = join(root, 'dist/bench/run.js')

async function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode === null && child.signalCode === null) await once(child, 'exit')
  return child.exitCode
}

t.test('a small run ends well, with right results, and a table', async t => {
  const out = await scratch(t)
  const peers = 'calcfs,local,raw ×16'
  const args = ['--tree', 'small', '--rtt', '0', '--runs', '1', '--work', 'cp']
  const [program, ...first] = plainNode
  const child = spawn(program, [...first, run, ...args, '--peers', peers, '--out', out], {
    cwd: root,
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  t.teardown(async () => {
    // It takes away what it has mounted.
    child.kill('SIGTERM')
    await within(40_000, 'the end of the benchmark', ended(child))
  })
  t.equal(await within(150_000, 'a small run', ended(child)), 0)

  const results = JSON.parse(await fs.readFile(join(out, 'results.json'), 'utf8')) as Results
  for (const contender of ['calcfs', 'local disk']) {
    for (const work of ['cp']) {
      const cell = results.cells.find(one => one.contender === contender && one.work === work)
      const states = Object.values(cell?.verdicts ?? {}).map(({ state }) => state)
      t.same(states, ['right', 'right', 'right'], `${contender} does ${work} right three times`)
    }
  }
  t.ok(results.cells.some(({ contender }) => contender === 'raw ×16'))
  for (const name of Object.keys(results.contenders))
    t.ok(
      results.cells.some(({ contender }) => contender === name),
      `${name} has its place in the table`,
    )
  t.match(await fs.readFile(join(out, 'report.md'), 'utf8'), /\| `cp -r`, all \(small\) \|/)
})

t.test('a mount that shows a wrong byte is called wrong, however fast it is', async t => {
  const base = await scratch(t)
  const arena = await openArena({ tree: 'small', roundTrip: 0, link: 'plain' }, { trees: base, base })
  t.teardown(() => arena.close())
  const lie = join(base, 'lie')
  await fs.cp(arena.doors.disk, lie, { recursive: true })
  const file = join(lie, 'project-01/calc-001/output.out')
  const bytes = await fs.readFile(file)
  bytes[1000] = (bytes[1000] ?? 0) ^ 1
  await fs.writeFile(file, bytes)
  const liar: Peer = {
    ...localDisk,
    name: 'liar',
    mount: async () => ({ root: lie, processes: [], unmount }),
  }
  const workshop: Workshop = { base, scratch: join(base, 'scratch'), stopped: false }
  const limits = { cold: 60, warm: 60, remount: 60 }
  for (const [peer, name, state] of [
    [localDisk, 'cp', 'right'],
    [liar, 'cp', 'wrong'],
    [liar, 'md5-P8', 'wrong'],
    // Names and sizes are as they should be.
    [liar, 'ls-lR', 'right'],
  ] as const) {
    const work = workload(name)
    if (work === undefined) throw new Error(`no workload ${name}`)
    const truth = await perform(work, arena.doors.disk, 60, workshop)
    if (truth.state === 'late') throw new Error('the local disk took a minute')
    const { cold } = await trial({ peer, work, arena, truth: truth.result }, limits, workshop)
    t.equal(cold?.state, state, `${peer.name} at ${name}`)
  }
})

async function unmount(): Promise<void> {}
