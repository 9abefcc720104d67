// Parts of the drive, from which the verbs take what they need.
import type { ContentCache } from '../cache/content/content.js'
import type { Identities } from '../cache/identity.js'
import type { Catalog } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import type { Clock } from '../remote/clock.js'
import type { RequestContext } from '../remote/remote.js'
import type { FailureLog } from './failure-log.js'
import type { GeneratedTexts } from './generated-texts.js'
import type { KernelNews } from './interface/kernel-news.js'
import type { Space } from './interface/verbs.js'
import type { Prefetcher } from './prefetch/prefetcher.js'
import type { DraftFiles } from './records/draft-files.js'
import type { ScratchFiles } from './records/scratch-files.js'
import type { Removals } from './removal/removals.js'
import type { Tree } from './tree/tree.js'
import type { WriteSide } from './write-side.js'
import type { Xattrs } from './xattrs.js'

/** Milliseconds after which each kind of call must have ended; the kernel's waits cannot be interrupted. */
export interface Deadlines {
  readonly metadata: number
  readonly read: number
  readonly save: number
}

export interface DriveParts {
  readonly tree: Tree
  readonly catalog: Catalog
  readonly identities: Identities
  readonly content: ContentCache
  readonly times: Times
  readonly generated: GeneratedTexts
  readonly scratch: ScratchFiles
  readonly drafts: DraftFiles
  readonly removals: Removals
  readonly writeSide: WriteSide
  readonly failureLog: FailureLog
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  readonly news: Pick<KernelNews, 'tell'>
  readonly foresight: Prefetcher
  readonly deadlines: Deadlines
  /** Of the call that is being started. */
  readonly requests: () => RequestContext['requests']
  readonly clock: Clock
}
