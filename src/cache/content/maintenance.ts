// Maintenance of kept files while no call waits: counting, verifying, writing down uses, stopping abandoned downloads.
import { type Clock, every, sleep } from '../../remote/clock.js'
import { instant } from '../../remote/remote.js'
import type { LogFunction } from '../ledger/ledger.js'
import type { ContentEntries } from './download/entries.js'
import type { BlobStore, StoredFile } from './store/blob-store.js'
import { contentOfParts } from './store/kept-files.js'
import type { LruIndex } from './store/lru.js'

export interface ScrubResult {
  readonly checked: number
  readonly dropped: number
  /** Files of dead processes. */
  readonly swept: number
}

export interface MaintenancePorts {
  readonly store: BlobStore
  readonly lru: LruIndex
  readonly entries: ContentEntries
  /** Drops a file that is not what was kept. */
  readonly discard: (name: string, error: unknown) => Promise<void>
  /** It is not kept any more. */
  readonly drop: (name: string) => Promise<void>
  readonly clock: Clock
  readonly log: LogFunction
}

export interface Maintenance {
  maintain(): Promise<void>
  /** All of them, or those alone that this process has neither kept nor read, for these were proven in passing. */
  scrub(which: 'all' | 'unproven', isMeant: (name: string) => boolean): Promise<ScrubResult>
  /** Tends once more, then never again. */
  close(): Promise<void>
}

const tendEveryMs = 10_000
/** A download that is not read any more is stopped soon. */
const watchEveryMs = 1_000
/** Another daemon's files are counted this often. */
const recountEveryMs = 600_000

/** Begins at once, and comes back every ten seconds. */
export function startMaintenance(ports: MaintenancePorts): Maintenance {
  const { store, lru, clock, log } = ports
  const { now } = clock
  const openedAt = now()
  let recountAt = openedAt
  let recounting: Promise<void> = Promise.resolve()
  let closed = false
  const ends = [
    every(clock, tendEveryMs, tendLogged),
    every(clock, watchEveryMs, () => ports.entries.maintain()),
  ]
  tendLogged()

  /** A counted file that is not there, or not in its length, is not kept any more. */
  async function recount(): Promise<void> {
    await store.sweep()
    const counted = lru.sizes()
    const cut: string[] = []
    const found: StoredFile[] = []
    for await (const one of store.list()) {
      if (closed) return
      found.push(one)
      if ((counted.get(one.name) ?? one.bytes) !== one.bytes) cut.push(one.name)
      counted.delete(one.name)
    }
    for (const name of counted.keys()) if (isLost(name)) await lost(name)
    for (const name of cut) await lookAt(name)
    await lru.adopt(found)
  }

  /** The bytes of an unfinished download are counted, too, and lie elsewhere; a file being written has no name yet. */
  const isLost = (name: string): boolean =>
    contentOfParts(name) === undefined &&
    ports.entries.find(name)?.busy !== true &&
    lru.has(name) &&
    !store.has(name)

  function lost(name: string): Promise<void> {
    lru.remove(name)
    return ports.drop(name)
  }

  /** Of another length it may be another version, of another mount. */
  async function lookAt(name: string): Promise<void> {
    const blob = await store.open(name)
    if (blob === undefined) await lost(name)
    blob?.close()
  }

  async function tend(): Promise<void> {
    ports.entries.maintain()
    if ((store.wasEmptied() || now() >= recountAt) && !closed) {
      recountAt = instant(now() + recountEveryMs)
      recounting = recount().catch(error =>
        log('the kept files could not be counted', { error: String(error) }),
      )
    }
    await recounting
    await lru.settle()
    for (const [name, used] of lru.takeUses()) await store.used(name, used)
  }

  function tendLogged(): void {
    tend().catch(error => log('the content cache could not be tended', { error: String(error) }))
  }

  async function isSound(name: string): Promise<boolean> {
    const blob = await store.open(name)
    if (blob === undefined) return false
    try {
      await blob.verify()
      return true
    } catch (error) {
      await ports.discard(name, error)
      return false
    } finally {
      blob.close()
    }
  }

  async function scrub(which: 'all' | 'unproven', isMeant: (name: string) => boolean): Promise<ScrubResult> {
    const swept = await store.sweep()
    let checked = 0
    let dropped = 0
    for await (const { name, used } of store.list()) {
      if (closed) break
      if (!isMeant(name)) continue
      if (which === 'unproven' && Math.max(used, lru.usedAt(name) ?? 0) >= openedAt) continue
      const began = now()
      checked += 1
      const sound = await isSound(name)
      // As long a rest as the check took: readers have the disk at least half of the time.
      await sleep(clock, Math.max(0, now() - began))
      if (sound) continue
      dropped += 1
      lru.remove(name)
    }
    return { checked, dropped, swept }
  }

  return {
    maintain: tend,
    scrub,
    close() {
      closed = true
      for (const end of ends) end()
      return tend()
    },
  }
}
