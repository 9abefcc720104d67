// Parts of the drive from which the control operations answer.
import type { ContentCache } from '../../cache/content/content.js'
import type { Health } from '../../cache/health.js'
import type { Identities } from '../../cache/identity.js'
import type { Ledger } from '../../cache/ledger/ledger.js'
import type { Catalog } from '../../cache/metadata/catalog.js'
import type { TextHistory } from '../../edit/journal/text-history.js'
import type { Instant } from '../../remote/remote.js'
import type { Deadlines } from '../context.js'
import type { FailureLog } from '../failure-log.js'
import type { ActivityPicture, FleetReport, HealthLine, LogLines, Status } from '../interface/control.js'
import type { KernelNews } from '../interface/kernel-news.js'
import type { KnownReports } from '../names/known-reports.js'
import type { Roots } from '../names/roots.js'
import type { DirectoryNode } from '../nodes/node.js'
import type { Pins } from '../pins/pins.js'
import type { DraftFiles } from '../records/draft-files.js'
import type { Tree } from '../tree/tree.js'
import type { WriteSide } from '../write-side.js'
import type { Xattrs } from '../xattrs.js'

export interface ControlParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly content: ContentCache
  /** Where the contents lie. */
  readonly cacheDirectory: string
  readonly identities: Identities
  readonly drafts: DraftFiles
  readonly history: TextHistory
  /** Kept with the drafts. */
  readonly state: Ledger
  /** The mount point of the mount that goes by this mark in the history; undefined where that is not known. */
  readonly mountNamed: (mark: string) => string | undefined
  readonly failureLog: FailureLog
  readonly reports: KnownReports
  readonly xattrs: Xattrs
  /** As for the drive's verbs. */
  readonly shownAgain: (directory: DirectoryNode) => void
  readonly news: Pick<KernelNews, 'tell'>
  readonly writeSide: WriteSide
  readonly deadlines: Deadlines
  /** `check` has the service asked before. */
  readonly status: (check?: boolean) => Promise<Status>
  readonly health: Health
  readonly pins: Pins
  /** The platform's path of a place below `projects/`, given the titles on the way; from memory. */
  readonly servicePath: Roots['servicePath']
  /** What is wrong with the mount's own directories, in sentences. */
  readonly placeTroubles: () => Promise<readonly string[]>
  readonly now: () => Instant
  /** Undefined where the mount shares nothing. */
  readonly fleet: FleetControl | undefined
  readonly watch: WatchControl
}

/** What goes on in the drive, as its owner tells it. */
export interface WatchControl {
  picture(): ActivityPicture
  metrics(): Promise<string>
  health(): HealthLine
  log(after: number): LogLines
}

/** What is asked of a fleet. */
export interface FleetControl {
  report(): Promise<FleetReport>
  clear(): Promise<number>
}
