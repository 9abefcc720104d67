// What is known while the service is silent, refused or dripping: shown at once.
import t from 'tap'
import { inProcess } from '../testbed/in-process.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import type { Interceptor } from '../testbed/proxy.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, outcome, type Testbed } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { until, within } from '../testbed/within.js'

t.setTimeout(240_000)

const project = 'projects/Water splitting'
const settings = { ttlListing: '1s', deadlineMetadata: '4s' }
const later = (milliseconds: number): Promise<void> => new Promise(wake => setTimeout(wake, milliseconds))

const silences: Readonly<Record<string, Interceptor>> = {
  silent: () => {},
  'silent behind its head': response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '700' })
    response.write('[')
  },
  'dripping a byte a second': async response => {
    response.writeHead(200, { 'content-type': 'application/json', 'content-length': '700' })
    for (let sent = 0; sent < 700 && !response.destroyed; sent += 1) {
      response.write(' ')
      await later(1_000)
    }
  },
}

const newAfter = ({ files }: Testbed, look: () => Promise<unknown>): Promise<void> =>
  until(10_000, 'what is new', async () => {
    await look()
    return (await files.xattr(project, 'user.calcfs.stale')) === undefined
  })

for (const [how, spoiler] of Object.entries(silences)) {
  t.test(`STALE-11 what is known does not wait for a service that is ${how}`, async t => {
    const testbed = await inProcess(t, { settings })
    const { files, service } = testbed
    const known = [
      () => files.readdir(project),
      () => files.readFile(`reports/${ids.report}.json`),
      () => files.readFile(`${project}/.project.json`),
      () => files.readdir(`by-id/calculation/${ids.transition}`),
      () => files.readFile(`by-id/calculation/${ids.transition}/run.log`),
    ]
    for (const ask of known) await ask()
    // How long each answer takes is known from the second time on.
    await testbed.pass(2_500)
    for (const ask of known) await ask()
    const heal = service.intercept(/./, spoiler)
    await testbed.pass(2_500)
    const sinceFirst = stopwatch()
    for (const ask of known) t.equal(await within(10_000, 'a known answer', outcome(ask())), 'done')
    // One call waits its 3 s.
    t.ok(sinceFirst() < 5_000, `all found out after ${sinceFirst()} ms`)
    const waits: number[] = []
    for (let round = 0; round < 6; round += 1)
      for (const ask of known) {
        const elapsed = stopwatch()
        t.equal(await within(10_000, 'a known answer', outcome(ask())), 'done')
        waits.push(elapsed())
      }
    waits.sort((one, other) => one - other)
    t.ok(
      (waits[waits.length >> 1] ?? 0) < 50,
      `half of ${waits.length} took ${waits[waits.length >> 1]} ms at most`,
    )
    t.ok(await files.xattr(project, 'user.calcfs.stale'), 'and it is marked')
    heal()
    await newAfter(testbed, () => files.readdir(project))
  })
}

t.test('STALE-11 what was to be read again is waited for by one call, not by each of a walk', async t => {
  const testbed = await inProcess(t, { settings })
  const { files, service } = testbed
  const walk = async () => {
    for (const name of await namesOf(testbed, project)) await files.lstat(`${project}/${name}`)
  }
  await walk()
  const [how, spoiler] = drawnFrom().pick.of(Object.entries(silences))
  const heal = service.intercept(/./, spoiler)
  await files.touch(project)
  const elapsed = stopwatch()
  for (let round = 0; round < 3; round += 1) t.equal(await within(30_000, how, outcome(walk())), 'done')
  t.ok(elapsed() < 8_000, `${how}: three walks took ${elapsed()} ms`)
  heal()
  await newAfter(testbed, walk)
})
