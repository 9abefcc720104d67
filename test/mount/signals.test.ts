// How a daemon ends: by a signal in the very moment in which the mount appears, and by an unmount on a full disk.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdir, mkdtemp, open, rm, rmdir } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import t from 'tap'
import { outcome, overwrite, textOf } from '../ground/ground.js'
import { isMounted, realMount } from '../ground/mount.js'
import { printed, run } from '../ground/programs.js'
import { testService } from '../ground/service.js'
import { until, within } from '../ground/within.js'
import { fill, ids } from '../ground/world.js'

const calcfs = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))
const times = 5

t.setTimeout(120_000)

t.test('a SIGTERM as soon as the kernel has the mount ends the daemon in order (SIGNAL-1)', async t => {
  const service = await testService(t, fill)
  const home = await mkdtemp(join(tmpdir(), 'calcfs-ending-'))
  const directory = join(home, 'drive')
  await mkdir(directory)
  t.teardown(async () => {
    if (await isMounted(directory)) await run('fusermount', ['-u', '-z', directory])
    await rm(home, { recursive: true, force: true })
  })
  const environment = { PATH: process.env['PATH'] ?? '', HOME: home, CALCFS_PASSWORD: 'demo' }
  for (let time = 0; time < times; time++) {
    const daemon = spawn(process.execPath, [calcfs, 'mount', service.url, directory, '--user', 'demo'], {
      env: environment,
      stdio: 'ignore',
    })
    const ended = once(daemon, 'exit')
    try {
      await within(
        20_000,
        'the mount',
        seen(directory, () => daemon.exitCode !== null),
      )
      daemon.kill('SIGTERM')
      const [code, signal] = await within(20_000, 'the end of the daemon', ended)
      t.same({ code, signal }, { code: 0, signal: null }, `${time}: it ends by itself`)
      t.notOk(await isMounted(directory), `${time}: nothing is left mounted`)
    } finally {
      daemon.kill('SIGKILL')
    }
  }
})

/** Looks without a pause: what is looked for lasts milliseconds. */
async function seen(directory: string, isOver: () => boolean): Promise<void> {
  while (!(await isMounted(directory))) if (isOver()) throw new Error('the daemon ended before')
}

if (process.platform === 'linux' && process.getuid?.() === 0) {
  t.test('an unmount on a full disk leaves no daemon behind (SIGNAL-2)', async t => {
    const disk = await mkdtemp(join(tmpdir(), 'calcfs-full-'))
    await printed('mount', ['-t', 'tmpfs', '-o', 'size=1m', 'tmpfs', disk])
    t.teardown(async () => {
      await printed('umount', ['-l', disk])
      await rmdir(disk)
    })
    const settings = { stateDir: join(disk, 'state'), cacheDir: join(disk, 'cache') }
    const ground = await realMount(t, { settings })
    await textOf(ground, `reports/${ids.report}.json`)
    t.equal(await outcome(overwrite(ground, `reports/${ids.report}.json`, '{"title": no')), 'EINVAL')
    const filler = await open(join(disk, 'filler'), 'w')
    for (let size = 0; (await outcome(filler.write(Buffer.alloc(4096), 0, 4096, size))) === 'done'; )
      size += 4096
    const pid = ground.daemonPid() ?? 0
    await ground.calcfs('unmount', ground.directory)
    await until(10_000, 'the daemon has ended', () => Promise.resolve(!isAlive(pid)))
    t.notOk(await isMounted(ground.directory))
    await filler.truncate(0)
    await filler.close()
    await ground.mount()
    t.equal(await textOf(ground, `reports/${ids.report}.json`), '{"title": no', 'and the draft is kept')
  })
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}
