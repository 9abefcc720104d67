// The roots of a mount: a mistyped one is said at once, one that was there or cannot be told is no reason to end.
import t from 'tap'
import { exitCodes } from '../../../src/terminal/exit.js'
import { inProcess } from '../../testbed/in-process.js'
import { mountPlace } from '../../testbed/mount.js'

const unknown = (root: string): string => `--root ${root}: 127.0.0.1:`

t.test('ROOT-6 a --root that does not exist ends mount with a sentence', async t => {
  const { parts, removed } = await mountPlace(t, {})
  t.teardown(removed)
  const { service, calcfs, directory } = parts
  const [known, root] = ['/db/demo/Water splitting', '/db/demo/None']
  const flags = ['--daemon', '--user', 'demo', '--root', known, '--root', root]
  const { code, stderr } = await calcfs('mount', ...flags, service.url, directory)
  t.equal(code, exitCodes.usage)
  t.match(stderr, `calcfs: ${unknown(root)}`)
  t.match(stderr, 'knows no such project; give the path')
  for (const root of ['db/none/None/', '99999']) {
    const testbed = await inProcess(t, { settings: { root: [known, root] } })
    t.match(await testbed.introduced(), unknown(root))
  }
})

t.test('ROOT-6 a --root that cannot be told is mounted', async t => {
  for (const status of [403, 500, 501]) {
    const testbed = await inProcess(t, { settings: { root: '/db/demo/Other' } })
    testbed.service.refuse(/^GET \/(navigation|project)/, status, '{}')
    t.equal(await testbed.introduced(), undefined, `${status}`)
  }
  const { introduced } = await inProcess(t, { settings: { root: '/db/stranger' } })
  t.equal(await introduced(), undefined, 'a space may have no id')
})

t.test('ROOT-6 a --root that was shown before is no reason to end', async t => {
  const testbed = await inProcess(t, { settings: { root: '101' } })
  t.ok((await testbed.files.readdir('projects')).has('Sub project'))
  await testbed.service.elsewhere('DELETE', '/project?id=101')
  await testbed.pass(3_700_000)
  await testbed.remount()
  t.equal(await testbed.introduced(), undefined)
})
