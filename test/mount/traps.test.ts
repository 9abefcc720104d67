// The traps on a mount as it is by itself, and what a daemon says and logs there.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { isMounted, type KernelTestbed, realMount } from '../testbed/mount.js'
import { printed, python } from '../testbed/programs.js'
import { ids } from '../testbed/sample-data.js'
import { overwrite, textOf } from '../testbed/testbed.js'
import { warmMount } from '../testbed/warm-mount.js'
import { until, within } from '../testbed/within.js'
import { traps } from './traps.js'

t.jobs = 3

const calculation = 'projects/Water splitting/TS1_opt'
const report = `reports/${ids.report}.json`

traps(t, {})

t.test('XATTR-1 an attribute longer than the buffer is ERANGE', async t => {
  const testbed = await warmMount(t)
  const program = `
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
found = libc.getxattr(b"${calculation}", b"user.calcfs.url", ctypes.create_string_buffer(3), 3)
print(found, ctypes.get_errno())
found = libc.listxattr(b"${calculation}", ctypes.create_string_buffer(3), 3)
print(found, ctypes.get_errno())`
  const told = await printed(python, ['-c', program], { cwd: testbed.directory })
  t.equal(told.trim(), '-1 34\n-1 34')
})

t.test('rm of a draft that a program has open gives it up, and the program reads on', async t => {
  const testbed = await warmMount(t)
  const record = `${calculation}/.calculation.json`
  await overwrite(testbed, record, 'no JSON').catch(() => {})
  const draft = `.calcfs/drafts/calculation-${ids.transition}.json`
  const program = `
import os
with open("${draft}") as file:
    print(file.read(3))
    os.unlink("${draft}")
    print(os.listdir(".calcfs/drafts"))
    print(os.fstat(file.fileno()).st_size, file.read())
print(os.listdir(".calcfs/drafts"))`
  t.same((await printed(python, ['-c', program], { cwd: testbed.directory })).trim().split('\n'), [
    'no ',
    '[]',
    '7 JSON',
    '[]',
  ])
})

interface SlowLine {
  readonly ms: number
  readonly requests: readonly { readonly request: string; readonly ms: number }[]
}

t.test('the log of a daemon', async t => {
  const testbed = await realMount(t, { settings: { logLevel: 'debug' } })
  const said = async (): Promise<readonly Record<string, unknown>[]> =>
    (await testbed.log())
      .trimEnd()
      .split('\n')
      .map(line => JSON.parse(line))
  const slow = async (): Promise<readonly SlowLine[]> =>
    (await said()).filter(({ msg }) => /^a slow call/.test(`${msg}`)) as unknown as readonly SlowLine[]

  t.test('LOG-5 a slow call has a line with its requests and the milliseconds of each', async t => {
    const delay = 1_100
    t.same(await slow(), [])
    const quick = testbed.service.beforeAnswer(/\/(project|calculation)(\/descendant|\/files)?\?/, delay)
    await within(40_000, 'a listing', testbed.files.readdir('projects/Water splitting'))
    await until(20_000, 'a line of a slow call', async () => (await slow()).length > 0)
    quick()
    const [slowest] = (await slow()).toSorted((one, other) => other.ms - one.ms)
    const request = slowest?.requests.find(({ request }) => /^GET \/\S*project/.test(request))
    t.ok((request?.ms ?? 0) >= delay, JSON.stringify(slowest))
    t.ok((request?.ms ?? 0) <= (slowest?.ms ?? 0) + 50, JSON.stringify(slowest))
  })

  t.test(
    'LOG-1 at the level debug the log has a line for each call and each request, with its time',
    async t => {
      await textOf(testbed, report)
      const lines = await said()
      t.match(
        lines.find(({ msg, verb, path }) => msg === 'call' && verb === 'open' && path === `/${report}`),
        { ms: Number, errno: 0 },
      )
      t.match(
        lines.find(({ msg, path }) => msg === 'request' && /\/report\?id=/.test(`${path}`)),
        { method: 'GET', status: 200, milliseconds: Number },
      )
    },
  )

  t.test('SIGN-2 the log never holds the password or a token', async t => {
    t.notMatch(await testbed.log(), /eyJ[\w-]+\.eyJ|"demo:demo"|ZGVtbzpkZW1v/)
  })
})

t.test('LOG-3 a log on a full disk loses its lines, and costs nothing else', async t => {
  const settings = { logFile: '/dev/full', logLevel: 'debug', ttlListing: '1s' }
  const testbed = await realMount(t, { settings })
  const text = await textOf(testbed, report)
  await overwrite(testbed, report, text.replace(/"title": "[^"]*"/, '"title": "Written without a log"'))
  await testbed.service.leave()
  await testbed.pass(1_500)
  t.match(await textOf(testbed, report), 'Written without a log')
  await testbed.service.back()
  t.match(await testbed.calcfs('unmount', testbed.directory), { code: 0 })
})

t.test(
  'a wrong password, a full or missing mount point: one sentence, no stack, nothing mounted',
  async t => {
    const testbed = await warmMount(t)
    const wrong = await tried(t, testbed, testbed.local, 'guest')
    t.match(wrong.stderr, /calcfs login|password/)
    const full = await tried(t, testbed, join(testbed.directory, '..'), 'demo')
    t.match(full.stderr, /is not empty/)
    const missing = await tried(t, testbed, join(testbed.local, 'nowhere'), 'demo')
    t.match(missing.stderr, /does not exist/)
  },
)

async function tried(t: Test, testbed: KernelTestbed, directory: string, user: string) {
  const ended = await testbed.calcfs('mount', testbed.service.url, directory, '--user', user)
  t.not(ended.code, 0)
  t.notMatch(ended.stderr, /\n\s+at /)
  t.notOk(await isMounted(directory))
  return ended
}
