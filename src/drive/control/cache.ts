// Control of the kept contents: their size, clearing, verification, of all or of what lies below a path.

import { dueIn } from '../../remote/clock.js'
import type { Control } from '../interface/control.js'
import { knownSubtree } from '../pins/subtree.js'
import type { ControlParts } from './context.js'
import { nodeAt } from './path-node.js'

export function openCacheControl(
  parts: ControlParts,
): Pick<Control, 'cacheInfo' | 'cacheClear' | 'cacheVerify'> {
  const { content, cacheDirectory, pins, tree } = parts

  /** The chosen contents, by name: all without a path, else those that are known to lie there. */
  async function meantAt(given: string | undefined): Promise<(name: string) => boolean> {
    if (given === undefined) return () => true
    const found = await nodeAt(tree, given, dueIn(parts.deadlines.metadata, parts))
    const { dialect } = parts.writeSide.ports
    const { contents } = await knownSubtree(found, { ...parts, dialect })
    const names = new Set(contents.map(one => content.nameOf(one.content)))
    return name => names.has(name)
  }

  return {
    async cacheInfo() {
      // The table may have to be made again.
      await content.maintain()
      const { files, bytes, limitBytes, downloads } = content.stats()
      return { directory: cacheDirectory, files, bytes, limitBytes, downloads }
    },
    async cacheClear({ path, pinned = false }) {
      const isMeant = await meantAt(path)
      let kept = 0
      const gone = await content.clear(name => {
        if (!isMeant(name)) return false
        if (pinned || !pins.members.keepsContent(name)) return true
        kept += 1
        return false
      })
      return { ...gone, pinned: kept }
    },
    async cacheVerify({ path }) {
      const { checked, dropped, swept } = await content.scrub(await meantAt(path))
      return { checked, damaged: dropped, swept }
    },
  }
}
