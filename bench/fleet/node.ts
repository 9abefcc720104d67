// A node of a fleet: calcfs mounted with directories of its own, as on a machine of its own.
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Mounted, mountWith } from '../peers/peers.js'
import { used } from '../processes/measure-processes.js'
import { perform, type Workshop } from '../run/trial.js'
import type { Workload } from '../run/workloads.js'

/** What every node of a fleet is told. */
export interface FleetFlags {
  readonly address: string
  readonly keyFile: string
}

export interface Node extends Mounted {
  /** Seconds that a workload takes here, whose result has to be this one. @throws Error for another one */
  work(work: Workload, truth: string): Promise<number>
  /** Seconds of processor time so far. */
  cpuSeconds(): Promise<number>
  /** Unmounts it, and removes what it kept. */
  leave(): Promise<void>
}

export interface NodeWish {
  /** Alone if undefined. */
  readonly fleet?: FleetFlags | undefined
  /** `read` if undefined. */
  readonly access?: string
  /** Further flags. */
  readonly more?: readonly string[]
}

const program = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))
const workSeconds = 600

let nodes = 0

/** Mounts a service with empty caches; without `fleet` on its own. */
export async function mountNode(
  workshop: Workshop,
  rest: string,
  { fleet, access = 'read', more = [] }: NodeWish = {},
): Promise<Node> {
  nodes += 1
  const base = join(workshop.base, `node-${nodes}`)
  const scratch = join(workshop.scratch, `node-${nodes}`)
  const own = (name: string): string => join(base, name)
  for (const name of ['mount', 'home', 'cache', 'state', 'config', 'run'])
    mkdirSync(own(name), { recursive: true, mode: 0o700 })
  const shared = fleet === undefined ? [] : ['--fleet', fleet.address, '--fleet-key-file', fleet.keyFile]
  const place = { mountPoint: own('mount'), cache: own('cache'), log: own('log') }
  const args = [
    program,
    'mount',
    rest,
    place.mountPoint,
    '--user',
    'demo',
    '--access',
    access,
    ...shared,
    ...more,
  ]
  const environment = {
    HOME: own('home'),
    CALCFS_PASSWORD: 'demo',
    XDG_CACHE_HOME: own('cache'),
    XDG_STATE_HOME: own('state'),
    XDG_CONFIG_HOME: own('config'),
    XDG_RUNTIME_DIR: own('run'),
  }
  const mounted = await mountWith({ command: process.execPath, args, environment }, place)
  return {
    ...mounted,
    async work(work, truth) {
      const inTree = join(place.mountPoint, 'projects')
      const done = await perform(work, inTree, workSeconds, { ...workshop, scratch })
      rmSync(scratch, { recursive: true, force: true })
      if (done.state === 'late') throw new Error(`${work.name} took over ${workSeconds} s`)
      if (done.result !== truth) throw new Error(`${done.result} instead of ${truth}: ${done.complaint}`)
      return done.seconds
    },
    cpuSeconds: async () => (await used(mounted.processes)).cpuSeconds,
    async leave() {
      await mounted.unmount()
      rmSync(base, { recursive: true, force: true })
    },
  }
}
