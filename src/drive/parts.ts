// What the drive is made of; the verbs take from it what they need.
import type { Catalog } from '../cache/catalog.js'
import type { ContentCache } from '../cache/content.js'
import type { Health } from '../cache/health.js'
import type { Times } from '../cache/times.js'
import type { Failure } from '../failure.js'
import type { TextBytes } from '../record/packed-text.js'
import type { Ask, Instant } from '../remote/remote.js'
import type { Soon } from '../soon.js'
import type { Rights } from './access.js'
import type { DraftTexts } from './draft-texts.js'
import type { Foresight } from './foresight.js'
import type { Making } from './making.js'
import type { EditableNode, GeneratedNode } from './node.js'
import type { PendingDeletes } from './pending-deletes.js'
import type { RecordSource } from './record-source.js'
import type { Records } from './records.js'
import type { Removing } from './removing.js'
import type { Scratch } from './scratch.js'
import type { Shown, ShownTexts } from './shown.js'
import type { Tree } from './tree.js'
import type { Space } from './verbs.js'
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
