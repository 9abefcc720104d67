// What lies in a fleet is believed only where it was sealed with the key, under its own name; it tells nothing to others.
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import t from 'tap'
import { type FleetBed, type FleetNode, fleetBed } from '../testbed/fleet/fleet.js'
import { textOf } from '../testbed/testbed.js'

const output = 'projects/Water splitting/TS1_opt/output.cml'
const record = 'projects/Water splitting/TS1_opt/.calculation.json'

const read = async (node: FleetNode): Promise<readonly string[]> => [
  ...(await node.files.readdir('projects')).keys(),
  ...(await node.files.readdir('projects/Water splitting')).keys(),
  await textOf(node, output),
  await textOf(node, record),
]

async function filled(bed: FleetBed): Promise<readonly string[]> {
  return read(await bed.join())
}

const values = async ({ redis }: FleetBed): Promise<string[]> => redis.client.keys('calcfs:*:v')

t.test('FLEET-4 a value that is damaged at any byte is asked for again, and never shown', async t => {
  const bed = await fleetBed(t)
  const truth = await filled(bed)
  for (let round = 0; round < 5; round += 1) {
    for (const key of await values(bed)) {
      const value = await bed.redis.client.getBuffer(key)
      if (value === null) continue
      const at = Math.floor(Math.random() * value.length)
      value[at] = (value[at] ?? 0) ^ (1 << Math.floor(Math.random() * 8))
      await bed.redis.client.set(key, value, 'KEEPTTL')
    }
    const node = await bed.join()
    t.strictSame(await read(node), truth)
    t.ok((node.line.fleet?.status().asked ?? 0) > 0, 'the service is asked')
  }
})

t.test('FLEET-4 nor is a value that lies under another one’s name, or an older one', async t => {
  const bed = await fleetBed(t)
  const truth = await filled(bed)
  const keys = await values(bed)
  const all = await Promise.all(keys.map(key => bed.redis.client.getBuffer(key)))
  for (const [at, key] of keys.entries())
    await bed.redis.client.set(key, all[(at + 1) % all.length] ?? '', 'PX', 60_000)
  t.strictSame(await read(await bed.join()), truth)
})

t.test('FLEET-4 nor is one that was kept and is put back when its time is over', async t => {
  const folder = 'projects/Water splitting'
  const bed = await fleetBed(t)
  const settings = { ttlListing: '2s' }
  const writer = await bed.join(settings)
  await writer.files.readdir(folder)
  // What a mount puts it does not wait for.
  await wait(200)
  const kept = new Map<string, Buffer>()
  for (const key of await values(bed)) {
    const value = await bed.redis.client.getBuffer(key)
    if (value !== null) kept.set(key, value)
  }
  await writer.files.mkdir(`${folder}/newer`)
  const reader = await bed.join(settings)
  await wait(2_500)
  for (const [key, value] of kept) await bed.redis.client.set(key, value, 'PX', 1_900)
  t.ok((await reader.files.readdir(folder)).has('newer'))
})

t.test('FLEET-4 another key opens nothing', async t => {
  const bed = await fleetBed(t)
  const truth = await filled(bed)
  const node = await bed.join({ fleetKeyFile: await bed.otherKey() })
  const asked = await bed.service.during(async () => t.strictSame(await read(node), truth))
  t.ok(asked.length > 3)
})

t.test('FLEET-4 a dump of its memory holds no name, no text and no token', async t => {
  const bed = await fleetBed(t)
  const seen = await filled(bed)
  await bed.redis.client.save()
  const dump = (await readFile(join(bed.redis.directory, 'dump.rdb'))).toString('latin1')
  t.ok(dump.includes('calcfs:'), 'it is a dump of the fleet')
  const secrets = [
    'Water splitting',
    'TS1_opt',
    'output.cml',
    'demo',
    ...bed.tokens(),
    ...seen.map(text => text.slice(0, 40)),
  ]
  for (const secret of secrets) if (secret.length > 3) t.notOk(dump.includes(secret), secret)
})
