// The command line's questions, all of them, over the parts of one drive.
import type { Control } from './control.js'
import { openCacheControl } from './control-cache.js'
import { openDeleteControl } from './control-deletes.js'
import { openDraftControl } from './control-drafts.js'
import type { ControlParts } from './control-parts.js'
import { openPathControl } from './control-paths.js'
import { openReportControl } from './control-reports.js'

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
