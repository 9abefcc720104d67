// Settings and reporting of one mount.
import type { Config } from '../config/config.js'
import type { Clock } from '../remote/clock.js'
import type { Capabilities } from '../remote/rest/capabilities.js'
import type { Log } from '../terminal/log.js'
import type { Connection } from './connect.js'

export interface AssemblySettings {
  readonly config: Config
  readonly connection: Connection
  readonly capabilities: Capabilities
  readonly mountPoint: string
  /** Whether the drive is still mounted there, once it is. */
  readonly isMounted?: (() => Promise<boolean>) | undefined
  /** The socket on which the control is served, for `status.json`. */
  readonly controlSocket?: string | undefined
  readonly log: Log
  readonly version: string
  readonly clock: Clock
}

/** Writes a sentence into the log, with its subject. */
export type Note = (sentence: string, about?: Record<string, unknown>) => void

/** Seconds for which the kernel caches names and attributes, which cannot be invalidated from here. */
export const kernelCacheSeconds = 1
/** Milliseconds: the text lease outlives the kernel's attribute cache by a second. */
export const leaseMs = (kernelCacheSeconds + 1) * 1000
