// calcfs as built in this checkout, with its own defaults, and directories that belong to the bench.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { mountWith, type Peer } from './peers.js'

const program = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))

/** The mount that this repository makes. */
export const calcfs: Peer = {
  name: 'calcfs',
  options: 'defaults (up to 64 connections, listings cached for 30 s), --access read',
  counted: true,
  lacks: () => undefined,
  async mount(doors, place) {
    const own = (name: string): string => join(place.cache, name)
    for (const name of ['cache', 'state', 'config', 'run'])
      mkdirSync(own(name), { recursive: true, mode: 0o700 })
    const args = [program, 'mount', doors.rest, place.mountPoint, '--user', 'demo', '--access', 'read']
    if (doors.authorityFile !== undefined) args.push('--ca-file', doors.authorityFile)
    const environment = {
      CALCFS_PASSWORD: 'demo',
      XDG_CACHE_HOME: own('cache'),
      XDG_STATE_HOME: own('state'),
      XDG_CONFIG_HOME: own('config'),
      XDG_RUNTIME_DIR: own('run'),
    }
    const mounted = await mountWith({ command: process.execPath, args, environment }, place)
    return { ...mounted, root: join(place.mountPoint, 'projects') }
  },
}
