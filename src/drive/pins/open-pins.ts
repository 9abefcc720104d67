// Pins of a drive, put together: their place on the disk, what looks for what belongs to them, and who fetches it.
import type { Ledger } from '../../cache/ledger/ledger.js'
import { takeLock } from '../../edit/journal/record-lock.js'
import type { KnownParts } from './known-subtree.js'
import { openPinStore } from './pin-store.js'
import { openPinSurvey } from './pin-survey.js'
import { openPinTurns } from './pin-turns.js'
import { openPins, type Pins, type PinsParts } from './pins.js'

/** `state` is kept with the drafts, in the directory of that name. */
export function openPinsOf(
  parts: KnownParts & Pick<PinsParts, 'content' | 'health'> & { readonly state: Ledger },
  settings: Omit<PinsParts, 'store' | 'survey' | 'content' | 'health' | 'takeTurn' | 'turns'> & {
    /** How many background requests may be under way now. */
    readonly room: () => number
    readonly stateDirectory: string
  },
): Pins {
  const turns = openPinTurns(settings.room)
  return openPins({
    ...settings,
    content: parts.content,
    health: parts.health,
    store: openPinStore(parts.state),
    survey: openPinSurvey({ ...parts, turns }),
    turns,
    takeTurn: () => takeLock(settings.stateDirectory, 'pins'),
  })
}
