// What one mount is made from, and how what is noteworthy of it is told.
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

/** Writes a sentence into the log, with what it is about. */
export type Note = (sentence: string, about?: Record<string, unknown>) => void

/** Seconds for which the kernel keeps names and attributes: more would show changes late, for nobody can tell it. */
export const kernelCacheSeconds = 1
/** Milliseconds: the text lease outlives what the kernel was told by a second. */
export const leaseMs = (kernelCacheSeconds + 1) * 1000
