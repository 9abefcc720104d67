// Ledger: texts and bytes that survive restarts, by namespace and key; in memory at once and in an SQLite file soon after.
import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'libsql'
import type * as z from 'zod'
import { RecentMap } from '../../recent-map.js'
import type { Clock } from '../../remote/clock.js'
import { type Instant, instant } from '../../remote/remote.js'
import { codeOf } from '../../system/error-code.js'
import { makeDirectoriesNow } from '../../system/own-file.js'
import {
  isText,
  type LedgerTable,
  type LedgerValue,
  openTable,
  type PendingWrite,
  type PendingWrites,
  type StoredValue,
  shortValue,
  type TableRow,
} from './table.js'

export type LogFunction = (sentence: string, about?: Record<string, unknown>) => void

export interface LedgerSettings {
  readonly clock: Clock
  readonly log: LogFunction
}

const flushAfterMs = 200
const reopenAfterMs = 5_000
/** Short values that were read or written a moment ago. */
const rowsAtMost = 12_288
/** Milliseconds for which another process's write may go unseen: looking for one costs as much as reading the value. */
const unseenMs = 50
/** Rows of the file are held in slices, so many milliseconds apart. */
const rowsAtOnce = 500
const rowsEveryMs = 10
/** A key that is not there, and one whose value is on disk alone, because it is long. */
const nothing: StoredValue = { value: '', stored: instant(0) }
const elsewhere: StoredValue = { ...nothing }

/**
 * A durable memory of values, any at all, in `directory` (made if missing, 0700). Several processes may share it. A damaged
 * file is moved aside and a new one is begun; without a usable disk everything works from memory until the process ends. No
 * call ever throws.
 */
export class Ledger {
  readonly #path: string
  readonly #unwritten = new Map<string, PendingWrites>()
  /** Sizes and times are asked for at every stat. Long values are held by the code that asked for them. */
  readonly #recent = new RecentMap<string, StoredValue>(rowsAtMost, {
    dispose: (_value, _key, reason) => {
      this.#hasForgotten ||= reason === 'evict'
    },
  })
  #table: LedgerTable | undefined
  #retryAt = instant(0)
  #callOff: (() => void) | undefined
  #seenVersion: number | undefined
  #revisions = 0
  #lookedAt = Number.NEGATIVE_INFINITY
  /** Every row of the file was met: a key that is not among the recent ones, of which none was forgotten, is not there. */
  #isAllMet = false
  #hasForgotten = false

  constructor(
    private readonly directory: string,
    private readonly settings: LedgerSettings,
  ) {
    this.#path = join(directory, 'ledger.db')
    this.#reach(true)
  }

  /** A text; undefined where there is none, or bytes. */
  get(namespace: string, key: string): string | undefined {
    const value = this.getWithTime(namespace, key)?.value
    return typeof value === 'string' ? value : undefined
  }

  getWithTime(namespace: string, key: string): StoredValue<LedgerValue> | undefined {
    const change = this.#unwritten.get(namespace)?.get(key)
    if (change === 'deleted') return undefined
    if (change !== undefined && 'value' in change) return change
    const name = `${namespace} ${key}`
    // Values read count until another process has written.
    this.revision()
    const held = this.#recent.get(name) ?? (this.#isAllMet && !this.#hasForgotten ? nothing : undefined)
    if (held === nothing) return undefined
    if (held !== undefined && held !== elsewhere) return { ...held, ...change }
    const kept = this.#fromDisk(from => from.get(namespace, key), undefined)
    const found = kept && { ...kept, ...change }
    this.#recent.set(name, heldOf(found ?? 'deleted'))
    return found
  }

  set(namespace: string, key: string, value: LedgerValue): void {
    this.#put(namespace, key, { value, stored: this.settings.clock.now() })
  }

  /** The same of a key that has none: what another process is about to write of it counts. */
  setFirst(namespace: string, key: string, value: LedgerValue): void {
    const givesWay = this.#unwritten.get(namespace)?.has(key) !== true
    this.#put(namespace, key, { value, stored: this.settings.clock.now(), givesWay })
  }

  /** The value stays, and counts as set now. */
  freshen(namespace: string, key: string): void {
    this.#restamp(namespace, key, this.settings.clock.now())
  }

  /** The value stays, and counts as set no later than then. */
  backdate(namespace: string, key: string, to: Instant): void {
    const change = this.#unwritten.get(namespace)?.get(key)
    const kept = change ?? { stored: this.#fromDisk(from => from.time(namespace, key), 0) }
    if (kept !== 'deleted' && kept.stored > to) this.#restamp(namespace, key, to)
  }

  delete(namespace: string, key: string): void {
    this.#put(namespace, key, 'deleted')
  }

  /**
   * Another number once another process has written, seen within 50 ms: what was read before may be another by now. A clock that
   * was set back makes it look at once.
   */
  revision(): number {
    const time = this.settings.clock.now()
    if (time < this.#lookedAt || time >= this.#lookedAt + unseenMs) {
      this.#lookedAt = time
      const version = this.#fromDisk(from => from.version(), 0)
      if (version !== this.#seenVersion) this.#forgetRecent()
      this.#seenVersion = version
    }
    return this.#revisions
  }

  /** Every text in a room, in no order that means anything. */
  entries(namespace: string): ReadonlyMap<string, StoredValue> {
    const all = this.#fromDisk(from => from.all(namespace), new Map<string, StoredValue>())
    for (const [key, change] of this.#unwritten.get(namespace) ?? []) {
      const present = change === 'deleted' ? undefined : { ...all.get(key), ...change }
      if (present !== undefined && isText(present)) all.set(key, present)
      else all.delete(key)
    }
    return all
  }

  /** Asks the open file, in which others keep tables of their own; undefined where it cannot be reached. */
  ask<Answer>(question: (database: Database.Database) => Answer): Answer | undefined {
    this.#followFile()
    return this.#fromDisk(at => question(at.database), undefined)
  }

  /** Writes what is not on disk yet; false if the disk would not take it (it stays in memory and is tried again). */
  flush(): boolean {
    this.#callOff?.()
    this.#callOff = undefined
    this.#followFile()
    if (this.#unwritten.size === 0) return true
    const written = this.#fromDisk(to => to.write(this.#unwritten), false)
    if (written) this.#unwritten.clear()
    else this.#flushAfter(reopenAfterMs)
    return written
  }

  close(): void {
    this.flush()
    this.#callOff?.()
    this.#fromDisk(at => at.checkpoint(), undefined)
    this.#table?.close()
    this.#table = undefined
    this.#retryAt = instant(Number.POSITIVE_INFINITY)
  }

  #reach(isFirst = false): LedgerTable | undefined {
    if (this.#table !== undefined || this.settings.clock.now() < this.#retryAt) return this.#table
    try {
      makeDirectoriesNow(this.directory)
      this.#table = openTable(this.#path, isFirst)
      this.#forgetRecent()
      this.#seenVersion = this.#table.version()
      // Later, what waits to be written is on no disk, and among the recent values no more.
      if (isFirst) this.#holdRows(this.#table, this.#revisions)
    } catch (error) {
      this.#setback(error)
    }
    return this.#table
  }

  /** Its file was deleted under this process: the next use makes another one, or takes that of another process. */
  #followFile(): void {
    const path = this.#path
    try {
      const table = this.#table
      if (table === undefined || statSync(path, { throwIfNoEntry: false })?.ino === table.inode) return
      this.settings.log('the file of the ledger was deleted and is made again', { path })
      table.close()
      this.#table = undefined
    } catch (error) {
      this.#setback(error)
    }
  }

  #setback(error: unknown): void {
    const path = this.#path
    const { log } = this.settings
    const about = { path, error: String(error) }
    if (!isDamage(error)) {
      log('the ledger cannot reach its file and goes on from memory', about)
      if (this.#table === undefined) this.#rest()
      return
    }
    log('the ledger was damaged: it is moved aside, and a new one is begun', about)
    const seen = this.#table?.inode
    this.#table?.close()
    this.#table = undefined
    try {
      moveAside(path, seen)
    } catch (refused) {
      log('the damaged ledger cannot be moved aside', { path, error: String(refused) })
      this.#rest()
    }
  }

  #rest(): void {
    this.#retryAt = instant(this.settings.clock.now() + reopenAfterMs)
  }

  /** An unreadable value is not remembered; a damaged file is kept beside the new one, and the log says so. */
  #fromDisk<Answer>(ask: (from: LedgerTable) => Answer, otherwise: Answer): Answer {
    const from = this.#reach()
    if (from === undefined) return otherwise
    try {
      return ask(from)
    } catch (error) {
      this.#setback(error)
      return otherwise
    }
  }

  /** Short values are held from the start: in slices, so that no call waits for a long table. */
  #holdRows(from: LedgerTable, since: number, last?: TableRow, before = 0): void {
    if (from !== this.#table) return
    const rows = from.rowsAfter(last, rowsAtOnce)
    for (const { namespace, key, stored } of rows) {
      const name = `${namespace} ${key}`
      const isNewer = this.#recent.has(name) || this.#unwritten.get(namespace)?.has(key) === true
      if (!isNewer) this.#recent.set(name, heldOf(stored ?? {}))
    }
    const held = before + rows.length
    const next = (): void => this.#fromDisk(at => this.#holdRows(at, since, rows.at(-1), held), undefined)
    const isEnd = rows.length < rowsAtOnce
    // Not where another process has written meanwhile.
    this.#isAllMet = isEnd && since === this.#revisions
    if (isEnd || held >= rowsAtMost / 2) return
    this.settings.clock.after(rowsEveryMs, next, 'in-background')
  }

  #forgetRecent(): void {
    this.#recent.clear()
    this.#hasForgotten = false
    this.#isAllMet = false
    this.#revisions += 1
  }

  #put(namespace: string, key: string, change: PendingWrite): void {
    const unwritten = this.#unwritten.get(namespace) ?? new Map<string, PendingWrite>()
    this.#unwritten.set(namespace, unwritten.set(key, change))
    this.#recent.set(`${namespace} ${key}`, heldOf(change))
    if (this.#callOff === undefined) this.#flushAfter(flushAfterMs)
  }

  #restamp(namespace: string, key: string, stored: Instant): void {
    const change = this.#unwritten.get(namespace)?.get(key)
    if (change !== 'deleted') this.#put(namespace, key, { ...change, stored })
  }

  #flushAfter(milliseconds: number): void {
    this.#callOff = this.settings.clock.after(milliseconds, () => this.flush(), 'in-background')
  }
}

/** A text of the ledger in its form; undefined for none, and for what is damaged or of another version of calcfs. */
export function valueIn<Value>(form: z.ZodType<Value>, text: string | undefined): Value | undefined {
  if (text === undefined) return undefined
  try {
    return form.parse(JSON.parse(text))
  } catch {
    return undefined
  }
}

function heldOf(change: Partial<StoredValue<LedgerValue>> | 'deleted'): StoredValue {
  if (change === 'deleted') return nothing
  return isText(change) && change.value.length <= shortValue ? change : elsewhere
}

/** SQLITE_ERROR is what a sound database with other tables in it says to our statements. */
const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|FORMAT|SCHEMA|ERROR)/.test(codeOf(error) ?? '')

/** Moves the damaged file away with its log, unless another process did so already. */
function moveAside(path: string, seen: number | undefined): void {
  if (seen !== undefined && statSync(path, { throwIfNoEntry: false })?.ino !== seen) return
  renameSync(path, `${path}.damaged`)
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
}
