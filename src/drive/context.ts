// Parts of the drive, from which the verbs take what they need.
import type { ContentCache } from '../cache/content/content.js'
import type { Health } from '../cache/health.js'
import type { Identities } from '../cache/identity.js'
import type { Catalog } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import type { Failure } from '../failure.js'
import type { Clock } from '../remote/clock.js'
import type { Instant, RequestContext } from '../remote/remote.js'
import type { CreateRename } from './create-rename.js'
import type { FailureLog } from './failure-log.js'
import type { GeneratedTexts } from './generated-texts.js'
import type { Space } from './interface/verbs.js'
import type { DirectoryNode, EditableNode, Node } from './nodes/node.js'
import type { Prefetcher } from './prefetch/prefetcher.js'
import type { DraftFiles } from './records/draft-files.js'
import type { Records } from './records/records.js'
import type { ScratchFiles } from './records/scratch-files.js'
import type { RecordSource } from './records/source.js'
import type { Burst } from './removal/burst.js'
import type { Removals } from './removal/removals.js'
import type { AccessRights } from './tree/access.js'
import type { Tree } from './tree/tree.js'
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
  readonly identities: Pick<Identities, 'count'>
  readonly content: ContentCache
  readonly times: Times
  readonly generated: GeneratedTexts
  readonly health: Pick<Health, 'away' | 'check'>
  readonly records: Records
  readonly scratch: ScratchFiles
  readonly drafts: DraftFiles
  /** How a record is read and edited. */
  readonly source: (node: EditableNode) => RecordSource
  /** An unsaved text is given up by its name in `.calcfs/drafts/`. */
  readonly discardDraft: (name: string) => Promise<void>
  /** Something succeeded there that began then: what failed before is told no more. */
  readonly succeeded: (path: string, began: Instant) => void
  /** A program has listed the directory at this path, or read from the file: a failure to look is over. */
  readonly over: FailureLog['over']
  /** Takes a failure that no call returned, for the path at which `calcfs why` will be asked. */
  readonly failed: (verb: 'removing' | 'rename', path: string, failure: Failure) => void
  readonly rights: AccessRights
  readonly createRename: CreateRename
  readonly burst: Burst
  readonly removals: Removals
  /** What was just taken away, or is about to be deleted, by its node's key. */
  readonly isHidden: (node: Node) => boolean
  /** Of the name under which a record was made that record; any other node is itself. */
  readonly meant: (node: EditableNode) => EditableNode
  /** A file that may have been taken away a moment ago is created again: nothing of it is deleted. */
  readonly recreated: (node: EditableNode) => Promise<void>
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  /** What is in this directory may be another thing now: other texts are shown, and the kernel is told of its names. */
  readonly shownAgain: (directory: DirectoryNode) => void
  readonly foresight: Prefetcher
  readonly deadlines: Deadlines
  /** Of the call that is being started. */
  readonly requests: () => RequestContext['requests']
  readonly clock: Clock
}
