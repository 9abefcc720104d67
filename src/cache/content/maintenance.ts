// Maintenance of kept files while no call waits: counting, verifying, writing down uses, stopping abandoned downloads.
import { setImmediate } from 'node:timers/promises'
import { SingleFlight } from '../../maybe-promise.js'
import { type Clock, every, sleep } from '../../remote/clock.js'
import type { LogFunction } from '../ledger/ledger.js'
import type { ContentEntries } from './download/entries.js'
import type { BlobStore } from './store/blob-store.js'
import type { LruIndex } from './store/lru.js'

interface MaintenancePorts {
  readonly store: BlobStore
  readonly lru: LruIndex
  readonly entries: ContentEntries
  /** Drops a file that is not what was kept. */
  readonly discard: (name: string, error: unknown) => Promise<void>
  readonly clock: Clock
  readonly log: LogFunction
}

const tendEveryMs = 10_000
/** A download that is not read any more is stopped soon. */
const watchEveryMs = 1_000
const countedAtOnce = 256

/** Begins at once, and comes back every ten seconds. */
export class Maintenance {
  private isClosed = false
  private readonly tending = new SingleFlight<void>()
  private rounds = 0
  private readonly sweeping: Promise<unknown>
  private readonly ends: readonly (() => void)[]

  constructor(private readonly ports: MaintenancePorts) {
    const { store, entries, clock, log } = ports
    const tendLogged = (): void =>
      void this.tend().catch(error => log('the content cache could not be tended', { error: String(error) }))
    this.sweeping = store
      .sweep()
      .catch(error => log('what dead processes left was not removed', { error: String(error) }))
    this.ends = [every(clock, tendEveryMs, tendLogged), every(clock, watchEveryMs, () => entries.maintain())]
    tendLogged()
  }

  /** Stops abandoned downloads, drops what is over the limit, writes uses down. */
  tend(): Promise<void> {
    return this.tending.ask(async () => {
      const { entries, lru } = this.ports
      entries.maintain()
      // In the second round for a daemon that was killed: the first programs do not wait for it.
      if (!this.isClosed && (!lru.isCounted || ++this.rounds === 2)) await this.count()
      await lru.tend()
      await this.sweeping
    })
  }

  /** Checks kept files against their proofs and drops damaged ones; removes what dead processes left. */
  async scrub() {
    const { store, clock } = this.ports
    const swept = await store.sweep()
    let [checked, damaged] = [0, 0]
    for await (const name of store.names()) {
      if (this.isClosed) break
      const began = clock.now()
      checked += 1
      const sound = await this.isSound(name)
      // As long a rest as the check took: readers have the disk at least half of the time.
      await sleep(clock, Math.max(0, clock.now() - began))
      if (!sound) damaged += 1
    }
    return { checked, damaged, swept }
  }

  /** Tends once more, then never again. */
  async close(): Promise<void> {
    this.isClosed = true
    for (const end of this.ends) end()
    await this.tend().catch(() => {})
    await this.tend()
    this.ports.lru.close()
  }

  /** Finds the files that are not in the table, and the rows that have no file. */
  private async count(): Promise<void> {
    const { store, lru } = this.ports
    let files = 0
    let names: string[] = []
    for await (const name of store.names()) {
      files += 1
      if (names.push(name) < countedAtOnce) continue
      lru.adopt(names)
      names = []
      await setImmediate()
      if (this.isClosed) return
    }
    lru.adopt(names)
    await lru.counted(files)
  }

  private async isSound(name: string): Promise<boolean> {
    const { store, discard } = this.ports
    // It has gone since it was listed.
    if (!store.has(name)) return true
    const blob = store.open(name)
    if (blob === undefined) return false
    try {
      await blob.verify()
      return true
    } catch (error) {
      await discard(name, error)
      return false
    } finally {
      blob.close()
    }
  }
}
