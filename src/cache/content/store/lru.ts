// Eviction: the least recently used kept files go as soon as all together exceed the limit.
import type { MaybePromise } from '../../../maybe-promise.js'
import type { Instant } from '../../../remote/remote.js'
import type { StoredFile } from './blob-store.js'

export interface LruSettings {
  readonly limitBytes: number
  readonly now: () => Instant
  /** A file that is being read stays. */
  readonly inUse: (name: string) => boolean
  /** A file that the user wants kept: it stays, whatever else needs room. */
  readonly isPinned: (name: string) => boolean
  /** `bytes` is what it takes on disk. */
  readonly drop: (name: string, bytes: number) => Promise<void>
}

export interface LruIndex {
  /** Counts a file that is about to be kept, then drops others until all fit. */
  add(found: StoredFile): MaybePromise<void>
  /** Counts files of earlier days and of other processes. */
  adopt(found: readonly StoredFile[]): Promise<void>
  /** Called at every read. */
  touch(name: string): void
  remove(name: string): void
  has(name: string): boolean
  /** The room of each counted file on disk, as of now. */
  sizes(): Map<string, number>
  /** Its room on disk; undefined where it is not kept. */
  bytesOf(name: string): number | undefined
  /** When it was last used; undefined where it is not kept. */
  usedAt(name: string): Instant | undefined
  /** Drops the least recently used until this many bytes are gone; says whether any are. */
  evict(bytes: number): Promise<boolean>
  /** Drops what is over the limit, and files larger than the limit whose use is over. */
  settle(): Promise<void>
  /** Resolves at once below the limit, else when what is being dropped is gone: nothing new is fetched before. */
  room(): Promise<void>
  /** The uses of kept files since the last call that are worth writing down. */
  takeUses(): readonly (readonly [string, Instant])[]
  readonly files: number
  readonly bytes: number
}

/** A file larger than the whole limit is kept only while its readers come back within this time. */
const oversizeIdleMs = 60_000

/** A use of a file that is still arriving is remembered so long, to be written down once it is kept. */
const arrivalMs = 600_000

/** The time of a use on disk may be so much older: a note is a system call, and a copy would take one for each file. */
const notedWithinMs = 60_000

/** With the use that the disk knows of. */
interface KeptFile extends StoredFile {
  readonly noted: Instant
}

/** The order of the map is the order of use: oldest first. Files larger than the limit do not push the others out. */
export function openLruIndex(settings: LruSettings): LruIndex {
  let kept = new Map<string, KeptFile>()
  const oversize = new Set<string>()
  const uses = new Map<string, Instant>()
  /** Removed since the last counting: one that goes on now may have seen them before. */
  const gone = new Set<string>()
  let bytes = 0
  let oversizeBytes = 0
  let evicting: Promise<void> = Promise.resolve()

  const isOversize = (found: StoredFile) => found.bytes > settings.limitBytes

  function count(found: KeptFile): void {
    remove(found.name)
    gone.delete(found.name)
    kept.set(found.name, found)
    if (!isOversize(found)) {
      bytes += found.bytes
      return
    }
    oversize.add(found.name)
    oversizeBytes += found.bytes
  }

  function remove(name: string): void {
    const found = kept.get(name)
    if (found === undefined) return
    gone.add(name)
    kept.delete(name)
    if (oversize.delete(name)) oversizeBytes -= found.bytes
    else bytes -= found.bytes
  }

  async function evict(found: StoredFile): Promise<void> {
    remove(found.name)
    await settings.drop(found.name, found.bytes)
  }

  async function evictUntil(enough: () => boolean): Promise<void> {
    let unseen = kept.size
    for (const found of kept.values()) {
      if (enough() || unseen === 0) return
      unseen -= 1
      if (settings.isPinned(found.name)) {
        // Behind those that may go, so that the next eviction does not look at it again.
        kept.delete(found.name)
        kept.set(found.name, found)
        continue
      }
      if (oversize.has(found.name) || settings.inUse(found.name)) continue
      await evict(found)
    }
  }

  const mustStay = (name: string): boolean => settings.inUse(name) || settings.isPinned(name)

  async function evictOversize(): Promise<void> {
    const since = settings.now() - oversizeIdleMs
    for (const name of oversize) {
      const found = kept.get(name)
      if (found !== undefined && found.used < since && !mustStay(name)) await evict(found)
    }
  }

  /** One eviction at a time, so that two of them never drop twice what one would. */
  function settle(): Promise<void> {
    const next = evicting.then(async () => {
      await evictOversize()
      await evictUntil(() => bytes <= settings.limitBytes)
    })
    evicting = next.catch(() => undefined)
    return next
  }

  return {
    add(found) {
      count({ ...found, noted: found.used })
      return bytes <= settings.limitBytes && oversize.size === 0 ? undefined : settle()
    },
    adopt(found) {
      for (const one of found) {
        if (!kept.has(one.name) && !gone.has(one.name))
          count({ ...one, used: uses.get(one.name) ?? one.used, noted: one.used })
      }
      gone.clear()
      kept = new Map([...kept].sort(([, one], [, other]) => one.used - other.used))
      return settle()
    },
    touch(name) {
      const used = settings.now()
      uses.set(name, used)
      const found = kept.get(name)
      if (found === undefined) return
      kept.delete(name)
      kept.set(name, { name, bytes: found.bytes, used, noted: found.noted })
    },
    remove,
    has: name => kept.has(name),
    sizes: () => new Map([...kept].map(([name, found]) => [name, found.bytes])),
    bytesOf: name => kept.get(name)?.bytes,
    usedAt: name => kept.get(name)?.used,
    async evict(wanted) {
      const before = bytes
      await evictUntil(() => bytes <= before - wanted)
      return bytes < before
    },
    settle,
    room: () => (bytes <= settings.limitBytes ? Promise.resolve() : evicting),
    takeUses() {
      const taken: (readonly [string, Instant])[] = []
      const since = settings.now() - arrivalMs
      for (const [name, used] of uses) {
        const found = kept.get(name)
        if (found !== undefined || used < since) uses.delete(name)
        if (found === undefined || Math.abs(used - found.noted) < notedWithinMs) continue
        taken.push([name, used])
        // In its place: the order of the map is the order of use.
        kept.set(name, { ...found, noted: used })
      }
      return taken
    },
    get files() {
      return kept.size
    },
    get bytes() {
      return bytes + oversizeBytes
    },
  }
}
