// All control operations of one drive; those of the kept contents stand here.
import { dueIn } from '../../remote/clock.js'
import type { ControlParts } from '../context.js'
import type { Control } from '../interface/control.js'
import { openDeleteControl } from './deletes.js'
import { openDraftControl } from './drafts.js'
import { openHistoryControl } from './history.js'
import { openInfoControl } from './info.js'
import { openPinControl } from './pins.js'
import { openReportControl } from './reports.js'
import { openPathControl } from './why-refresh.js'

export function openControl(given: Omit<ControlParts, 'until'>): Control {
  const { cacheDirectory, clock, content, deadlines, pins, status, watch } = given
  const until = {
    metadata: () => dueIn(deadlines.metadata, clock),
    save: () => dueIn(deadlines.save, clock),
  }
  const parts = { ...given, until }
  return {
    places: () => parts.placeTroubles(),
    status: ({ check }) => status(check),
    ...openPathControl(parts),
    ...told(parts, {
      ...openDraftControl(parts),
      ...openReportControl(parts),
      ...openDeleteControl(parts),
      ...openHistoryControl(parts),
    }),
    ...openPinControl(parts),
    ...openInfoControl(parts),
    ...watch,
    async cacheInfo() {
      // The table may have to be made again.
      await content.maintenance.tend()
      const { files, bytes, limitBytes, downloads } = content.stats()
      return { directory: cacheDirectory, files, bytes, limitBytes, downloads }
    },
    async cacheClear() {
      let pinned = 0
      const gone = await content.clear(name => {
        const isPinned = pins.store.names().has(name)
        if (isPinned) pinned += 1
        return !isPinned
      })
      return { ...gone, pinned }
    },
    cacheVerify: () => content.maintenance.scrub(),
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
