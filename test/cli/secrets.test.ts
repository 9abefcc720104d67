// Promises about the password of a mount: it is not in the daemon's environment, and no child of the daemon has it.
import { chmod, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { mountPatience, calcfs as program } from '../testbed/daemon.js'
import { isMounted } from '../testbed/mount.js'
import { plainNode, type Ran, run } from '../testbed/programs.js'
import { fillSampleData } from '../testbed/sample-data.js'
import { testService } from '../testbed/service.js'
import { until } from '../testbed/within.js'

t.setTimeout(180_000)

interface Desk {
  readonly url: string
  readonly directory: string
  /** What a child of the daemon found in its environment. */
  childSaw(): Promise<string>
  calcfs(...args: string[]): Promise<Ran>
  /** A mount that stays in the foreground. */
  foreground(): Promise<void>
}

/** A `systemd-notify` of the test's own writes down what it inherits. */
async function desk(t: Test): Promise<Desk> {
  const service = await testService(t, fillSampleData)
  const home = t.testdir()
  const [directory, bin, seen] = ['drive', 'bin', 'seen'].map(name => join(home, name))
  for (const made of [directory, bin, join(home, 'run')]) await mkdir(made ?? '')
  const notify = join(bin ?? '', 'systemd-notify')
  await writeFile(notify, `#!/bin/sh\nenv > ${seen}.part\nmv ${seen}.part ${seen}\n`)
  await chmod(notify, 0o755)
  const environment = {
    PATH: `${bin}:${process.env['PATH']}`,
    HOME: home,
    XDG_RUNTIME_DIR: join(home, 'run'),
    NOTIFY_SOCKET: join(home, 'none'),
    CALCFS_USER: 'demo',
    CALCFS_PASSWORD: 'demo',
  }
  const mountPoint = directory ?? ''
  const calcfs = (...args: string[]): Promise<Ran> =>
    run(process.execPath, [program, ...args], { environment })
  t.teardown(async () => {
    if (await isMounted(mountPoint)) await calcfs('unmount', '--force', mountPoint)
  })
  return {
    url: service.url,
    directory: mountPoint,
    calcfs,
    async childSaw() {
      const isThere = () =>
        readFile(seen ?? '', 'utf8').then(
          text => text !== '',
          () => false,
        )
      await until(mountPatience, 'a child of the daemon', isThere)
      return readFile(seen ?? '', 'utf8')
    },
    async foreground() {
      const [first, ...rest] = plainNode
      void run(first, [...rest, program, 'mount', service.url, mountPoint], { environment, limit: 90_000 })
      await until(mountPatience, 'mounting', () => isMounted(mountPoint))
    },
  }
}

const pidOf = ({ stdout }: Ran): number => Number(JSON.parse(stdout)[0].pid)

const environmentOf = (pid: number): Promise<string> => readFile(`/proc/${pid}/environ`, 'utf8')

t.test('CMD-10 a daemon in the background is started without the password, and signs in with it', async t => {
  const at = await desk(t)
  t.match(await at.calcfs('mount', at.url, at.directory, '--daemon'), { code: 0, stdout: /^mounted / })
  const status = await at.calcfs('status', at.directory, '--json')
  t.match(JSON.parse(status.stdout), [{ user: 'demo', answers: true, signedIn: true }])
  const shown = await environmentOf(pidOf(status))
  t.match(shown, 'CALCFS_USER=demo', 'the environment is that of the user')
  t.notMatch(shown, 'CALCFS_PASSWORD')
  const seen = await at.childSaw()
  t.match(seen, 'CALCFS_USER=demo')
  t.notMatch(seen, 'CALCFS_PASSWORD')
  t.match(await at.calcfs('unmount', at.directory), { code: 0 })
})

t.test('CMD-10 no program that a daemon in the foreground starts has the password', async t => {
  const at = await desk(t)
  await at.foreground()
  const seen = await at.childSaw()
  t.match(seen, 'CALCFS_USER=demo')
  t.notMatch(seen, 'CALCFS_PASSWORD')
  t.match(await at.calcfs('status', at.directory), { code: 0 })
  t.match(await at.calcfs('unmount', at.directory), { code: 0 })
})
