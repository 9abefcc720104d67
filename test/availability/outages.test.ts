// An outage of any kind, drawn: what is known is shown at once and marked, what is not fails soon, probes alone are sent, and afterwards all is right.
import { setTimeout as later } from 'node:timers/promises'
import t from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import type { Interceptor } from '../testbed/proxy.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, type Testbed } from '../testbed/testbed.js'
import { drawnFrom, isDrawn } from '../testbed/variants.js'
import { until, within } from '../testbed/within.js'

t.jobs = 3

const { seed, pick } = drawnFrom()
const project = 'projects/Water splitting'
const settings = { ttlListing: '1s', deadlineMetadata: '4s' }

interface Outage {
  readonly answer: Interceptor
  /** How the first question for something unknown ends, and the later ones. */
  readonly first: RegExp
  readonly repeated: RegExp
  /** Requests go on to be sent, for each is refused by itself. */
  readonly isAsked?: true
}

const silent = { first: /^ETIMEDOUT$/, repeated: /^(EHOSTUNREACH|ETIMEDOUT)$/ }
const status =
  (code: number): Interceptor =>
  // Longer than the piece of a body that shows elsewhere that the service is there.
  response =>
    void response.writeHead(code, { 'content-type': 'text/html' }).end('<p>No</p>'.repeat(400))
const errors = (code: number): Outage => ({
  answer: status(code),
  first: /^(EIO|ETIMEDOUT)$/,
  repeated: /^(EIO|ETIMEDOUT)$/,
})

const outages: Readonly<Record<string, Outage>> = {
  silent: { ...silent, answer: () => {} },
  'silent behind its head': {
    ...silent,
    answer(response) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '700' })
      response.write('[')
    },
  },
  'dripping a byte a second': {
    ...silent,
    async answer(response) {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': '700' })
      for (let sent = 0; sent < 700 && !response.destroyed; sent += 1) {
        response.write(' ')
        await later(1_000)
      }
    },
  },
  'resetting every connection': {
    answer: response => void response.socket?.resetAndDestroy(),
    first: /^(EHOSTUNREACH|ETIMEDOUT)$/,
    repeated: /^(EHOSTUNREACH|ETIMEDOUT)$/,
  },
  'answering 500': errors(500),
  'answering 502': errors(502),
  'answering 504': errors(504),
  'refusing the sign-in': { answer: status(401), first: /^EACCES$/, repeated: /^EACCES$/, isAsked: true },
}

const knownTo = ({ files }: Testbed): readonly (() => Promise<unknown>)[] => [
  () => files.readdir(project),
  () => files.readFile(`reports/${ids.report}.json`),
  () => files.readFile(`${project}/.project.json`),
  () => files.readdir(`by-id/calculation/${ids.transition}`),
  () => files.readFile(`by-id/calculation/${ids.transition}/run.log`),
]

const newAfter = ({ files }: Testbed, look: () => Promise<unknown>): Promise<void> =>
  until(30_000, 'what is new', async () => {
    await look()
    return (await files.xattr(project, 'user.calcfs.stale')) === undefined
  })

for (const [at, [how, { answer, first, repeated, isAsked }]] of Object.entries(outages).entries()) {
  if (!isDrawn(at, 2)) continue
  t.test(`STALE-11 AVAIL-4 SIGN-2 a service that is ${how} (seed ${seed})`, async t => {
    const testbed = await inProcess(t, { settings })
    const { files, service } = testbed
    const known = knownTo(testbed)
    const unknown = (id: number): Promise<string> =>
      within(30_000, 'an unknown path', outcome(files.lstat(`by-id/calculation/${id}`)))
    for (const ask of known) await ask()
    // How long each answer takes is known from the second time on.
    await testbed.pass(2_500)
    for (const ask of known) await ask()
    const heal = service.intercept(/./, answer)
    await testbed.pass(2_500)
    t.match(await unknown(8_000), first)
    const sinceFirst = stopwatch()
    for (const ask of pick.shuffled(known))
      t.equal(await within(10_000, 'a known answer', outcome(ask())), 'done')
    // One call waits its 3 s.
    t.ok(sinceFirst() < 9_000, `all that is known is shown after ${sinceFirst()} ms`)
    await until(20_000, 'the outage is known', async () => {
      const elapsed = stopwatch()
      await unknown(8_001)
      return elapsed() < 1_500
    })
    const waits: number[] = []
    const asked = await service.during(async () => {
      for (let round = 0; round < 6; round += 1) {
        t.match(await unknown(8_100 + round), repeated)
        for (const ask of known) {
          const elapsed = stopwatch()
          t.equal(await within(10_000, 'a known answer', outcome(ask())), 'done')
          waits.push(elapsed())
        }
      }
      if (!isAsked) for (let id = 8_200; id < 8_230; id += 1) t.match(await unknown(id), repeated)
    })
    waits.sort((one, other) => one - other)
    const median = waits[waits.length >> 1] ?? 0
    t.ok(median < 300, `half of ${waits.length} known answers took ${median} ms at most`)
    if (!isAsked) t.ok(asked.length < 30, `probes alone were sent: ${asked.length}`)
    t.ok(await files.xattr(project, 'user.calcfs.stale'), 'what is old is marked')
    heal()
    await newAfter(testbed, () => files.readdir(project))
    await until(30_000, 'an answer', async () => (await unknown(8_300)) === 'ENOENT')
  })
}

t.test('STALE-11 what was to be read again is waited for by one call, not by each of a walk', async t => {
  const testbed = await inProcess(t, { settings })
  const { files, service } = testbed
  const walk = async () => {
    for (const name of await namesOf(testbed, project)) await files.lstat(`${project}/${name}`)
  }
  await walk()
  service.intercept(/./, () => {})
  await files.touch(project)
  const elapsed = stopwatch()
  for (let round = 0; round < 3; round += 1) t.equal(await outcome(walk()), 'done')
  t.ok(elapsed() < 8_000, `three walks took ${elapsed()} ms`)
})
