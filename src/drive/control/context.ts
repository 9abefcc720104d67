// Parts of the drive from which the control operations answer.
import type { Health } from '../../cache/health.js'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { TextHistory } from '../../edit/journal/text-history.js'
import type { RequestContext } from '../../remote/remote.js'
import type { DriveParts } from '../context.js'
import type { Control, Status } from '../interface/control.js'
import type { KnownReports } from '../names/known-reports.js'
import type { Roots } from '../names/roots.js'
import type { Pins } from '../pins/pins.js'

export interface ControlParts extends DriveParts {
  readonly cacheDirectory: string
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
  /** The activity of the drive, as its owner tells it. */
  readonly watch: Pick<Control, 'activity' | 'metrics' | 'health'>
  /** When an operation that begins now is due. */
  readonly until: Readonly<Record<'metadata' | 'save', () => RequestContext>>
}
