// Control of the kept contents: their size, clearing, verification.

import type { Control } from '../interface/control.js'
import type { ControlParts } from './context.js'

export function openCacheControl({
  content,
  cacheDirectory,
  pins,
}: ControlParts): Pick<Control, 'cacheInfo' | 'cacheClear' | 'cacheVerify'> {
  return {
    async cacheInfo() {
      // The table may have to be made again.
      await content.maintain()
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
    async cacheVerify() {
      const { checked, dropped, swept } = await content.scrub()
      return { checked, damaged: dropped, swept }
    },
  }
}
