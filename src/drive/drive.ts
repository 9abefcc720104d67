// The drive: its parts put behind the kernel's verbs, each with the deadline of its kind.
import type { ContentCache } from '../cache/content.js'
import type { Times } from '../cache/times.js'
import { type Ask, type Instant, instant } from '../remote/remote.js'
import { openChanging } from './changing.js'
import type { DraftTexts } from './draft-texts.js'
import type { Foresight } from './foresight.js'
import { openLooking } from './looking.js'
import type { GeneratedNode, RecordNode } from './node.js'
import { openOpenFiles } from './open-files.js'
import { openPlaces } from './places.js'
import type { RecordSource, Records } from './records.js'
import type { Scratch } from './scratch.js'
import type { Shown, ShownTexts } from './shown.js'
import type { Tree } from './tree.js'
import type { Drive, Space } from './verbs.js'
import type { Xattrs } from './xattrs.js'

/** Milliseconds after which each kind of call must have ended; the kernel's waits cannot be interrupted. */
export interface Deadlines {
  readonly metadata: number
  readonly read: number
  readonly save: number
}

export interface DriveParts {
  readonly tree: Tree
  readonly content: ContentCache
  readonly times: Times
  readonly shown: ShownTexts
  readonly records: Records
  readonly scratch: Scratch
  readonly drafts: DraftTexts
  /** The present text of a generated node. */
  readonly produce: (node: GeneratedNode, ask: Ask) => Promise<Shown>
  /** How a record is read and edited. */
  readonly source: (node: RecordNode) => RecordSource
  /** An unsaved text is given up by its name in `.calcfs/drafts/`. */
  readonly giveUp: (name: string) => Promise<void>
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  readonly foresight: Foresight
  readonly readOnly: boolean
  readonly deadlines: Deadlines
  readonly now: () => Instant
}

export function openDrive(parts: DriveParts): Drive {
  const { deadlines, now } = parts
  const within = (milliseconds: number) => (): Ask => ({
    deadline: instant(now() + milliseconds),
    lane: 'user',
  })
  const until = {
    metadata: within(deadlines.metadata),
    read: within(deadlines.read),
    save: within(deadlines.save),
  }
  const places = openPlaces(parts.tree, parts.records)
  return {
    ...openLooking(parts, places, until.metadata),
    ...openOpenFiles(parts, places, until),
    ...openChanging(parts, places, until),
  }
}
