// All control operations of one drive.
import type { Control } from '../interface/control.js'
import { openCacheControl } from './cache.js'
import type { ControlParts } from './context.js'
import { openDeleteControl } from './deletes.js'
import { openDraftControl } from './drafts.js'
import { openHistoryControl } from './history.js'
import { openInfoControl } from './info.js'
import { openPinControl } from './pins.js'
import { openReportControl } from './reports.js'
import { openPathControl } from './why-refresh.js'

export function openControl(parts: ControlParts): Control {
  const { status, watch } = parts
  return {
    places: () => parts.placeTroubles(),
    status: ({ check }) => status(check),
    ...openPathControl(parts),
    ...told(parts, openDraftControl(parts)),
    ...told(parts, openReportControl(parts)),
    ...told(parts, openDeleteControl(parts)),
    ...told(parts, openHistoryControl(parts)),
    ...openCacheControl(parts),
    ...openPinControl(parts),
    ...openInfoControl(parts),
    ...watch,
  }
}

/** The same operations; when one ends, the kernel knows of what it has changed. */
function told<Calls extends Partial<Control>>({ news }: ControlParts, calls: Calls): Calls {
  const wrapped = Object.entries(calls).map(([name, call]) => [
    name,
    (asked: never) => (call as (asked: never) => Promise<unknown>)(asked).finally(() => news.tell('all')),
  ])
  return Object.fromEntries(wrapped) as Calls
}
