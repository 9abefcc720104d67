// News that a mount does not hear: it notices, and asks for everything again.
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { isUsed } from '../testbed/fleet/node.js'
import { untilSeen } from '../testbed/fleet/reads.js'
import { type Spoil, testRelay } from '../testbed/fleet/relay.js'
import { ids } from '../testbed/sample-data.js'
import { namesOf, overwrite, textOf } from '../testbed/testbed.js'
import { drawnFrom } from '../testbed/variants.js'
import { until } from '../testbed/within.js'

const water = 'projects/Water splitting'
const path = `reports/${ids.report}.json`
/** News that do not come are noticed with the second beat after them; there are two a second. */
const noticedMs = 2_500

/** What becomes of messages to those who have subscribed. */
const losses: Readonly<Record<string, (fraction: () => number) => Spoil>> = {
  'news alone': () => (piece, line) => (line.hears && piece.includes(':news') ? undefined : piece),
  'all of them': () => (piece, line) => (line.hears ? undefined : piece),
  'every second one': fraction => (piece, line) => (line.hears && fraction() < 0.5 ? undefined : piece),
}

t.test('FLEET-2 a mount that does not hear the others shows nothing old for long', async t => {
  const { seed, pick } = drawnFrom()
  t.comment(`seed ${seed}`)
  const bed = await fleetBed(t)
  const relay = await testRelay(t, bed.redis.port)
  const writer = await bed.join()
  const hearer = await bed.join({ fleet: relay.address })
  const look = async (node: FleetNode): Promise<void> => {
    await textOf(node, path)
    await namesOf(node, water)
  }
  for (const [what, lossOf] of pick.shuffled([...Object.entries(losses), ...Object.entries(losses)])) {
    await look(hearer)
    const calm = relay.spoil(lossOf(pick.fraction))
    await wait(pick.once(2) ? 0 : pick.whole(0, 2_000))
    await look(hearer)
    const word = `w${pick.word(8, 12)}`
    const isSave = pick.once(2)
    if (isSave) {
      const text = await textOf(writer, path)
      await overwrite(writer, path, text.replace(/"title": "[^"]*"/, `"title": "${word}"`))
    } else await writer.files.mkdir(`${water}/${word}`)
    const shown = () => (isSave ? textOf(hearer, path) : namesOf(hearer, water))
    const told = `seed ${seed}: lost: ${what}, ${isSave ? 'a save' : 'mkdir'}`
    await untilSeen([writer, hearer], told, async () => (await shown()).includes(word), noticedMs)
    t.pass(told)
    calm()
    await until(10_000, 'it is used', () => isUsed(hearer))
  }
})

t.test('FLEET-2 what the others could not be told, they hear once the fleet is used again', async t => {
  const bed = await fleetBed(t)
  const [writer, hearer] = [await bed.join(), await bed.join({ ttlListing: '3h' })]
  const text = await textOf(hearer, path)
  const mayTell = (sign: '+' | '-') => bed.redis.client.acl('SETUSER', 'default', `${sign}incr`)
  await mayTell('-')
  await overwrite(writer, path, text.replace(/"title": "[^"]*"/, '"title": "Told late"'))
  await until(10_000, 'it is passed by', () => !isUsed(writer))
  await mayTell('+')
  await until(20_000, 'it is seen', async () => (await textOf(hearer, path)).includes('Told late'))
})
