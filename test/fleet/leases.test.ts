// One daemon asks for all; where it dies or hangs at any step, the others go on after its lease at most.
import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { rm } from 'node:fs/promises'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { isUsed } from '../testbed/fleet/node.js'
import { everything } from '../testbed/fleet/reads.js'
import { stopwatch } from '../testbed/machine/stopwatch.js'
import { lines } from '../testbed/service.js'
import { overwrite, type TestLifetime, textOf } from '../testbed/testbed.js'
import { within } from '../testbed/within.js'

/** So many mounts in one process, ready to read all below the path once it is told to. */
async function readerProcess(
  t: TestLifetime,
  { shared }: Pick<FleetBed, 'shared'>,
  { nodes, path }: { readonly nodes: number; readonly path: string },
) {
  const asked = JSON.stringify({ settings: shared, nodes, path })
  const child: ChildProcess = fork(new URL('../testbed/fleet/reader-child.js', import.meta.url), [asked], {
    stdio: 'inherit',
    execArgv: [],
  })
  const gone = once(child, 'exit')
  const [{ home }] = (await Promise.race([once(child, 'message'), gone.then(failed)])) as [{ home: string }]
  t.teardown(async () => {
    child.kill('SIGKILL')
    await gone
    await rm(home, { recursive: true, force: true })
  })
  return {
    read: () => void child.send('read'),
    async kill() {
      child.kill('SIGKILL')
      await gone
    },
  }
}

function failed(): never {
  throw new Error('the process has ended')
}

/** The names of all values that lie there. */
async function namesThere({ redis }: FleetBed): Promise<readonly string[]> {
  const keys = await redis.client.keys('calcfs:*:v')
  return keys.flatMap(key => /\{(.+)\}/.exec(key)?.[1] ?? [])
}

/** Half of their deadline is what mounts would wait for a lease that does not end; limits of time lie far below. */
const patient = { deadlineMetadata: '1m' }

t.test('FLEET-1 a process that is killed at any moment of its reads', async t => {
  const bed = await fleetBed(t)
  const truth = await everything(await bed.join({}, true), 'projects')
  for (const moment of [0, Math.floor(100 * Math.random()), 200]) {
    await bed.redis.client.flushall()
    const child = await readerProcess(t, bed, { nodes: 2, path: 'projects' })
    const nodes = await Promise.all([1, 2].map(() => bed.join(patient)))
    child.read()
    await wait(moment)
    const elapsed = stopwatch()
    const reads = Promise.all(nodes.map(node => everything(node, 'projects')))
    await child.kill()
    t.strictSame(await within(60_000, 'the reads', reads), [truth, truth])
    const took = elapsed()
    t.ok(took < 20_000, `killed after ${moment} ms: the reads took ${took} ms`)
  }
})

t.test('FLEET-1 a daemon whose own question hangs keeps the others for a part of their deadline', async t => {
  const bed = await fleetBed(t)
  const record = 'projects/Water splitting/TS1_opt/.calculation.json'
  const [one, other] = [await bed.join(), await bed.join()]
  for (const { files } of [one, other]) await files.readdir('projects/Water splitting/TS1_opt')
  const held = bed.service.hold(/GET \/calculation\?/, 'request')
  const hangs = textOf(one, record)
  await held.met
  held.letOthers()
  const elapsed = stopwatch()
  const text = await within(20_000, 'the other one', textOf(other, record))
  t.match(text, 'TS1_opt')
  t.ok(elapsed() < 6_500, `it took ${elapsed()} ms`)
  held.open()
  t.equal(await hangs, text)
})

t.test('FLEET-1 one asks under a lease, and the others wait for its answer', async t => {
  const bed = await fleetBed(t)
  const question = 'GET /report?id=42'
  let [nodes, asked]: [FleetNode[], string[]] = [[], []]
  do {
    await bed.redis.client.flushall()
    nodes = await Promise.all([1, 2, 3].map(() => bed.join()))
    const held = bed.service.hold(/GET \/report\?id=42/)
    const heard = await bed.service.during(async () => {
      const texts = nodes.map(node => textOf(node, 'reports/42.json'))
      await Promise.race([held.met, ...texts])
      await wait(500)
      held.open()
      await Promise.all(texts)
    })
    asked = lines(heard).filter(line => line === question)
    // On a busy machine a mount passes the fleet by for five seconds, and asks for itself.
  } while (!nodes.every(isUsed))
  t.same(asked, [question])
})

t.test('FLEET-2 an answer that was asked for before a change is not shared after it', async t => {
  const bed = await fleetBed(t)
  const path = 'reports/42.json'
  const [writer, slow] = [await bed.join(), await bed.join()]
  const text = await textOf(writer, path)
  for (const name of await namesThere(bed)) await bed.redis.client.del(`calcfs:{${name}}:v`)
  const held = bed.service.hold(/GET \/report\?id=42/)
  const hangs = textOf(slow, path)
  await Promise.race([held.met, hangs])
  held.letOthers()
  await overwrite(writer, path, text.replace(/"title": "[^"]*"/, '"title": "After the question"'))
  // Its owner renews the lease four times in two seconds.
  await wait(1_200)
  held.open()
  await hangs
  await wait(100)
  t.match(await textOf(await bed.join(), path), 'After the question')
})
