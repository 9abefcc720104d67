// Promises of `calcfs drafts` and `calcfs report` where no drive is mounted: what an earlier one left can be looked at and sent.
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import { outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { type WarmTestbed, warmMount } from '../../testbed/warm-mount.js'

t.setTimeout(480_000)
t.jobs = 3

const path = 'reports/42.json'

interface Waiting {
  readonly text: string
  readonly well: () => void
}

/** A text waits that the service has refused. */
async function waitingOn(t: Test, testbed: KernelTestbed): Promise<Waiting> {
  const text = (await textOf(testbed, path)).replace('Supporting information', 'SI of the paper')
  const well = testbed.service.refuse(/^PUT \/report/, 500)
  t.not(await outcome(overwrite(testbed, path, text)), 'done')
  return { text, well }
}

/** A drive that ended meanwhile. */
async function leftBehind(t: Test): Promise<Waiting & { testbed: WarmTestbed }> {
  const testbed = await warmMount(t)
  const waiting = await waitingOn(t, testbed)
  await testbed.end()
  return { testbed, ...waiting }
}

const calcfs = ({ calcfs, service }: KernelTestbed, ...args: string[]) =>
  calcfs(...args, '--url', service.url, '--user', 'demo')

t.test('without a daemon drafts are listed, shown, compared and sent as with one (CLI-15)', async t => {
  const testbed = await realMount(t)
  const { text, well } = await waitingOn(t, testbed)
  await testbed.kill9()
  for (const time of ['the first time', 'again']) {
    const list = await calcfs(testbed, 'drafts', 'list')
    t.match(
      list,
      { code: 7, stderr: '', stdout: /^42\.json: report 42 \(reports\/42\.json\), refused since / },
      time,
    )
  }
  t.match(await calcfs(testbed, 'drafts', 'show', '42'), { code: 0, stdout: text })
  const { stdout } = await calcfs(testbed, 'drafts', 'diff', '42')
  t.match(stdout, /^--- what the service has now\n\+\+\+ 42\.json, not saved\n/m)
  t.match(await calcfs(testbed, 'drafts', 'send', '42'), { code: 1, stderr: /42\.json is not saved: / })
  well()
  await testbed.service.sends(t, ['PUT /report'], async () => {
    t.match(await calcfs(testbed, 'drafts', 'send', '--all'), { code: 0, stdout: /report 42 is saved/ })
  })
  t.match(await testbed.service.elsewhere('GET', '/report?id=42'), 'SI of the paper')
  t.match(await calcfs(testbed, 'drafts', 'list'), { code: 0, stdout: 'everything is saved.\n' })
  await testbed.mount()
  t.notOk((await testbed.files.readdir('.calcfs/drafts')).size)
  t.match(await textOf(testbed, path), 'SI of the paper')
})

t.test('report works without a daemon, and a later mount knows what was added (CLI-15)', async t => {
  const testbed = await warmMount(t)
  await testbed.end()
  t.match(await calcfs(testbed, 'report', 'add', '43'), { code: 0 })
  t.match(await calcfs(testbed, 'report', 'renumber', '43', '1235', '1234', '1236'), {
    code: 0,
    stdout: /c2 c2\+c1/,
  })
  await testbed.mount()
  t.ok((await testbed.files.readdir('reports')).has('43.json'))
  t.match(await textOf(testbed, 'reports/43.json'), /"c2\\nc2\+c1"/)
})

t.test('CLI-11 a path below a directory where nothing is mounted any more is on no drive', async t => {
  const [one, two] = await Promise.all([warmMount(t), warmMount(t)])
  await one.end()
  const record = join(one.directory, path)
  const asked = await two.service.during(async () => {
    for (const args of [['why'], ['history'], ['cat'], ['drafts', 'show'], ['pin'], ['delete', '--yes']]) {
      const said = { code: 6, stdout: '', stderr: / is on no drive; calcfs status lists where yours are/ }
      t.match(await one.calcfs(...args, record), said, args.join(' '))
    }
  })
  t.same(asked, [])
})

t.test(
  'calcfs status ends with 7 and names the service while an edit waits on no drive (CLI-15)',
  async t => {
    const { testbed } = await leftBehind(t)
    const { calcfs, service } = testbed
    const waits = {
      code: 7,
      stderr: new RegExp(`an edit is not saved of ${service.url} as demo, which is on no drive now`),
    }
    t.match(await calcfs('status'), waits)
    t.match(await calcfs('status', '--json'), waits)
    t.match(await calcfs('drafts', 'drop', '42', '--url', service.url, '--user', 'demo'), { code: 0 })
    t.notMatch(await calcfs('status'), waits)
  },
)

t.test(
  'an edit that met the sign-in page of a network is not saved, and not called refused (CLI-26)',
  async t => {
    const testbed = await warmMount(t)
    const { calcfs, service, directory } = testbed
    const text = (await textOf(testbed, path)).replace('Supporting information', 'SI of the paper')
    const portal = service.page(/./, '<html>Welcome to CafeNet</html>')
    t.not(await outcome(overwrite(testbed, path, text)), 'done')
    const { stdout } = await calcfs('drafts', 'list', '--mount', directory, '--json')
    t.match(JSON.parse(stdout), [
      { name: '42.json', state: 'not-saved', why: /sign-in page of this network/ },
    ])
    const { stdout: why } = await calcfs('why', join(directory, path))
    t.match(why, /^Open any web page.*`calcfs drafts send 42\.json/m)
    const looked = await calcfs('doctor', service.url, '--user', 'demo')
    t.match(
      looked.stdout,
      /BAD +service .* another server answers in the place of the platform\n +→ Open any web page/,
    )
    portal()
    t.match(await calcfs('drafts', 'send', '42', '--mount', directory), { code: 0 })
  },
)
