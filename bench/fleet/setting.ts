// Setting of the fleet's rows: their sizes, and where they keep files.
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import { makeFleetKey } from '../../src/fleet/seal.js'
import { type Arena, type Ground, openArena } from '../run/arena.js'
import { perform, type Workshop } from '../run/trial.js'
import { type Workload, workload } from '../run/workloads.js'
import type { FleetFlags } from './node.js'
import { type RedisServer, startRedis } from './redis.js'

export interface FleetSizes {
  /** Real mounts. */
  readonly nodes: number
  /** Lines without a kernel. */
  readonly lines: number
  readonly saves: number
  /** Times that what is quick is done; the middle one counts. */
  readonly runs: number
  /** Projects of the lab that the mounts copy: all twenty, or four. */
  readonly copy: 'cp' | 'cp-part'
}

export interface FleetSetting {
  readonly sizes: FleetSizes
  readonly workshop: Workshop
  readonly ground: Ground
}

/** An empty Redis, and what the nodes are told of it. */
export interface FleetServer extends RedisServer {
  readonly flags: FleetFlags
}

export async function openFleetServer({ workshop }: FleetSetting): Promise<FleetServer> {
  const redis = await startRedis(workshop.base)
  const keyFile = join(workshop.base, 'fleet-key')
  rmSync(keyFile, { force: true })
  makeFleetKey(keyFile)
  return { ...redis, flags: { address: redis.address, keyFile } }
}

/** Runs something over an empty fleet, and ends the fleet's server. */
export async function withFleet<Value>(
  setting: FleetSetting,
  work: (fleet: FleetServer) => Promise<Value>,
): Promise<Value> {
  const fleet = await openFleetServer(setting)
  try {
    return await work(fleet)
  } finally {
    await fleet.stop()
  }
}

/** Runs something over the lab, so many milliseconds away. */
export async function withLab<Value>(
  { ground }: FleetSetting,
  roundTrip: number,
  work: (arena: Arena) => Promise<Value>,
): Promise<Value> {
  const arena = await openArena({ tree: 'lab', roundTrip, link: 'plain' }, ground)
  try {
    return await work(arena)
  } finally {
    await arena.close()
  }
}

/** @throws Error for a name that no workload has */
export function workOf(name: string): Workload {
  const found = workload(name)
  if (found === undefined) throw new Error(`there is no workload ${name}`)
  return found
}

/** What a workload results in on the local disk. */
export async function truthOf(work: Workload, { doors }: Arena, workshop: Workshop): Promise<string> {
  const done = await perform(work, doors.disk, 600, workshop)
  rmSync(workshop.scratch, { recursive: true, force: true })
  if (done.state === 'late') throw new Error('the local disk is too slow')
  return done.result
}
