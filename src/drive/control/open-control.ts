// All control operations of one drive.
import type { Control } from '../interface/control.js'
import { openCacheControl } from './cache.js'
import type { ControlParts } from './context.js'
import { openDeleteControl } from './deletes.js'
import { openDraftControl } from './drafts.js'
import { openReportControl } from './reports.js'
import { openPathControl } from './why-refresh.js'

export function openControl(parts: ControlParts): Control {
  const { status } = parts
  return {
    places: () => parts.placeTroubles(),
    status: async ({ check }) => ({ text: await status(check) }),
    ...openPathControl(parts),
    ...openDraftControl(parts),
    ...openReportControl(parts),
    ...openDeleteControl(parts),
    ...openCacheControl(parts),
  }
}
