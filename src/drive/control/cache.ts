// Control of the kept contents: their size, clearing, verification.
import type { Control } from '../interface/control.js'
import type { ControlParts } from './context.js'

export function openCacheControl({
  content,
  cacheDirectory,
}: ControlParts): Pick<Control, 'cacheInfo' | 'cacheClear' | 'cacheVerify'> {
  return {
    async cacheInfo() {
      // Files of earlier days are counted in the background.
      await content.maintain()
      const { files, bytes, limitBytes, downloads } = content.stats()
      return { directory: cacheDirectory, files, bytes, limitBytes, downloads }
    },
    cacheClear: () => content.clear(),
    async cacheVerify() {
      const { checked, dropped, swept } = await content.scrub()
      return { checked, damaged: dropped, swept }
    },
  }
}
