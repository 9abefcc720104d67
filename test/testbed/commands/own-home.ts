// A home directory of a test, for commands that sign in and mount by themselves.
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isMounted } from '../mount.js'
import type { TestLifetime } from '../testbed.js'
import { command } from './warm-commands.js'

/** Its directory is empty, to mount on; what is mounted there at the end of the test is unmounted. */
export async function ownHome(t: TestLifetime, name: string) {
  const home = await mkdtemp(join(tmpdir(), `calcfs-${name}-`))
  const [directory, state] = [join(home, 'drive'), join(home, 'state')]
  await mkdir(directory)
  const environment = {
    HOME: home,
    PATH: process.env['PATH'] ?? '',
    XDG_STATE_HOME: state,
    XDG_CACHE_HOME: join(home, 'cache'),
    XDG_RUNTIME_DIR: home,
  }
  t.teardown(async () => {
    if (await isMounted(directory)) await command(['unmount', directory], environment)
    await rm(home, { recursive: true, force: true })
  })
  return { directory, state, environment }
}
