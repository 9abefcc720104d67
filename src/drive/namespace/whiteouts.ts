// Whiteouts: files of a calculation that `rm -r` has unlinked; they count for ten minutes, in memory only, and hide nothing by themselves.
import { LRUCache } from 'lru-cache'
import { upTo } from '../../growing-lru.js'
import type { CalculationId, Instant } from '../../remote/remote.js'
import type { Scope } from './lineage.js'

/** One entry of a calculation's folder, by the key of its node. */
export interface UnlinkedEntry {
  readonly calculation: CalculationId
  readonly key: string
  readonly path: string
  readonly scopes: readonly Scope[]
}

export interface Whiteouts {
  add(entry: UnlinkedEntry): void
  /** It was unlinked, and no listing has shown it since the go ended. */
  has(calculation: CalculationId, key: string): boolean
  /** The folder is listed after the go: what was unlinked in it is seen to be there, and counts for no rmdir any more. */
  shownAgain(calculation: CalculationId): void
  /** False if it did not count as unlinked. */
  remove(calculation: CalculationId, key: string): boolean
  /** Nothing of this calculation counts as unlinked any more. */
  clear(calculation: CalculationId): boolean
  clearIn(scope: Scope | 'all'): void
  /** The last entry was unlinked a moment ago: the rmdir may still come. */
  isUnderWay(calculation: CalculationId): boolean
  /** The folder was listed: what is unlinked next may be the beginning of `rm -r`. */
  listed(calculation: CalculationId): void
  wasListed(calculation: CalculationId): boolean
  /** What was unlinked while its calculation stays. */
  left(): readonly UnlinkedEntry[]
}

const lifeMs = 10 * 60_000
/** Milliseconds without another unlink after which a walk is taken to have ended. */
const underWayMs = 3000
const foldersAtMost = 4096

interface FolderWhiteouts {
  readonly entries: Map<string, UnlinkedEntry & { readonly until: number; counts: boolean }>
  last: Instant
}

export function openWhiteouts(now: () => Instant): Whiteouts {
  const folders = new Map<CalculationId, FolderWhiteouts>()
  const listings = new LRUCache<CalculationId, Instant>(upTo(foldersAtMost))

  function live(calculation: CalculationId): FolderWhiteouts | undefined {
    const folder = folders.get(calculation)
    if (folder === undefined) return undefined
    for (const [key, { until }] of folder.entries) if (until <= now()) folder.entries.delete(key)
    if (folder.entries.size > 0) return folder
    folders.delete(calculation)
    return undefined
  }

  const left = (): readonly UnlinkedEntry[] =>
    [...folders.keys()].flatMap(calculation => [...(live(calculation)?.entries.values() ?? [])])

  return {
    add(entry) {
      const { calculation, key } = entry
      const folder = live(calculation) ?? { entries: new Map(), last: now() }
      folder.entries.set(key, { ...entry, until: now() + lifeMs, counts: true })
      folder.last = now()
      folders.set(calculation, folder)
    },
    has: (calculation, key) => live(calculation)?.entries.get(key)?.counts === true,
    shownAgain(calculation) {
      for (const entry of live(calculation)?.entries.values() ?? []) entry.counts = false
    },
    remove: (calculation, key) => live(calculation)?.entries.delete(key) === true,
    clear: calculation => folders.delete(calculation),
    clearIn(scope) {
      for (const { calculation, scopes } of left())
        if (scope === 'all' || scopes.includes(scope)) folders.delete(calculation)
    },
    isUnderWay(calculation) {
      const folder = live(calculation)
      return folder !== undefined && Math.abs(now() - folder.last) < underWayMs
    },
    listed: calculation => listings.set(calculation, now()),
    wasListed(calculation) {
      const at = listings.get(calculation)
      return at !== undefined && now() - at < lifeMs
    },
    left,
  }
}
