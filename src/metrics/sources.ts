// Sources of the metrics of one mount: its counters, and what its layers know of themselves.
import type { Activity } from '../activity/activity.js'
import type { ActivityPicture } from '../drive/interface/control.js'

export interface MetricSources {
  readonly activity: Activity
  readonly version: string
  /** When the drive was mounted, in milliseconds since 1970. */
  readonly since: number
  now(): number
  readonly drive: { readonly mountPoint: string; readonly service: string; readonly user: string }
  /** The kept files of the content cache. */
  cache(): { readonly files: number; readonly bytes: number; readonly limitBytes: number }
  downloads(): readonly {
    readonly name: string
    readonly arrived: number
    readonly length: number | undefined
  }[]
  /** What waits to be saved, or is on its way. */
  drafts(): ActivityPicture['waiting']
  /** Why the service counts as away, and why the sign-in has ended; undefined where they have not. */
  awayBecause(): string | undefined
  signedOutBecause(): string | undefined
  /** Undefined where the mount shares nothing. */
  fleet(): { readonly hits: number; readonly asked: number; readonly mounts: number } | undefined
}

/** States of a draft in which a request of it is under way. */
const underWayStates: ReadonlySet<string> = new Set(['sending', 'in-flight'])

export const isUnderWay = ({ state }: { readonly state: string }): boolean => underWayStates.has(state)
