// Promises of the way to a daemon: its socket is private, replaced after a kill, gone after an unmount, and never in a mount's way.
import { chmod, lstat, mkdir, readdir, rename, rm, symlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import t from 'tap'
import { socketFor } from '../../../src/cli/control/socket.js'
import { scratch } from '../../testbed/disk/scratch.js'
import { isMounted, realMount } from '../../testbed/mount.js'
import { warmMount } from '../../testbed/warm-mount.js'

t.jobs = 2

t.test('the socket lies in a directory of mode 0700, and status.json names it (CLI-16)', async t => {
  const testbed = await realMount(t)
  const { control } = JSON.parse((await testbed.files.readFile('.calcfs/status.json')).toString())
  t.ok((await lstat(control)).isSocket())
  t.equal((await lstat(join(control, '..'))).mode & 0o777, 0o700)
  await testbed.kill9()
  t.ok((await lstat(control)).isSocket(), 'a killed daemon leaves it')
  await testbed.mount()
  t.match(await testbed.here('drafts', 'list'), { code: 0 }, 'the next one replaces it')
  t.equal((await readdir(join(control, '..'))).length, 1)
  await testbed.terminate()
  t.same(await readdir(dirname(dirname(control))), [], 'an unmount takes it away')
})

t.test('CLI-16 sockets of killed daemons are swept by any mount, living ones stay', async t => {
  const testbed = await realMount(t)
  const home = testbed.home
  const dead = await realMount(t, {}, { home })
  const directory = join(home, 'run/calcfs')
  t.equal((await readdir(directory)).length, 2)
  await dead.kill9()
  const third = await realMount(t, {}, { home })
  t.equal((await readdir(directory)).length, 2, 'the dead one is gone')
  t.match(await testbed.here('drafts', 'list'), { code: 0 }, 'the first answers')
  await Promise.all([third.terminate(), testbed.terminate()])
  t.same(await readdir(dirname(directory)), [])
})

t.test(
  'a drive whose socket cannot be made is mounted all the same, and its log says why (CLI-16)',
  async t => {
    const testbed = await warmMount(t)
    const { control } = JSON.parse((await testbed.files.readFile('.calcfs/status.json')).toString())
    await testbed.end()
    await mkdir(control, { recursive: true, mode: 0o700 })
    await testbed.mount()
    t.ok((await testbed.files.readdir('reports')).has('INDEX.tsv'))
    t.match(await testbed.log(), /calcfs why, refresh, drafts and report cannot reach this drive/)
    const list = await testbed.here('drafts', 'list')
    t.match(list, { code: 4, stderr: /^calcfs: the daemon of this drive does not answer/ })
  },
)

t.test('a directory that others may enter, or that is a link, is not used (CLI-16)', async t => {
  const runtime = await scratch(t)
  const own = join(runtime, 'calcfs')
  const path = () => socketFor('/home/anna/lab', { XDG_RUNTIME_DIR: runtime })
  const isInside = async () => (await path()).startsWith(`${own}/`)
  t.ok(await isInside())
  t.equal(await path(), await path(), 'one mount point, one socket')
  t.not(await path(), await socketFor('/home/anna/other', { XDG_RUNTIME_DIR: runtime }))
  await chmod(own, 0o755)
  t.notOk(await isInside(), 'readable by others')
  await rm(own, { recursive: true })
  await mkdir(join(runtime, 'elsewhere'), { mode: 0o700 })
  await symlink('elsewhere', own)
  t.notOk(await isInside(), 'a link')
  await rm(own)
  t.ok(await isInside())
})

t.test(
  'a command acts on no other drive where the directories above two of them are swapped (CLI-11)',
  async t => {
    const home = await scratch(t)
    await mkdir(join(home, 'run'))
    const settings = { access: 'manage' }
    const one = await warmMount(t, { settings }, { home })
    const other = await warmMount(t, { settings }, { home })
    const [here, there] = [dirname(one.directory), dirname(other.directory)]
    async function swap(): Promise<void> {
      await rename(here, `${here}-aside`)
      await rename(there, here)
      await rename(`${here}-aside`, there)
    }
    await swap()
    const [ones, others] = [other.directory, one.directory]
    await other.service.sends(t, [], 'nothing is done on the other drive', async () => {
      t.match(await one.calcfs('delete', '--yes', join(ones, 'reports/42.json')), {
        code: 1,
        stderr: /serves another drive/,
      })
      t.match(await one.calcfs('report', 'set', '--mount', ones, '42', '30'), { code: 1 })
      t.match(await one.calcfs('unmount', ones), { code: 1, stderr: /serves another drive/ })
    })
    t.ok(await isMounted(others))
    await swap()
    t.match(await one.calcfs('status', one.directory), { code: 0 })
    await rename(here, `${here}-aside`)
    t.match(
      await one.calcfs('status', join(`${here}-aside`, basename(one.directory))),
      { code: 0 },
      'one that was only moved is found',
    )
    await rename(`${here}-aside`, here)
  },
)
