// Storage locations: the XDG directories, and below them one private directory per service and user.
import { createHash } from 'node:crypto'
import { isAbsolute, join } from 'node:path'
import { homeOf } from '../system/user-name.js'
import { BadSetting, variableName } from './settings.js'

export type Environment = Readonly<Record<string, string | undefined>>

/** The user's configuration file, existing or not; undefined where the user has no home. */
export function userConfigFile(environment: Environment): string | undefined {
  const base = xdg(environment, 'XDG_CONFIG_HOME', '.config')
  return base === undefined ? undefined : join(base, 'calcfs', 'config.toml')
}

export interface OwnDirectories {
  /** Contents that can be downloaded again. */
  readonly cache: string
  /** Drafts, history, known reports and the token: losing it loses edits. */
  readonly state: string
}

/** Directories that the user names in place of those of calcfs. */
interface NamedDirectories {
  readonly cacheDir?: string | undefined
  readonly stateDir?: string | undefined
}

/** Both directories of an account; nothing is created yet. Two accounts never share one. */
export function ownDirectories(
  { url, user }: { readonly url: string; readonly user: string },
  base: NamedDirectories,
  environment: Environment,
): OwnDirectories {
  const name = uniqueName(`${new URL(url).host}-${user}`.slice(0, 80), `${url}\n${user}`, 12)
  return {
    cache: join(base.cacheDir ?? cacheOfAll(environment), name),
    state: join(statesOf(base, environment), name),
  }
}

/** The log of a daemon in the background that was given no file, by its mount point. */
export function defaultLogFile(mountPoint: string, base: NamedDirectories, environment: Environment): string {
  return join(statesOf(base, environment), 'logs', `${uniqueName(mountPoint.slice(-80), mountPoint, 8)}.log`)
}

/** A name that can be read, and is made unique by the hash. */
const uniqueName = (readable: string, hashed: string, digits: number): string =>
  `${readable.replace(/[^\w.@-]/g, '_')}-${createHash('sha256').update(hashed).digest('hex').slice(0, digits)}`

/** The directories of calcfs that hold those of all accounts. One that the user names is the user's own, as are those above. */
export function ownParents(base: NamedDirectories, environment: Environment): readonly string[] {
  return [
    ...(base.cacheDir === undefined ? [cacheOfAll(environment)] : []),
    ...(base.stateDir === undefined ? [stateOfAll(environment)] : []),
  ]
}

export const statesOf = (base: NamedDirectories, environment: Environment): string =>
  base.stateDir ?? stateOfAll(environment)

const cacheOfAll = (environment: Environment): string =>
  join(xdg(environment, 'XDG_CACHE_HOME', '.cache') ?? homeless('cacheDir'), 'calcfs')
const stateOfAll = (environment: Environment): string =>
  join(xdg(environment, 'XDG_STATE_HOME', '.local/state') ?? homeless('stateDir'), 'calcfs')

function homeless(setting: 'cacheDir' | 'stateDir'): never {
  throw new BadSetting(
    `no home directory is known: HOME is not set, and this user id has none; set HOME, or name a directory with ${variableName(setting)}.`,
  )
}

/** The XDG rules say that a relative path in these variables counts as unset. */
export function xdg(environment: Environment, variable: string, fallback: string): string | undefined {
  const said = environment[variable]
  if (said !== undefined && isAbsolute(said)) return said
  const home = homeOf(environment)
  return home === undefined ? undefined : join(home, fallback)
}
