// Eviction: all daemons of a cache directory count kept files in one table; beyond the limit the least recently used go.
import { setImmediate } from 'node:timers/promises'
import type { MaybePromise } from '../../../maybe-promise.js'
import type { Clock } from '../../../remote/clock.js'
import type { Instant } from '../../../remote/remote.js'
import type { Ledger, LogFunction } from '../../ledger/ledger.js'
import { type KeptRow, KeptTable, type KeptTotal, type PlacedRow } from './kept-table.js'

export interface LruSettings {
  readonly limitBytes: number
  readonly ledger: Ledger
  readonly clock: Clock
  /** The names of all that any mount has pinned: it stays, whatever else needs room. */
  readonly pinned: () => ReadonlySet<string>
  /** A file that is being read stays. */
  readonly inUse: (name: string) => boolean
  readonly find: (name: string) => KeptRow | undefined
  /** `bytes` is what it takes on disk. Calls `remove` once it is gone. */
  readonly drop: (name: string, bytes: number) => Promise<void>
  readonly isArriving: (name: string) => boolean
  /** Gives up what has come of an unfinished download. */
  readonly dropParts: (name: string) => Promise<void>
  readonly log: LogFunction
}

/** A file larger than the whole limit is kept only while its readers come back within this time. */
const oversizeIdleMs = 60_000
/** A counted file has its name on disk within this time. */
const namedWithinMs = 10_000
/** A kept file is in the table so soon after, or once those that are not are this part of the limit. */
const writtenAfterMs = 1_000
const unwrittenPart = 1 / 64
/** So many names at once: a millisecond. */
const rowsAtOnce = 256
const evictedAtOnce = 64
/** Eviction goes on to below this part, so that it comes seldom. */
const evictedTo = 31 / 32

export class LruIndex {
  private readonly table: KeptTable
  /** Not in the table yet. */
  private readonly added = new Map<string, KeptRow>()
  private readonly gone = new Map<string, Instant>()
  private readonly uses = new Map<string, Instant>()
  private addedBytes = 0
  /** The table took nothing: it is not asked again at every change. */
  private isRefused = false
  /** The bytes of unfinished downloads of this process. */
  private readonly parts = new Map<string, KeptRow>()
  private partsBytes = 0
  /** Files beyond the limit, which drive nothing out, and are not in the table. */
  private readonly oversize = new Map<string, KeptRow>()
  private total: KeptTotal = { files: 0, bytes: 0, isCounted: false }
  private evicting: Promise<unknown> = Promise.resolve()
  private callOff: (() => void) | undefined

  constructor(private readonly settings: LruSettings) {
    this.table = new KeptTable(settings.ledger)
    this.total = this.table.total() ?? this.total
  }

  /** The table knows all that is kept, but for what a daemon that was killed had just written. */
  get isCounted(): boolean {
    return this.total.isCounted
  }

  /** Of kept files, and of what is on its way. */
  amounts(): { readonly files: number; readonly bytes: number } {
    this.flush()
    this.total = this.table.total() ?? this.total
    const files = this.total.files + this.added.size + this.oversize.size
    return { files, bytes: [...this.oversize.values()].reduce((sum, { bytes }) => sum + bytes, this.bytes) }
  }

  /** The room of the files of these names on disk together, and those that are not kept. */
  amountsOf(names: readonly string[]): { readonly bytes: number; readonly missing: readonly string[] } {
    this.flush()
    return this.table.amountsOf(names)
  }

  /** Counts a file that is about to be kept; resolves when others have made room for it. */
  add(name: string, bytes: number): MaybePromise<void> {
    this.endParts(name)
    this.count({ name, bytes, used: this.settings.clock.now() })
    return this.isOver ? this.settle() : undefined
  }

  touch(name: string): void {
    const used = this.settings.clock.now()
    const big = this.oversize.get(name)
    if (big !== undefined) this.oversize.set(name, { ...big, used })
    else if (this.uses.set(name, used).size >= rowsAtOnce) this.flush()
  }

  /** It was gone then: what was added later stays. */
  remove(name: string, since: Instant = this.settings.clock.now()): void {
    this.oversize.delete(name)
    const added = this.added.get(name)
    if (added !== undefined && added.used > since) return
    this.addedBytes -= added?.bytes ?? 0
    this.added.delete(name)
    this.gone.set(name, since)
    this.changed()
  }

  /** A content on its way takes room like a kept one; where it waits for its readers it goes like it, too. */
  countParts(name: string, arrived: number, length = arrived): void {
    // What is larger than the limit drives nothing out.
    const bytes = Math.max(arrived, length) > this.settings.limitBytes ? 0 : arrived
    const before = this.parts.get(name)
    if (before?.bytes === bytes) return
    this.partsBytes += bytes - (before?.bytes ?? 0)
    this.parts.set(name, { name, bytes, used: this.settings.clock.now() })
    // Who waits for the room hears that there is none.
    if (this.isOver) this.settle().catch(() => {})
  }

  endParts(name: string): void {
    this.partsBytes -= this.parts.get(name)?.bytes ?? 0
    this.parts.delete(name)
  }

  /** Drops the least recently used until this many bytes are gone; says whether any are. */
  async evict(bytes: number): Promise<boolean> {
    let before = 0
    await this.inTurn(() => {
      before = this.bytes
      return this.evictTo(before - bytes)
    })
    return this.bytes < before
  }

  /** Drops what is over the limit, one step at a time. */
  settle(): Promise<void> {
    return this.inTurn(async () => {
      if (this.isOver) await this.evictTo(this.settings.limitBytes * evictedTo)
    })
  }

  /** Resolves at once below the limit, else when what is being dropped is gone: nothing new is fetched before. */
  async room(): Promise<void> {
    if (this.isOver) await this.evicting
  }

  /** Writes down uses, and drops files beyond the limit whose use is over. */
  async tend(): Promise<void> {
    this.flush()
    const since = this.settings.clock.now() - oversizeIdleMs
    for (const one of this.oversize.values()) {
      if (one.used >= since || this.settings.inUse(one.name) || this.settings.pinned().has(one.name)) continue
      await this.drop(one)
    }
    await this.settle()
  }

  /** Counts those of the files that have no row: a daemon was killed, or the table was damaged. */
  adopt(names: readonly string[]): void {
    for (const name of this.table.amountsOf(names).missing) {
      const found = this.added.has(name) || this.oversize.has(name) ? undefined : this.settings.find(name)
      if (found !== undefined) this.count(found)
    }
  }

  /** All files have been adopted, so many: rows beyond them have no file, but for those of files that are about to be named. */
  async counted(files: number): Promise<void> {
    this.flush()
    const { table } = this
    const until = this.settings.clock.now() - namedWithinMs
    let rows = this.total.files > files ? table.oldest(undefined, rowsAtOnce) : []
    while (rows.length > 0) {
      for (const { name, used } of rows)
        if (used < until && this.settings.find(name) === undefined) this.remove(name, used)
      rows = table.oldest(rows.at(-1), rowsAtOnce)
      await setImmediate()
    }
    this.flush()
    this.total = table.counted() ?? { ...this.total, isCounted: true }
  }

  close(): void {
    this.write()
    this.callOff?.()
  }

  private get bytes(): number {
    return this.total.bytes + this.addedBytes + this.partsBytes
  }

  /** Others may have as much that is not in the table yet. */
  private get isOver(): boolean {
    return this.bytes > this.settings.limitBytes * (1 - unwrittenPart)
  }

  private count(found: KeptRow): void {
    if (found.bytes > this.settings.limitBytes) return void this.oversize.set(found.name, found)
    this.gone.delete(found.name)
    this.addedBytes += found.bytes - (this.added.get(found.name)?.bytes ?? 0)
    this.added.set(found.name, found)
    this.changed()
  }

  private changed(): void {
    const isMuch = this.addedBytes >= this.settings.limitBytes * unwrittenPart
    if (isMuch || this.added.size + this.gone.size >= rowsAtOnce) this.flush()
    else this.flushSoon()
  }

  private flushSoon(): void {
    this.callOff ??= this.settings.clock.after(writtenAfterMs, () => this.write(), 'in-background')
  }

  private flush(): void {
    if (this.isRefused) this.flushSoon()
    else this.write()
  }

  private write(): void {
    this.callOff?.()
    this.callOff = undefined
    const { added, gone, uses } = this
    if (added.size + gone.size + uses.size === 0) return
    const total = this.table.write({ added: added.values(), gone, uses })
    // Changes that it did not take are written with the next ones, but for uses.
    uses.clear()
    this.isRefused = total === undefined
    if (total === undefined) return void this.flushSoon()
    this.total = total
    added.clear()
    gone.clear()
    this.addedBytes = 0
  }

  private async evictTo(most: number): Promise<void> {
    this.flush()
    let after: PlacedRow | undefined
    for (let isEnd = false; !isEnd && this.bytes > most; ) {
      const rows = this.table.oldest(after, evictedAtOnce)
      isEnd = rows.length < evictedAtOnce
      after = rows.at(-1)
      const until = isEnd ? Number.POSITIVE_INFINITY : (after?.used ?? 0)
      const parts = [...this.parts.values()].filter(({ used }) => used <= until)
      // Those that the disk would not take into the table.
      const others = isEnd ? [...this.added.values()] : []
      const pinned = this.settings.pinned()
      for (const one of [...rows, ...others, ...parts].sort((first, second) => first.used - second.used)) {
        if (this.bytes <= most) break
        await this.evictOne(one, pinned)
      }
      // Where much has to go, calls are answered between.
      await setImmediate()
    }
    this.flush()
  }

  private async evictOne(one: KeptRow, pinned: ReadonlySet<string>): Promise<void> {
    const { name, bytes, used } = one
    if (this.parts.get(name) === one) {
      if (!this.settings.isArriving(name)) await this.settings.dropParts(name)
      return
    }
    // Behind those that may go, so that the next eviction does not look at it again.
    if (pinned.has(name)) return this.touch(name)
    if (this.gone.has(name) || this.settings.inUse(name)) return
    // Another mount's that is not named yet would lie here uncounted.
    if (used >= this.settings.clock.now() - namedWithinMs && this.settings.find(name) === undefined) return
    if (!this.added.has(name)) this.total = { ...this.total, bytes: this.total.bytes - bytes }
    await this.drop(one)
  }

  /** A file that the disk does not give up stays counted, and is tried again when others were. */
  private async drop({ name, bytes }: KeptRow): Promise<void> {
    try {
      await this.settings.drop(name, bytes)
    } catch (error) {
      this.settings.log('a kept file could not be dropped', { name, error: String(error) })
      this.touch(name)
      this.total = this.table.total() ?? this.total
    }
  }

  private inTurn(work: () => Promise<void>): Promise<void> {
    const next = this.evicting.then(work)
    this.evicting = next.catch(() => undefined)
    return next
  }
}
