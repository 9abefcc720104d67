// A look at a fleet: one connection, what its server says of itself, how long commands take, and which are refused.
import { performance } from 'node:perf_hooks'
import type { FleetAddress } from '../../fleet/engine/fleet-address.js'
import { connectFleet, reasonOf, type ServerFacts, serverFacts } from '../../fleet/engine/fleet-connection.js'
import { isFull } from '../../fleet/engine/fleet-lane.js'
import {
  channelOf,
  countKey,
  type FleetScripts,
  leaseKey,
  nodesKey,
  saidKey,
  valueKey,
  writerKey,
} from '../../fleet/engine/fleet-scripts.js'
import { noop } from '../../noop.js'
import { systemClock } from '../../remote/clock.js'

export type FleetLook =
  | { readonly away: string }
  | {
      /** Undefined where its user may not ask. */
      readonly facts: ServerFacts | undefined
      readonly medianMs: number | undefined
      /** The server's words about the first command that it refused. */
      readonly refused: string | undefined
    }

/** Milliseconds for everything. */
const patienceMs = 5_000
const commands = 15
const probe = 'probe'
const lease = leaseKey(probe)
const writer = writerKey(probe)
const channel = channelOf(probe)
const nothing = Buffer.from('0')
/** Milliseconds after which what a look has written is gone. */
const lifeMs = 1_000

/** @throws BadSetting for a file of authorities that cannot be read */
export async function lookAtFleet(address: FleetAddress, caFile: string | undefined): Promise<FleetLook> {
  const connection = connectFleet(address, caFile)
  const { client, bulk, subscriber } = connection
  const all = new Set([client, bulk, subscriber])
  for (const one of all) one.on('error', noop)
  let callOff = noop
  const away = new Promise<FleetLook>(resolve => {
    callOff = systemClock.after(patienceMs, () => resolve({ away: 'it does not answer' }))
    client.on('error', error => resolve({ away: reasonOf(error) }))
  })
  try {
    return await Promise.race([
      away,
      new Promise(ready => client.once('ready', ready)).then(() => looked(connection)),
    ])
  } catch (thrown) {
    return { away: reasonOf(thrown) }
  } finally {
    callOff()
    for (const one of all) one.disconnect()
  }
}

async function looked({ client, subscriber }: ReturnType<typeof connectFleet>): Promise<FleetLook> {
  const facts = await serverFacts(client).catch(thrown => {
    refusal(thrown)
    return undefined
  })
  const scripts = client as unknown as FleetScripts
  const times: number[] = []
  const needed = [
    ...Array.from({ length: commands }, () => async () => {
      const began = performance.now()
      await client.set(valueKey(probe), '', 'PX', lifeMs)
      times.push(performance.now() - began)
    }),
    // All that the scripts do, once.
    () => scripts.fleetTakeBuffer(valueKey(probe), lease, probe, lifeMs, lifeMs),
    () => scripts.fleetClaim(valueKey(probe), lease, probe, lifeMs),
    () => scripts.fleetRenew(lease, probe, lifeMs),
    () => scripts.fleetPut(valueKey(probe), lease, probe, nothing, lifeMs, channel),
    () => scripts.fleetRelease(lease, probe, channel),
    () => scripts.fleetChange(valueKey(probe), lease, channel, lifeMs, nothing),
    () => scripts.fleetReplace(valueKey(probe), lease, writer, channel, lifeMs, probe, lifeMs, nothing),
    () => client.exists(lease),
    () => scripts.fleetTell(countKey(probe), channel, nothing),
    () => scripts.fleetEcho(countKey(probe), channel, nothing),
    () => scripts.fleetBeat(nodesKey(probe), saidKey(probe), probe, nothing, lifeMs),
    () => client.get(valueKey(probe)),
    () => client.hvals(saidKey(probe)),
    () => Promise.all([client.zrem(nodesKey(probe), probe), client.hdel(saidKey(probe), probe)]),
    () => Promise.all([countKey(probe), writer].map(key => client.unlink(key))),
    () => subscriber.ssubscribe(channel).then(() => subscriber.sunsubscribe(channel)),
  ]
  let refused: string | undefined
  for (const command of needed) refused ??= await command().then(() => undefined, refusal)
  return { facts, medianMs: times.sort((one, other) => one - other)[times.length >> 1], refused }
}

/** The server's words; that it is full, or a node of a cluster, is a finding of its own. @throws what is no answer of a server */
function refusal(thrown: unknown): string | undefined {
  const words = thrown instanceof Error ? thrown.message : ''
  if (isFull(thrown) || words.startsWith('MOVED')) return undefined
  if (/^[A-Z]{2,} /.test(words)) return words
  throw thrown
}
