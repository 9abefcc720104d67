// Pin room: which contents of the pins fit into the cache, where an eighth of it stays for what is read beside them.
import type { ContentCache } from '../../cache/content/content-cache.js'
import type { SizedContent } from './pin-fetch.js'

export interface FittingContents {
  readonly chosen: readonly SizedContent[]
  readonly tooMany: readonly SizedContent[]
  /** Why not all of them fit, and what to do. */
  readonly because: string | undefined
}

export interface PinRoom {
  /** What of a pin may be kept beside the others, which are given by the names of their contents. */
  fit(
    key: string,
    all: readonly SizedContent[],
    names: { readonly own: ReadonlySet<string>; readonly others: ReadonlySet<string> },
  ): FittingContents
  forget(key: string): void
}

const partOfPins = 7 / 8

export function openPinRoom(
  cacheBytes: number,
  content: Pick<ContentCache, 'nameOf' | 'keptBytes'>,
): PinRoom {
  const most = cacheBytes * partOfPins
  /** What each pin was allowed last. */
  const allowed = new Map<string, number>()

  /** Of pins that were not looked at yet in this process what is on the disk counts. */
  function bytesOfOthers(key: string, names: ReadonlySet<string>): number {
    let [told, kept] = [0, 0]
    for (const [other, bytes] of allowed) if (other !== key) told += bytes
    for (const name of names) kept += content.keptBytes(name) ?? 0
    return Math.max(told, kept)
  }

  return {
    fit(key, all, { own, others }) {
      const taken = bytesOfOthers(key, others)
      let used = 0
      const chosen: SizedContent[] = []
      const tooMany: SizedContent[] = []
      // What is kept for it goes first, then the order of the paths: no new file pushes an old one out.
      const isOwn = (one: SizedContent): number => Number(own.has(content.nameOf(one.content)))
      for (const one of [...all].sort((first, second) => isOwn(second) - isOwn(first))) {
        const bytes = others.has(content.nameOf(one.content)) ? 0 : one.bytes
        if (taken + used + bytes > most) tooMany.push(one)
        else {
          used += bytes
          chosen.push(one)
        }
      }
      allowed.set(key, used)
      return { chosen, tooMany, because: sentence(tooMany, taken + used) }
    },
    forget: key => void allowed.delete(key),
  }

  function sentence(tooMany: readonly SizedContent[], used: number): string | undefined {
    if (tooMany.length === 0) return undefined
    const bytes = tooMany.reduce((sum, one) => sum + one.bytes, 0)
    const needed = Math.ceil((used + bytes) / partOfPins)
    const files = `${tooMany.length} ${tooMany.length === 1 ? 'file' : 'files'}`
    return `${files} of ${bytes} bytes do not fit, because pins take seven eighths of --cache-size (${cacheBytes}) at most: mount with --cache-size ${needed}, or unpin something`
  }
}
