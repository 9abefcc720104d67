// The roots of a mount: a mistyped one is said at once, one that was there or cannot be told is no reason to end.
import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { exitCodes } from '../../../src/terminal/exit.js'
import { mountPlace } from '../../testbed/mount.js'
import { within } from '../../testbed/within.js'

t.setTimeout(180_000)

const { parts, removed } = await mountPlace(t, {})
t.teardown(removed)
const { service, calcfs, local } = parts
let count = 0

/** Mounts with these roots, looks at them, and unmounts again where that succeeded. */
async function mounted(
  ...roots: string[]
): Promise<{ readonly code: number | null; readonly stderr: string }> {
  count += 1
  const directory = join(local, `${count}`)
  await mkdir(directory)
  const flags = roots.flatMap(root => ['--root', root])
  const ran = await calcfs('mount', '--daemon', '--user', 'demo', service.url, directory, ...flags)
  if (ran.code !== 0) return ran
  await within(
    30_000,
    'a listing',
    readdir(join(directory, 'projects')).catch(() => {}),
  )
  await calcfs('unmount', directory)
  return ran
}

const refuseAll = (status: number) => service.refuse(/^GET \/(navigation|project)/, status, '{}')

t.test('ROOT-6 a --root that does not exist ends mount with a sentence', async t => {
  for (const root of ['/db/demo/None', 'db/none/None/', '99999']) {
    const { code, stderr } = await mounted('/db/demo/Water splitting', root)
    t.equal(code, exitCodes.usage, root)
    t.match(
      stderr,
      `calcfs: --root ${root}: ${new URL(service.url).host} knows no such project; give the path`,
    )
  }
})

t.test('ROOT-6 a --root that cannot be told is mounted', async t => {
  for (const status of [403, 500, 501]) {
    const mend = refuseAll(status)
    t.equal((await mounted('/db/demo/Other')).code, 0, `${status}`)
    mend()
  }
  t.equal((await mounted('/db/stranger')).code, 0, 'a space may have no id')
})

t.test('ROOT-6 a --root that was shown before is no reason to end', async t => {
  const id = (
    await service.elsewhere('POST', '/project', '{"name":"Short-lived","description":"of a test"}')
  ).replace(/\D/g, '')
  t.match(await mounted(id), { code: 0 })
  await service.elsewhere('DELETE', `/project?id=${id}`)
  t.match(await mounted(id), { code: 0 })
})
