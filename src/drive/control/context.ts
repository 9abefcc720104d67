// Parts of the drive from which the control operations answer.
import type { Health } from '../../cache/health.js'
import type { Identities } from '../../cache/identity.js'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { TextHistory } from '../../edit/journal/text-history.js'
import type { Instant } from '../../remote/remote.js'
import type { DriveParts } from '../context.js'
import type { Control, Status } from '../interface/control.js'
import type { KnownReports } from '../names/known-reports.js'
import type { Roots } from '../names/roots.js'
import type { Pins } from '../pins/pins.js'

export interface ControlParts extends Omit<DriveParts, 'identities'> {
  /** Where the contents lie. */
  readonly cacheDirectory: string
  readonly identities: Identities
  readonly history: TextHistory
  /** Kept with the drafts. */
  readonly state: Ledger
  /** The mount point of the mount that goes by this mark in the history; undefined where that is not known. */
  readonly mountNamed: (mark: string) => string | undefined
  readonly reports: KnownReports
  /** `check` has the service asked before. */
  readonly status: (check?: boolean) => Promise<Status>
  readonly health: Health
  readonly pins: Pins
  readonly roots: Roots
  /** The troubles of the mount's own directories, in sentences. */
  readonly placeTroubles: () => Promise<readonly string[]>
  readonly now: () => Instant
  readonly watch: WatchControl
}

/** The activity of the drive, as its owner tells it. */
export type WatchControl = Pick<Control, 'activity' | 'metrics' | 'health'>
