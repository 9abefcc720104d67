// Parts of the drive, from which the verbs and the control operations take what they need.
import type { ContentCache } from '../cache/content/content.js'
import type { Health } from '../cache/health.js'
import type { Identities } from '../cache/identity.js'
import type { Ledger } from '../cache/ledger/ledger.js'
import type { Catalog } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import type { TextHistory } from '../edit/journal/text-history.js'
import type { Clock } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { FailureLog } from './failure-log.js'
import type { GeneratedTexts } from './generated-texts.js'
import type { Control, Status } from './interface/control.js'
import type { KernelNews, Space } from './interface/verbs.js'
import type { KnownReports } from './names/known-reports.js'
import type { Roots } from './names/roots.js'
import type { Pins } from './pins/pins.js'
import type { Prefetcher } from './prefetch/prefetcher.js'
import type { DraftFiles } from './records/draft-files.js'
import type { ScratchFiles } from './records/scratch-files.js'
import type { Tree } from './tree/tree.js'
import type { WriteSide } from './write-side.js'
import type { Xattrs } from './xattrs.js'

export interface DriveParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly identities: Identities
  readonly content: ContentCache
  readonly times: Times
  readonly generated: GeneratedTexts
  readonly scratch: ScratchFiles
  readonly drafts: DraftFiles
  readonly writeSide: WriteSide
  readonly failureLog: FailureLog
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  readonly news: Pick<KernelNews, 'tell'>
  /** Undefined for what asks side by side by itself. */
  readonly foresight: Prefetcher | undefined
  /** Milliseconds after which each kind of call must have ended; the kernel's waits cannot be interrupted. */
  readonly deadlines: Readonly<Record<'metadata' | 'read' | 'save', number>>
  /** Of the call that is being started. */
  readonly requests: () => RequestContext['requests']
  readonly clock: Clock
}

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
  readonly placeTroubles: () => Promise<readonly string[]>
  /** The activity of the drive, as its owner tells it. */
  readonly watch: Pick<Control, 'activity' | 'metrics' | 'health'>
  /** When an operation that begins now is due. */
  readonly until: Readonly<Record<'metadata' | 'save', () => RequestContext>>
}
