// A service that is silent, and one whose sign-in has ended, on a mount: known things are shown, the rest fails soon, and status says why.
import t from 'tap'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { realMount } from '../testbed/mount.js'
import { ids, log } from '../testbed/sample-data.js'
import { namesOf, outcome, type Testbed, textOf } from '../testbed/testbed.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(240_000)
// They wait most of the time.
t.jobs = 3

const project = 'projects/Water splitting'
const folder = `by-id/calculation/${ids.transition}`
const settings = { ttlListing: '1s' }
const later = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))
const answers = ({ files }: Testbed): Promise<void> =>
  until(30_000, 'an answer', async () => (await outcome(files.lstat('by-id/calculation/8200'))) === 'ENOENT')

t.test('AVAIL-4 a silent service costs one deadline, then a second at most, until it answers', async t => {
  const testbed = await realMount(t, { settings: { ...settings, deadlineMetadata: '5s' } })
  const { files, service, directory } = testbed
  const known = await namesOf(testbed, project)
  t.equal(await textOf(testbed, `${folder}/run.log`), log)
  const heal = service.intercept(/./, () => {})
  const waits: number[] = []
  for (let at = 0; at < 6; at += 1) {
    const elapsed = stopwatch()
    const end = await within(
      20_000,
      'an unknown path',
      outcome(files.lstat(`by-id/calculation/${8_000 + at}`)),
    )
    t.match(end, at === 0 ? 'ETIMEDOUT' : 'EHOSTUNREACH')
    waits.push(elapsed())
  }
  t.ok(Math.max(...waits.slice(1)) < 2_500, `${waits.map(Math.round)} ms; a probe is waited for a second`)
  t.ok(waits.slice(1).reduce((one, other) => one + other, 0) < 5_000, `${waits.map(Math.round)} ms`)
  const elapsed = stopwatch()
  t.same(await namesOf(testbed, project), known)
  t.equal(await textOf(testbed, `${folder}/run.log`), log)
  t.ok(elapsed() < 2_500, `what is known is shown in ${elapsed()} ms`)
  t.match(await testbed.calcfs('status', directory), {
    code: 4,
    stdout: /away since \S+ \S+: the service does not answer; calcfs looks again within 2 seconds\n/,
  })
  heal()
  await answers(testbed)
  t.match(await testbed.calcfs('status', directory), { code: 0, stdout: /the service answers/ })
})

for (const status of [500, 502, 504])
  t.test(
    `AVAIL-4 after the first failure a service that answers ${status} to everything costs nothing`,
    async t => {
      const testbed = await realMount(t, { settings })
      const { files, service, directory } = testbed
      const known = await namesOf(testbed, project)
      const heal = service.intercept(/./, response => {
        // Longer than the piece of a body that shows elsewhere that the service is there.
        response.writeHead(status, { 'content-type': 'text/html' }).end('<p>Bad gateway</p>'.repeat(200))
      })
      const errno = await outcome(files.lstat('by-id/calculation/8000'))
      t.match(errno, /^(EIO|ETIMEDOUT)$/)
      const isAway = async () => /nothing but errors/.test((await testbed.calcfs('status', directory)).stdout)
      for (let at = 1; !(await isAway()); at += 1)
        t.match(await outcome(files.lstat(`by-id/calculation/${8000 + at}`)), /^(EIO|ETIMEDOUT)$/)
      const asked = await service.during(async () => {
        for (let at = 0; at < 30; at += 1)
          t.equal(await outcome(files.lstat(`by-id/calculation/${8100 + at}`)), 'EIO')
        t.same(await namesOf(testbed, project), known)
      })
      t.ok(asked.length < 30, `probes alone were sent: ${asked.length}`)
      heal()
      await answers(testbed)
    },
  )

t.test('SIGN-2 after the end of the sign-in known things are shown, and status says what to do', async t => {
  const testbed = await realMount(t, { settings })
  const { files, service, directory } = testbed
  const report = await textOf(testbed, `reports/${ids.report}.json`)
  const known = await namesOf(testbed, project)
  t.equal(await textOf(testbed, `${folder}/run.log`), log)
  const mend = service.intercept(/./, response => {
    response.writeHead(401)
    response.end('not signed in')
  })
  await later(1_500)
  for (let round = 0; round < 2; round += 1) {
    t.equal(await textOf(testbed, `reports/${ids.report}.json`), report)
    t.same(await namesOf(testbed, project), known)
    t.equal(await textOf(testbed, `${folder}/run.log`), log)
    t.equal(await outcome(files.lstat(`by-id/calculation/${8_000 + round}`)), 'EACCES', 'an unknown path')
    await later(1_500)
  }
  t.match(await testbed.calcfs('status', directory), {
    code: 3,
    stdout: /the sign-in has ended: .*calcfs login \S+ --user demo.*; what is kept is shown meanwhile/,
  })
  mend()
  await answers(testbed)
  t.match(await testbed.calcfs('status', directory), { code: 0, stdout: /the service answers/ })
})
