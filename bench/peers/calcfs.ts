// calcfs as built in this checkout, with its own defaults, and directories that belong to the bench: its mount, and its commands with and without one.
import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { type Doors, mountWith, type Peer } from './peers.js'

const program = fileURLToPath(new URL('../../../bin/calcfs', import.meta.url))

/** The mount that this repository makes. */
export const calcfs: Peer = {
  name: 'calcfs',
  options: 'defaults (up to 64 connections, listings cached for 30 s), --access read',
  counted: true,
  lacks: () => undefined,
  async mount(doors, place) {
    const environment = ownEnvironment(place.cache)
    const args = [program, 'mount', doors.rest, place.mountPoint, ...serviceFlags(doors), '--access', 'read']
    const mounted = await mountWith({ command: process.execPath, args, environment }, place)
    return { ...mounted, root: join(place.mountPoint, 'projects') }
  },
}

/** The commands on the same mount. */
export const calcfsCommands: Peer = {
  ...calcfs,
  name: 'calcfs get',
  options: '`calcfs get` in the place of `cp -r`, and `calcfs find`, asking the daemon of the mount',
  async mount(doors, place) {
    const mounted = await calcfs.mount(doors, place)
    const command = `${process.execPath} ${program}`
    return {
      ...mounted,
      lines: { cp: `${command} get . --as "$SCRATCH/copy"`, find: `${command} find .` },
    }
  },
}

/** The commands where nothing is mounted; their start and sign-in are in the time. */
export const calcfsUnmounted: Peer = {
  ...calcfs,
  name: 'calcfs get, no mount',
  options: 'the same without a mount: each command is a process that signs in, and keeps its caches on disk',
  async mount(doors, place) {
    const settings = Object.entries(ownEnvironment(place.cache)).map(([name, value]) => `${name}='${value}'`)
    const flags = ['--url', doors.rest, ...serviceFlags(doors)].join(' ')
    const line = (name: string, rest: string): string =>
      `env ${settings.join(' ')} ${process.execPath} ${program} ${name} ${flags} ${rest}`
    return {
      root: place.mountPoint,
      processes: [],
      lines: {
        cp: line('get', 'projects --as "$SCRATCH/copy"'),
        find: `${line('find', 'projects')} | sed 's|^projects|.|'`,
      },
      unmount: () => Promise.resolve(),
    }
  },
}

const serviceFlags = ({ authorityFile }: Doors): readonly string[] => [
  ...['--user', 'demo'],
  ...(authorityFile === undefined ? [] : ['--ca-file', authorityFile]),
]

/** Directories that belong to the bench, made below this one. */
export function ownEnvironment(base: string): Readonly<Record<string, string>> {
  const own = (name: string): string => join(base, name)
  for (const name of ['cache', 'state', 'config', 'run'])
    mkdirSync(own(name), { recursive: true, mode: 0o700 })
  return {
    CALCFS_PASSWORD: 'demo',
    XDG_CACHE_HOME: own('cache'),
    XDG_STATE_HOME: own('state'),
    XDG_CONFIG_HOME: own('config'),
    XDG_RUNTIME_DIR: own('run'),
  }
}
