// Nothing of a run stays on the machine: no mount, no process, no directory, also where it is killed or a mount hangs.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import * as fs from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t, { type Test } from 'tap'
import { clear } from '../../bench/processes/leftovers.js'
import { startPassThrough } from '../../bench/processes/start.js'
import { plainNode } from '../testbed/programs.js'
import { until, within } from '../testbed/within.js'

const root = fileURLToPath(new URL('../../../', import.meta.url))

/** Milliseconds: a mount that hangs is given a while. */
const patience = 60_000

t.setTimeout(200_000)

/** The words of every process of this machine. */
async function commands(): Promise<readonly string[]> {
  const pids = (await fs.readdir('/proc')).filter(name => /^\d+$/.test(name))
  return Promise.all(pids.map(pid => fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')))
}

const mounts = (): Promise<string> => fs.readFile('/proc/self/mountinfo', 'utf8')

async function isGone(...directories: readonly string[]): Promise<boolean> {
  for (const directory of directories) {
    const left = await fs.stat(directory).catch(() => undefined)
    if (left !== undefined || (await mounts()).includes(directory)) return false
    if ((await commands()).some(words => words.includes(directory))) return false
  }
  return true
}

/** The keeper of a run is told every directory that the run makes. */
async function directoriesWith(base: string): Promise<readonly string[]> {
  const keeper = (await commands()).find(words => words.includes('keeper.js') && words.includes(base))
  return keeper?.split('\0').filter(word => word.includes('/calcfs-bench-')) ?? []
}

/** A run of the bench that copies through the pass-through again and again; with its directory, once it is mounted. */
async function running(
  t: Test,
): Promise<{ run: ChildProcess; directories: readonly string[]; serving: number }> {
  const temporary = await fs.mkdtemp(join(tmpdir(), 'calcfs-bench-test-'))
  const [program, ...first] = plainNode
  const words = '--tree small --rtt 0 --work cp --peers pass-through --runs 500'.split(' ')
  const run = spawn(program, [...first, join(root, 'dist/bench/run.js'), ...words, '--out', temporary], {
    cwd: root,
    env: { ...process.env, TMPDIR: temporary },
    stdio: 'ignore',
  })
  t.teardown(async () => {
    run.kill('SIGKILL')
    await fs.rm(temporary, { recursive: true, force: true })
  })
  let base = ''
  await until(patience, 'a mount of the run', async () => {
    const mounted = new RegExp(` (${temporary}/calcfs-bench-[^/ ]+)/mount-\\d+ `).exec(await mounts())
    base = mounted?.[1] ?? ''
    return base !== ''
  })
  const pids = (await fs.readdir('/proc')).filter(name => /^\d+$/.test(name))
  const words0 = await Promise.all(
    pids.map(async pid => [pid, await fs.readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')] as const),
  )
  const serving = words0.find(([, line]) => line.includes('pass-through.js') && line.includes(base))
  const directories = await directoriesWith(base)
  t.equal(directories.length, 2, 'one on the disk, and one in memory')
  return { run, directories, serving: Number(serving?.[0]) }
}

t.test('an interrupted run takes away what it mounted and wrote', async t => {
  const { run, directories } = await running(t)
  const ended = new Promise<number | null>(resolve => run.once('exit', resolve))
  run.kill('SIGINT')
  t.equal(await within(patience, 'the end of the run', ended), 130)
  t.ok(await isGone(...directories))
})

t.test('a run that is killed is cleared away behind it, its mount that hangs, too', async t => {
  const { run, directories, serving } = await running(t)
  process.kill(serving, 'SIGSTOP')
  run.kill('SIGKILL')
  await until(patience, 'the directory, the mount and the processes go', () => isGone(...directories))
})

t.test('a program that hangs in a mount is ended, and its mount with it', async t => {
  const base = await fs.mkdtemp(join(tmpdir(), 'calcfs-bench-test-'))
  await fs.mkdir(join(base, 'mount'))
  const floor = await startPassThrough(join(base, 'mount'), { tree: 'small', records: false }, 'session')
  t.teardown(() => floor.stop())
  process.kill(floor.pid, 'SIGSTOP')
  const list = spawn('ls', ['-l', join(base, 'mount')], { stdio: 'ignore' })
  // sshd writes its words as one.
  const line = `exec -a "server: -f ${base}/configuration [listener]" sleep 300`
  const server = spawn('bash', ['-c', line], { stdio: 'ignore' })
  const ended = Promise.all([list, server].map(child => once(child, 'exit')))
  await within(patience, 'clearing away', clear([base]))
  await within(patience, 'the end of both', ended)
  t.ok(await isGone(base))
})
