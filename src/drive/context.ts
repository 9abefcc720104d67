// What the drive is made of; the verbs take from it what they need.
import type { ContentCache } from '../cache/content/content.js'
import type { Health } from '../cache/health.js'
import type { Catalog } from '../cache/metadata/catalog.js'
import type { Times } from '../cache/metadata/times.js'
import type { Failure } from '../failure.js'
import type { Soon } from '../maybe-promise.js'
import type { TextBytes } from '../record/compact/packed-text.js'
import type { Ask, Instant } from '../remote/remote.js'
import type { Space } from './interface/verbs.js'
import type { Making } from './namespace/create-rename.js'
import type { Removing } from './namespace/delete.js'
import type { PendingDeletes } from './namespace/pending-deletes.js'
import type { EditableNode, GeneratedNode } from './nodes/node.js'
import type { Foresight } from './prefetch/prefetcher.js'
import type { DraftTexts } from './records/draft-files.js'
import type { Records } from './records/open-record.js'
import type { Scratch } from './records/scratch-files.js'
import type { RecordSource } from './records/source.js'
import type { Shown, ShownTexts } from './records/text-lease.js'
import type { Rights } from './tree/access.js'
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
  readonly content: ContentCache
  readonly times: Times
  readonly shown: ShownTexts
  /** The texts that calcfs writes itself. */
  readonly generated: ShownTexts<TextBytes>
  readonly health: Pick<Health, 'away' | 'check'>
  readonly records: Records
  readonly scratch: Scratch
  readonly drafts: DraftTexts
  /** The present text of a generated node. */
  readonly produce: (node: GeneratedNode, ask: Ask) => Soon<Shown<TextBytes>>
  /** How a record is read and edited. */
  readonly source: (node: EditableNode) => RecordSource
  /** An unsaved text is given up by its name in `.calcfs/drafts/`. */
  readonly giveUp: (name: string) => Promise<void>
  /** Something succeeded there that began then: what failed before is told no more. */
  readonly doneWell: (path: string, began: Instant) => void
  /** Told what did not come to be, for the path at which somebody will ask. */
  readonly failed: (path: string, failure: Failure) => void
  readonly rights: Rights
  readonly making: Making
  readonly removing: Removing
  readonly pending: PendingDeletes
  /** What was just taken away, or is about to be deleted, by its node's key. */
  readonly isHidden: (key: string) => boolean
  /** A file that may have been taken away a moment ago is made anew: nothing of it is deleted. */
  readonly madeAnew: (node: EditableNode) => Promise<void>
  /** A calculation that waits to be deleted at this path is not deleted; false where none waits. */
  readonly takenBackAt: (path: string, ask: Ask) => Promise<boolean>
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  readonly foresight: Foresight
  readonly deadlines: Deadlines
  readonly now: () => Instant
}
