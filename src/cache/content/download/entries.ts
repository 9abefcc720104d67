// Table of content entries: one `ContentEntry` for each content that was requested and is not open yet.
import type { Content } from '../../../remote/remote.js'
import { ContentEntry, type ContentEntryPorts } from './entry.js'
import { RangeSupport } from './ranges.js'

/** How far a download is, in bytes. */
export interface DownloadProgress {
  readonly content: Content
  readonly arrived: number
  /** Undefined where the service has not told it. */
  readonly length: number | undefined
}

/** Each keeps a file open. */
const restingAtMost = 512
/** So many new entries apart they are counted. */
const countedEvery = 64

export class ContentEntries {
  private readonly all = new Map<string, ContentEntry>()
  private readonly ports: ContentEntryPorts
  private uncounted = 0

  constructor(ports: Omit<ContentEntryPorts, 'ranges' | 'rested'>) {
    // A kept entry is soon of no use: it goes while it is young, which costs the collector least.
    const rested = (entry: ContentEntry): void => {
      if (this.find(entry.name) === entry) this.all.delete(entry.name)
    }
    this.ports = { ...ports, ranges: new RangeSupport(), rested }
  }

  find(name: string): ContentEntry | undefined {
    return this.all.get(name)
  }

  of(content: Content, name: string): ContentEntry {
    const known = this.all.get(name)
    if (known !== undefined) return known
    const entry = new ContentEntry(this.ports, content, name)
    this.all.set(name, entry)
    this.limitResting()
    return entry
  }

  async forget(name: string): Promise<void> {
    const entry = this.all.get(name)
    this.all.delete(name)
    await entry?.stop('the content was forgotten while it was downloaded')
  }

  /** Stops what is abandoned and forgets what is at rest. */
  maintain(): void {
    for (const [name, entry] of this.all) {
      entry.maintain()
      if (entry.atRest) this.all.delete(name)
    }
  }

  async close(): Promise<void> {
    await Promise.all([...this.all.values()].map(entry => entry.stop('the drive is being closed')))
    this.all.clear()
  }

  /** Those under way, the first begun first. */
  progress(): readonly DownloadProgress[] {
    return [...this.all.values()]
      .filter(entry => entry.downloading)
      .map(({ content, arrived, name }) => ({ content, arrived, length: this.ports.versions.length(name) }))
  }

  /** The oldest parts that wait for a reader go first. */
  private limitResting(): void {
    this.uncounted += 1
    if (this.uncounted < countedEvery) return
    this.uncounted = 0
    const resting = [...this.all.values()].filter(entry => entry.busy && !entry.downloading)
    for (const entry of resting.slice(0, Math.max(0, resting.length - restingAtMost))) entry.dropResting()
  }
}
