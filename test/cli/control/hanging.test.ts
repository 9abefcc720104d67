// Promises of the command line towards a daemon that hangs: every command ends within a deadline, says what to do, and --force frees the mount point.
import { once } from 'node:events'
import { readdir } from 'node:fs/promises'
import { connect } from 'node:net'
import { join } from 'node:path'
import pLimit from 'p-limit'
import t, { type Test } from 'tap'
import { isProcessAlive, processAt } from '../../../src/system/process.js'
import { calcfs as program } from '../../testbed/daemon.js'
import { whereOnly } from '../../testbed/machine/own-mounts.js'
import { stopwatch } from '../../testbed/machine/stopwatch.js'
import { isMounted, type MountTestbed, realMount } from '../../testbed/mount.js'
import { type Ran, run } from '../../testbed/programs.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { until } from '../../testbed/within.js'

t.jobs = 3

/** In milliseconds: without those that other tests had the processors, and by the clock. */
async function timed(work: Promise<Ran>) {
  const elapsed = stopwatch()
  const byClock = Date.now()
  const ran = await work
  return { ...ran, took: elapsed(), byClock: Date.now() - byClock }
}

const statusOf = async (testbed: MountTestbed): Promise<{ pid: number; control: string }> =>
  JSON.parse(await textOf(testbed, '.calcfs/status.json'))

/** A drive whose daemon is stopped as by Ctrl-Z; it is resumed before the test is cleared away. */
async function stopped(t: Test, unsaved?: string): Promise<MountTestbed & { readonly pid: number }> {
  const testbed = await realMount(t)
  if (unsaved !== undefined) await outcome(overwrite(testbed, 'reports/new-dyes.json', unsaved))
  const { pid } = await statusOf(testbed)
  t.teardown(() => goOn(pid))
  process.kill(pid, 'SIGSTOP')
  await until(5000, 'the daemon is stopped', async () => (await processAt(pid))?.isStopped === true)
  return { ...testbed, pid }
}

function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT')
  } catch {
    // It has ended already.
  }
}

/** Ended three seconds after the daemon's silence, and what programs need to start, as long as that takes here and now. */
async function soon(t: Test, { took }: { readonly took: number }, what: string): Promise<void> {
  const limit = 4_000 + (took < 4_000 ? 0 : 4 * (await startMs()))
  t.ok(took < limit, `${what}: ${took} of ${limit} ms`)
}

async function startMs(): Promise<number> {
  return (await timed(run(process.execPath, [program, 'status', '--help']))).byClock
}

/** A command about all drives, where these are all. */
const ofAll = (drives: readonly MountTestbed[], ...args: string[]): Promise<Ran> =>
  whereOnly(
    drives.map(({ directory }) => directory),
    `${process.execPath} ${program} ${args.join(' ')}`,
    drives[0]?.environment ?? {},
  )

t.test(
  'CLI-17 NOFUSE-2 each command tells of a stopped daemon within its deadline, and what to do',
  async t => {
    const testbed = await stopped(t)
    const { directory, pid, calcfs } = testbed
    const remedy = new RegExp(
      `calcfs: the daemon of ${directory} \\(process ${pid}\\) is stopped; kill -CONT ${pid} resumes it, calcfs unmount --force ${directory} takes the mount away\\.\\n`,
    )
    t.match(await timed(ofAll([testbed], 'status')), { stderr: remedy }, 'status of all drives')
    const commands = [
      ['status', directory],
      ['why', join(directory, 'reports/42.json')],
      ['why', '--mount', directory, 'reports/42.json'],
      ['refresh', join(directory, 'reports')],
      ['drafts', 'list', '--mount', directory],
      ['drafts', 'list', '--url', testbed.service.url, '--user', 'demo'],
      ['report', 'add', '42', '--mount', directory],
      ['unmount', directory],
      ['ls', join(directory, 'projects')],
      ['find', join(directory, 'projects')],
      ['cat', join(directory, 'projects/x')],
      ['get', join(directory, 'projects'), '--to', testbed.local],
    ]
    const few = pLimit(3)
    const ran = async (command: string[]) => ({ command, ended: await timed(calcfs(...command)) })
    for (const { command, ended } of await Promise.all(commands.map(command => few(() => ran(command))))) {
      t.match(ended, { code: 4, stdout: '', stderr: remedy }, command.join(' '))
      await soon(t, ended, command.join(' '))
    }
    const again = await timed(calcfs('mount', testbed.service.url, directory, '--user', 'demo'))
    t.match(again, { code: 6, stderr: /does not answer; .*calcfs unmount --force/ }, 'mount')
    await soon(t, again, 'mount')
    const json = await ofAll([testbed], 'status', '--json')
    const told: readonly { readonly mountPoint: string }[] = JSON.parse(json.stdout)
    t.match(
      told.find(({ mountPoint }) => mountPoint === directory),
      { problem: /is stopped.*unmount --force/ },
    )

    goOn(pid)
    t.match(await calcfs('status', directory), { code: 0, stdout: /everything is saved/ }, 'it goes on')
  },
)

t.test('unmount --force frees the mount point of a stopped daemon (CLI-17)', async t => {
  const testbed = await stopped(t, 'no report')
  const { directory, pid, calcfs, here, mount, files } = testbed
  const ended = await timed(calcfs('unmount', '--force', directory))
  t.match(ended, {
    code: 0,
    stdout: new RegExp(
      `the mount point is free again, but its daemon \\(process ${pid}; kill -9 ${pid} ends it\\)`,
    ),
  })
  await soon(t, ended, 'unmount')
  t.notOk(await isMounted(directory))
  t.same(await readdir(directory), [], 'the bare directory')
  const waits = { code: 7, stdout: new RegExp(`new-dyes.json: .*\\n.*waits .*, in process ${pid}`) }
  t.match(await ofAll([testbed], 'drafts', 'list'), waits, 'what it has is no secret')

  await mount()
  t.ok((await files.readdir('reports')).has('INDEX.tsv'), 'it can be mounted again at once')
  goOn(pid)
  await until(20_000, 'the end of the old daemon', async () => !(await isProcessAlive(pid)))
  t.match(await calcfs('status', directory), { code: 0 }, 'and leaves the new one its mount')
  t.match(await here('drafts', 'list'), { code: 7, stdout: /by a mount that has ended/ }, 'and its socket')
})

t.test('a drive that hangs is not in the way of another one (CLI-17)', async t => {
  const hung = await stopped(t)
  const well = await realMount(t, {}, { home: hung.home })
  const why = await timed(hung.calcfs('why', join(well.directory, 'reports/42.json')))
  t.match(why, { code: 0, stdout: /nothing is wrong/ })
  await soon(t, why, 'why')
  t.match(await hung.calcfs('drafts', 'list', '--mount', well.directory), { code: 0 })
  const status = await ofAll([hung, well], 'status')
  t.match(
    status,
    { stdout: new RegExp(`^${well.directory}: `, 'm'), stderr: /is stopped/ },
    'both are reported',
  )
  t.not(status.code, 0)
  const several = await timed(ofAll([hung, well], 'drafts', 'list'))
  t.match(several, { code: 4, stdout: new RegExp(`^${well.directory}:`), stderr: /is stopped/ })
  await soon(t, several, 'drafts list')
  t.match(await hung.calcfs('unmount', well.directory), { code: 0 })
})

t.test(
  'a daemon that was killed is reported at once, and unmount frees its mount point (CLI-17)',
  async t => {
    const testbed = await realMount(t)
    const { directory, calcfs } = testbed
    await testbed.kill9()
    const commands = [
      ['status', directory],
      ['why', join(directory, 'reports/42.json')],
      ['drafts', 'list', '--mount', directory],
    ]
    for (const command of commands) {
      const ended = await timed(calcfs(...command))
      const sentence = `calcfs: the daemon of ${directory} has died; calcfs unmount ${directory} frees the mount point. Edits are kept: the next mount shows them.\n`
      t.match(ended, { code: 6, stderr: sentence }, command.join(' '))
      await soon(t, ended, command.join(' '))
    }
    const [told] = JSON.parse((await ofAll([testbed], 'status', '--json')).stdout)
    t.match(told, { mountPoint: directory, problem: /has died; calcfs unmount/ })
    t.match(await calcfs('unmount', directory), { code: 0, stdout: /its daemon had died/ })
    t.notOk(await isMounted(directory))
  },
)

t.test('a question that takes long is no silence: the daemon says that it is at work (CLI-17)', async t => {
  const testbed = await realMount(t)
  const path = 'reports/42.json'
  const text = (await textOf(testbed, path)).replace('Supporting', 'Supported')
  const well = testbed.service.refuse(/^PUT \/report/, 500)
  t.not(await outcome(overwrite(testbed, path, text)), 'done')
  well()
  testbed.service.beforeAnswer(/^PUT \/report/, 5000)
  const sent = await timed(testbed.here('drafts', 'send', '42'))
  t.match(sent, { code: 0, stdout: /report 42 is saved/ })
  t.ok(sent.byClock > 5000, `${sent.byClock} ms`)
})

t.test(
  'a command that hangs holds up no daemon: it ends once its answers had their time (CLI-17)',
  async t => {
    const testbed = await realMount(t, { settings: { deadlineSave: '1s' } })
    const stopped = connect((await statusOf(testbed)).control)
    t.teardown(() => stopped.destroy())
    stopped.write('POST /status HTTP/1.1\r\nHost: calcfs\r\nContent-Length: 10\r\n\r\n')
    await once(stopped, 'data')
    t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0, stderr: '' })
  },
)
