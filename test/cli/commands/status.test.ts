// Promises of `calcfs status` and `calcfs refresh` where the service is away or takes the sign-in no more: they say so, end soon, and with which code.
import t, { type Test } from 'tap'
import { smallDisk } from '../../testbed/disk/small-disk.js'
import { stopwatch } from '../../testbed/machine/stopwatch.js'
import { type KernelTestbed, realMount } from '../../testbed/mount.js'
import type { Ran } from '../../testbed/programs.js'
import { ids } from '../../testbed/sample-data.js'
import { watched } from '../../testbed/session/watched.js'
import { namesOf, outcome, overwrite, textOf } from '../../testbed/testbed.js'
import { warmMount } from '../../testbed/warm-mount.js'
import { until } from '../../testbed/within.js'

t.jobs = 3

/** Milliseconds for a command towards a daemon. */
const limit = 3000

/** Ends within the limit, and what programs need to start on this machine now. */
async function soon(t: Test, testbed: KernelTestbed, work: Promise<Ran>): Promise<Ran> {
  const elapsed = stopwatch()
  const ran = await work
  const took = elapsed()
  if (took > limit) {
    const again = Date.now()
    await testbed.calcfs('--version')
    const start = Date.now() - again
    t.ok(took < limit + 4 * start, `${took} ms, of them about ${start} to start a program`)
  }
  return ran
}

const status = (testbed: KernelTestbed, ...flags: string[]): Promise<Ran> =>
  testbed.calcfs('status', ...flags, testbed.directory)
const refresh = (testbed: KernelTestbed, path: string): Promise<Ran> =>
  testbed.calcfs('refresh', `${testbed.directory}/${path}`)

/** As a supervisor asks; `status` has asked the service just before. */
const health = (testbed: KernelTestbed) => watched(testbed, 'healthz')

const told = (ran: Ran): Record<string, unknown> => JSON.parse(ran.stdout)[0]

/** What a user may refresh: of the service, of this machine, known and not yet known. */
const paths = [
  '',
  'projects',
  'projects/Water splitting',
  'projects/Water splitting/H2O/output.cml',
  'reports/42.json',
]

for (const [how, begin] of [
  ['refuses connections', (testbed: KernelTestbed) => testbed.service.leave()],
  ['never answers', (testbed: KernelTestbed) => void testbed.service.intercept(/./, () => {})],
  [
    'answers 404 to everything, as in a redeploy,',
    (testbed: KernelTestbed) => void testbed.service.refuse(/./, 404, '<html>not found</html>'),
  ],
] as const) {
  t.test(`a service that ${how} is exit code 4 of status, within three seconds (CLI-22)`, async t => {
    const testbed = await warmMount(t, { settings: { deadlineMetadata: '2s' } })
    const text = (await textOf(testbed, 'reports/42.json')).replace('Supporting', 'Supported')
    t.match(await status(testbed), { code: 0, stdout: /the service answers/ })
    await begin(testbed)
    // Nothing was asked since, so that only a question can tell.
    t.match(await soon(t, testbed, status(testbed)), {
      code: 4,
      stdout: /the service has been away since .+: .+/,
    })
    const json = await soon(t, testbed, status(testbed, '--json'))
    t.equal(json.code, 4)
    t.match(told(json), { answers: false, awaySince: String, awayBecause: String })
    t.match(await health(testbed), { status: 503, text: /^the service is away: / })
    for (const path of paths) {
      const ran = await soon(t, testbed, refresh(testbed, path))
      t.match(ran, { code: 4, stderr: /^calcfs: .*the service|no answer/ }, `refresh ${path} (CLI-4)`)
    }
    t.not(await outcome(overwrite(testbed, 'reports/42.json', text)), 'done')
    const both = { code: 7, stdout: /the service has been away since[\s\S]*not saved:/ }
    t.match(await status(testbed), both, 'edits that wait come first')
    t.match(await health(testbed), { status: 503, text: /^the service is away: / }, 'which is said first')
  })
}

t.test('CLI-22 a waiting text that a program is emptying is not saved', async t => {
  const testbed = await warmMount(t)
  t.match(await outcome(overwrite(testbed, 'reports/42.json', '{')), 'EINVAL')
  t.equal(await outcome(overwrite(testbed, 'reports/42.json', '')), 'done')
  t.match(await status(testbed), { code: 7, stdout: /42\.json: report 42 \(\S+\), not saved since / })
})

t.test('a service that takes three seconds an answer is slow, not away (CLI-22)', async t => {
  const testbed = await warmMount(t)
  testbed.service.beforeAnswer(/./, 3_000)
  // What it was like before says that it is away, until that question is answered after all.
  await until(20_000, 'the first slow answer', async () => (await status(testbed)).code === 0)
  t.match(await soon(t, testbed, status(testbed)), {
    code: 0,
    stdout: /the service answers slowly, in \d+\.\d s/,
  })
  t.match(told(await status(testbed, '--json')), { answers: true, answersInMs: Number })
})

t.test('a sign-in that has ended is exit code 3 of status and refresh (CLI-22, CLI-4)', async t => {
  const testbed = await warmMount(t)
  await textOf(testbed, 'reports/42.json')
  const mend = testbed.service.refuse(/./, 401, 'not signed in')
  t.match(await soon(t, testbed, status(testbed)), {
    code: 3,
    stdout: /the sign-in has ended: .*`calcfs login http:\S+ --user demo`/,
  })
  const json = await soon(t, testbed, status(testbed, '--json'))
  t.equal(json.code, 3)
  t.match(told(json), {
    answers: true,
    signedIn: false,
    signedOutSince: String,
    signedOutBecause: /sign-in has ended/,
  })
  t.match(await health(testbed), { status: 503, text: /sign-in has ended/ })
  for (const path of paths) {
    const ran = await soon(t, testbed, refresh(testbed, path))
    t.match(
      ran,
      { code: 3, stderr: /the sign-in has ended: .*`calcfs login http:\S+ --user demo`/ },
      `refresh ${path}`,
    )
  }
  mend()
  // Refused credentials are not tried again for a while; a new log-in counts at once.
  t.match(await testbed.calcfs('login', testbed.service.url, '--user', 'demo'), { code: 0 })
  t.match(await status(testbed), { code: 0, stdout: /the service answers/ })
})

t.test(
  'one question that is refused or fails is neither an outage nor an ended sign-in (CLI-22)',
  async t => {
    const testbed = await warmMount(t)
    for (const code of [401, 500, 503]) {
      const end = testbed.service.refuse(/report\?id=42/, code)
      t.not(await outcome(testbed.files.readFile('reports/42.json')), 'done')
      t.match(await status(testbed), { code: 0, stdout: /the service answers/ }, `${code}`)
      end()
    }
  },
)

t.test(
  'SERVE-1 POOR-2 a nine-path instance is mounted; status, doctor and why name what it lacks',
  async t => {
    const testbed = await realMount(t, {
      settings: { root: [ids.water] },
      service: { shortcomings: { onlyNinePaths: true, root: true } },
    })
    const { calcfs, directory, service } = testbed
    t.same(await namesOf(testbed, 'projects'), ['Water splitting'])
    const status = await calcfs('status', directory)
    t.equal(status.code, 0)
    t.match(
      status.stdout,
      /this instance lacks \/user\/info \(the name of the sign-in is taken for the user\)/,
    )
    const doctor = await calcfs('doctor', service.url, '--user', 'demo')
    t.equal(doctor.code, 0)
    t.match(doctor.stdout, /^ok +sign-in +signed in as demo$/m)
    t.match(doctor.stdout, /^note +projects .* finds no project at \/db\/demo/m)
    t.match(doctor.stdout, /^note +operations +this instance lacks \/user\/info/m)
    const why = await calcfs('why', `${directory}/projects/Nothing`)
    t.match(why.stdout, 'there is nothing of this name')
  },
)

if (process.platform === 'linux' && process.getuid?.() === 0)
  t.test('STATE-4 CLI-22 a full disk is said, and not that everything is saved', async t => {
    const disk = await smallDisk(t)
    const testbed = await warmMount(t, { settings: { stateDir: disk.directory } })
    const text = await textOf(testbed, 'reports/42.json')
    const lists = () => testbed.here('drafts', 'list')
    t.match((await status(testbed)).stdout, /^ {2}everything is saved$/m)
    await disk.leave(0)
    t.equal(
      await outcome(overwrite(testbed, 'reports/42.json', text.replace('Supporting', 'Lost'))),
      'ENOSPC',
    )
    const full = /cannot be written \(ENOSPC\): edits fail until it can be/
    for (const { stdout, stderr } of [await status(testbed), await lists()]) {
      t.match(stdout, /no edit waits to be saved/)
      t.notMatch(stdout, /everything is saved/)
      t.match(stdout + stderr, full)
    }
    const doctor = await testbed.calcfs('doctor', '--state-dir', disk.directory)
    t.match(doctor, { code: 1, stdout: /^BAD +drafts .* has 0 bytes left, /m })
    await disk.makeRoom()
    t.match((await status(testbed)).stdout, /^ {2}everything is saved$/m)
    t.match(await lists(), { code: 0, stdout: 'everything is saved.\n', stderr: '' })
  })
