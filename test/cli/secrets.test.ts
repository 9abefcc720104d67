// Promises about the password of a mount: it is not in the daemon's environment, and no child of the daemon has it.
import { chmod, readFile, readlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { mountPatience } from '../testbed/daemon.js'
import { scratch } from '../testbed/disk/scratch.js'
import { mountPlace, realMount } from '../testbed/mount.js'
import { until } from '../testbed/within.js'

/** A `systemd-notify` of the test's own writes down what it inherits of a daemon with this environment. */
async function listening(t: Test) {
  const made = await scratch(t)
  const [seen, notify] = [join(made, 'seen'), join(made, 'systemd-notify')]
  await writeFile(notify, `#!/bin/sh\nenv > ${seen}.part\nmv ${seen}.part ${seen}\n`)
  await chmod(notify, 0o755)
  const read = () => readFile(seen, 'utf8').catch(() => '')
  return {
    environment: {
      PATH: `${made}:${process.env['PATH']}`,
      NOTIFY_SOCKET: join(made, 'none'),
      CALCFS_USER: 'demo',
    },
    async childSaw() {
      await until(mountPatience, 'a child of the daemon', async () => (await read()) !== '')
      return read()
    },
  }
}

t.test('CMD-10 a daemon in the background is started without the password, and signs in with it', async t => {
  const { environment, childSaw } = await listening(t)
  const { parts, removed } = await mountPlace(t, { environment })
  t.teardown(removed)
  const { service, calcfs, directory } = parts
  t.match(await calcfs('mount', service.url, directory, '--daemon'), { code: 0, stdout: /^mounted / })
  t.teardown(() => calcfs('unmount', '--force', directory))
  const [status] = JSON.parse((await calcfs('status', directory, '--json')).stdout)
  t.match(status, { user: 'demo', answers: true, signedIn: true })
  t.equal(await readlink(`/proc/${status.pid}/cwd`), '/', 'the directory in which it was called stays free')
  for (const seen of [await readFile(`/proc/${status.pid}/environ`, 'utf8'), await childSaw()]) {
    t.match(seen, 'CALCFS_USER=demo', 'the environment is that of the user')
    t.notMatch(seen, 'CALCFS_PASSWORD')
  }
})

t.test('CMD-10 no program that a daemon in the foreground starts has the password', async t => {
  const { environment, childSaw } = await listening(t)
  await realMount(t, { environment })
  const seen = await childSaw()
  t.match(seen, 'CALCFS_USER=demo')
  t.notMatch(seen, 'CALCFS_PASSWORD')
})
