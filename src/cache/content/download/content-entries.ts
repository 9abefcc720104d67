// Table of content entries: one `ContentEntry` for each content that was requested and is not open yet.
import type { Content } from '../../../remote/remote.js'
import { type ContentEntry, type ContentEntryPorts, openContentEntry } from './content-entry.js'
import type { DownloadProgress } from './download-lifecycle.js'
import type { RangeSupport } from './range-scheduler.js'

export interface ContentEntries {
  of(content: Content, name: string): ContentEntry
  /** The bytes at once where they came a moment ago, else undefined. */
  readNow(name: string, offset: number, into: Uint8Array): number | undefined
  /** Something of it is under way that needs its file to stay. */
  isBusy(name: string): boolean
  /** A request brings its bytes just now. */
  isComing(name: string): boolean
  /** How much has arrived, from 0 to 1. */
  fraction(name: string): number
  forget(name: string): Promise<void>
  /** Stops what is stalled or abandoned and forgets what is at rest. */
  maintain(): void
  close(): Promise<void>
  readonly downloads: number
  /** Those under way, the first begun first. */
  progress(): readonly (DownloadProgress & { readonly content: Content })[]
}

/** Each keeps a file open. */
const restingAtMost = 512
/** So many new entries apart they are counted. */
const countedEvery = 64

export function openContentEntries(ports: Omit<ContentEntryPorts, 'ranges' | 'rested'>): ContentEntries {
  const all = new Map<string, ContentEntry>()
  const shared = { ...ports, ranges: openRangeSupport() }
  let uncounted = 0

  /** The oldest parts that wait for a reader go first. */
  function limitResting(): void {
    uncounted += 1
    if (uncounted < countedEvery) return
    uncounted = 0
    const resting = [...all.values()].filter(entry => entry.busy && !entry.downloading)
    for (const entry of resting.slice(0, Math.max(0, resting.length - restingAtMost))) entry.dropResting()
  }

  return {
    of(content, name) {
      const known = all.get(name)
      if (known !== undefined) return known
      // What is kept is soon of no use: it goes while it is young, which costs the collector least.
      const rested = (): void => {
        if (all.get(name) === entry) all.delete(name)
      }
      const entry: ContentEntry = openContentEntry({ ...shared, rested }, content, name)
      all.set(name, entry)
      limitResting()
      return entry
    },
    readNow: (name, offset, into) => all.get(name)?.readNow(offset, into),
    isComing: name => all.get(name)?.downloading === true,
    isBusy: name => all.get(name)?.busy === true,
    fraction: name => all.get(name)?.fraction() ?? 0,
    async forget(name) {
      const entry = all.get(name)
      all.delete(name)
      await entry?.stop('the content was forgotten while it was downloaded')
    },
    maintain() {
      for (const [name, entry] of all) {
        entry.maintain()
        if (entry.atRest()) all.delete(name)
      }
    },
    async close() {
      const stopped = [...all.values()].map(entry => entry.stop('the drive is being closed'))
      await Promise.all(stopped)
      all.clear()
    },
    progress: () =>
      [...all.values()].flatMap(({ content, progress }) => {
        const found = progress()
        return found === undefined ? [] : [{ content, ...found }]
      }),
    get downloads() {
      return [...all.values()].filter(entry => entry.downloading).length
    },
  }
}

/** One answer of another kind is an accident: so many in a row are the service's way. */
const refusedOften = 3

/** A service is tried until it answers a Range with the whole several times in a row; that holds for this process. */
function openRangeSupport(): RangeSupport {
  let refusals = 0
  return {
    get possible() {
      return refusals < refusedOften
    },
    refuse() {
      refusals += 1
    },
    honour() {
      refusals = 0
    },
  }
}
