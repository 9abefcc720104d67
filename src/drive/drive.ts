// The drive: its parts put behind the kernel's verbs, each with the deadline of its kind.
import { type Ask, instant } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import { openOpenFiles } from './file-verbs.js'
import type { Drive } from './interface/verbs.js'
import { openLooking } from './lookup-verbs.js'
import { openChanging } from './namespace-verbs.js'
import { openPlaces } from './tree/path-resolver.js'

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
  const places = openPlaces(parts.tree, {
    isHidden: parts.isHidden,
    hides: parts.removing.hides,
    unlinkedAt: parts.pending.unlinkedAt,
  })
  return {
    ...openLooking(parts, places, until.metadata),
    ...openOpenFiles(parts, places, until),
    ...openChanging(parts, places, until),
  }
}
