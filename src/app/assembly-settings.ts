// Settings and reporting of one mount.
import type { Activity } from '../activity/activity.js'
import type { Config } from '../config/config.js'
import type { Clock } from '../remote/clock.js'
import type { Log } from '../terminal/log.js'
import type { Connection } from './connect.js'

export interface AssemblySettings {
  readonly config: Config
  readonly connection: Connection
  readonly mountPoint: string
  /** The drive is mounted there: a command without a mount has no mount point. */
  readonly isMount?: boolean
  /** The socket on which the control is served, for `status.json`. */
  readonly controlSocket?: string | undefined
  readonly log: Log
  /** Counters of this mount; those of a command without a daemon are read by nothing. */
  readonly activity: Activity
  readonly clock: Clock
}

/** Writes a sentence into the log, with its subject. */
export type Note = (sentence: string, about?: Record<string, unknown>) => void

/**
 * Seconds for which the kernel caches names and attributes at least, where it can be told of changes. A listing that is used in
 * the last quarter of its lifetime is asked for again, so that what the kernel keeps is never older than that lifetime.
 */
export const kernelCacheSeconds = ({ ttlListing }: Pick<Config, 'ttlListing'>): number =>
  Math.max(1, Math.min(60, ttlListing / 4_000))

/** Milliseconds for the next bytes of a file. */
export const readDeadline = ({ deadlineMetadata }: Pick<Config, 'deadlineMetadata'>): number =>
  2 * deadlineMetadata

/** Names of listings that are held in memory at most, 256 bytes each. */
export const namesAtMost = 200_000
