// What signals do to a daemon: it ends in order in the very moment in which the mount appears, it opens no debugger; and an unmount on a full disk.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { mkdir, mkdtemp, readdir, readFile, readlink, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isProcessAlive } from '../../src/system/process.js'
import { calcfs } from '../testbed/daemon.js'
import { smallDisk } from '../testbed/disk/small-disk.js'
import { isMounted, realMount } from '../testbed/mount.js'
import { plainNode, printed, run } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { outcome, overwrite, textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

const endings = ['SIGTERM', 'SIGTERM', 'SIGHUP', 'SIGQUIT', 'SIGXCPU'] as const

t.jobs = 2

t.test('a signal as soon as the kernel has the mount ends the daemon in order (SIGNAL-1)', async t => {
  const { directory, mount } = await ownDrive(t)
  for (const ending of endings) {
    const { daemon, ended, stop } = await mount({})
    try {
      daemon.kill(ending)
      const [code, signal] = await within(20_000, 'the end of the daemon', ended)
      t.same({ code, signal }, { code: 0, signal: null }, `${ending}: it ends by itself`)
      t.notOk(await isMounted(directory), `${ending}: nothing is left mounted`)
    } finally {
      await stop()
    }
  }
})

/** A place for daemons that are children of this process; `mount` returns as soon as the kernel has the mount. */
async function ownDrive(t: Test) {
  const service = await testService(t)
  const home = await mkdtemp(join(tmpdir(), 'calcfs-ending-'))
  const directory = join(home, 'drive')
  await mkdir(directory)
  const unmounted = async (): Promise<void> => {
    if (await isMounted(directory)) await run('fusermount', ['-u', '-z', directory])
  }
  t.teardown(async () => {
    await unmounted()
    await rm(home, { recursive: true, force: true })
  })
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, CALCFS_PASSWORD: 'demo' }
  async function mount(more: Readonly<Record<string, string>>) {
    const [program, ...first] = plainNode
    const daemon = spawn(program, [...first, calcfs, 'mount', service.url, directory, '--user', 'demo'], {
      env: { ...environment, ...more },
      stdio: 'ignore',
    })
    const ended = once(daemon, 'exit')
    const stop = async (): Promise<void> => {
      daemon.kill('SIGKILL')
      await ended
      await unmounted()
    }
    try {
      await within(
        20_000,
        'the mount',
        seen(directory, () => daemon.exitCode !== null),
      )
    } catch (thrown) {
      await stop()
      throw thrown
    }
    return { daemon, ended, stop }
  }
  return { directory, mount }
}

/** Looks every millisecond, and at once: what is looked for lasts milliseconds, and the daemon needs the processor until then. */
async function seen(directory: string, isOver: () => boolean): Promise<void> {
  while (!readFileSync('/proc/self/mountinfo', 'utf8').includes(` ${directory} `)) {
    if (isOver()) throw new Error('the daemon ended before')
    await new Promise(wake => setTimeout(wake, 1))
  }
}

if (process.platform === 'linux') {
  t.test(
    'SIGNAL-1 SIGUSR1 and SIGUSR2 change nothing: no debugger listens, and the drive answers',
    async t => {
      const { directory, mount } = await ownDrive(t)
      // Where the usual port is taken, Node's debugger would fail to open, and this promise could not fail.
      const { daemon, stop } = await mount({ NODE_OPTIONS: '--inspect-port=0' })
      try {
        const before = await listening(daemon.pid ?? 0)
        for (const signal of ['SIGUSR1', 'SIGUSR1', 'SIGUSR2'] as const) {
          daemon.kill(signal)
          await new Promise(wake => setTimeout(wake, 300))
          t.same([daemon.exitCode, daemon.signalCode], [null, null], `${signal}: it lives`)
          t.same(await listening(daemon.pid ?? 0), before, `${signal}: nothing new listens`)
        }
        t.same(await printed('ls', [directory]).then(text => text.includes('projects')), true)
      } finally {
        await stop()
      }
    },
  )
}

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('an unmount on a full disk leaves no daemon behind (SIGNAL-2)', async t => {
    const disk = await smallDisk(t)
    const settings = { stateDir: join(disk.directory, 'state'), cacheDir: join(disk.directory, 'cache') }
    const testbed = await realMount(t, { settings })
    await textOf(testbed, `reports/${ids.report}.json`)
    t.equal(await outcome(overwrite(testbed, `reports/${ids.report}.json`, '{"title": no')), 'EINVAL')
    await disk.leave(0)
    const pid = testbed.daemonPid() ?? 0
    await testbed.calcfs('unmount', testbed.directory)
    await until(10_000, 'the daemon has ended', async () => !(await isProcessAlive(pid)))
    t.notOk(await isMounted(testbed.directory))
    await disk.makeRoom()
    await testbed.mount()
    t.equal(await textOf(testbed, `reports/${ids.report}.json`), '{"title": no', 'and the draft is kept')
  })
}

/** The TCP sockets of a process on which it waits for connections. */
async function listening(pid: number): Promise<readonly string[]> {
  const tables = await Promise.all(
    ['tcp', 'tcp6'].map(name => readFile(`/proc/${pid}/net/${name}`, 'utf8').catch(() => '')),
  )
  const rows = tables.flatMap(table => table.split('\n').map(row => row.trim().split(/\s+/)))
  const inodes = new Map(rows.filter(row => row[3] === '0A').map(row => [`socket:[${row[9]}]`, row[1] ?? '']))
  const open = await readdir(`/proc/${pid}/fd`)
  const targets = await Promise.all(open.map(at => readlink(`/proc/${pid}/fd/${at}`).catch(() => '')))
  return targets.flatMap(target => inodes.get(target) ?? []).sort()
}
