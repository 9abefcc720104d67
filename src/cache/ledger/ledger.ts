// Ledger: texts and bytes that survive restarts, by namespace and key; in memory at once and in an SQLite file soon after.
import { renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type Database from 'libsql'
import { LRUCache } from 'lru-cache'
import type * as z from 'zod'
import { upTo } from '../../growing-lru.js'
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

/** A durable memory of values, any at all. No call ever throws: without its file it forgets at worst. */
export interface Ledger {
  /** A text; undefined where there is none, or bytes. */
  get(namespace: string, key: string): string | undefined
  getWithTime(namespace: string, key: string): StoredValue<LedgerValue> | undefined
  set(namespace: string, key: string, value: LedgerValue): void
  /** The value stays, and counts as set now. */
  freshen(namespace: string, key: string): void
  /** The value stays, and counts as set no later than then. */
  backdate(namespace: string, key: string, to: Instant): void
  delete(namespace: string, key: string): void
  /** Another number once another process has written, seen within 50 ms: what was read before may be another by now. */
  revision(): number
  /** Every text in a room, in no order that means anything. */
  entries(namespace: string): ReadonlyMap<string, StoredValue>
  /** Asks the open file, in which others keep tables of their own; undefined where it cannot be reached. */
  ask<Answer>(question: (database: Database.Database) => Answer): Answer | undefined
  /** Writes what is not on disk yet; false if the disk would not take it (it stays in memory and is tried again). */
  flush(): boolean
  close(): void
}

export type LogFunction = (sentence: string, about?: Record<string, unknown>) => void

export interface LedgerSettings {
  readonly clock: Clock
  readonly log: LogFunction
}

const flushAfterMs = 200
const reopenAfterMs = 5_000
/** Short values that were read or written a moment ago. */
const rowsAtMost = 8_192
/** Milliseconds for which another process's write may go unseen: looking for one costs as much as reading the value. */
const unseenMs = 50
/** Rows of the file are held in slices, so many milliseconds apart. */
const rowsAtOnce = 500
const rowsEveryMs = 10
/** The keys looked for that are not there. */
const nothing: StoredValue = { value: '', stored: instant(0) }

/**
 * Opens the memory in `directory` (made if missing, 0700). Several processes may share it. A damaged file is moved
 * aside and a new one is begun; without a usable disk everything works from memory until the process ends.
 */
export function openLedger(directory: string, settings: LedgerSettings): Ledger {
  const { clock } = settings
  const path = join(directory, 'ledger.db')
  const namespaces = new Map<string, PendingWrites>()
  let table: LedgerTable | undefined
  let retryAt = instant(0)
  let callOff: (() => void) | undefined
  // Sizes and times are asked for at every stat. Long values are held by the code that asked for them.
  const recent = new LRUCache<string, StoredValue>(upTo(rowsAtMost))
  let seenVersion: number | undefined
  let revisions = 0
  let lookedAt = Number.NEGATIVE_INFINITY

  function reach(isFirst = false): LedgerTable | undefined {
    if (table !== undefined || clock.now() < retryAt) return table
    try {
      makeDirectoriesNow(directory)
      table = openTable(path, isFirst)
      forgetRecent()
      seenVersion = table.version()
      holdRows(table, undefined, 0)
    } catch (error) {
      setback(error)
    }
    return table
  }

  /** Its file was deleted under this process: the next use makes another one, or takes that of another process. */
  function followFile(): void {
    try {
      if (table === undefined || statSync(path, { throwIfNoEntry: false })?.ino === table.inode) return
      settings.log('the file of the ledger was deleted and is made again', { path })
      table.close()
      table = undefined
    } catch (error) {
      setback(error)
    }
  }

  function setback(error: unknown): void {
    const about = { path, error: String(error) }
    if (!isDamage(error)) {
      settings.log('the ledger cannot reach its file and goes on from memory', about)
      if (table === undefined) retryAt = instant(clock.now() + reopenAfterMs)
      return
    }
    settings.log('the ledger was damaged: it is moved aside, and a new one is begun', about)
    const seen = table?.inode
    table?.close()
    table = undefined
    try {
      moveAside(path, seen)
    } catch (refused) {
      settings.log('the damaged ledger cannot be moved aside', { path, error: String(refused) })
      retryAt = instant(clock.now() + reopenAfterMs)
    }
  }

  /** An unreadable value is not remembered; a damaged file is kept beside the new one, and the log says so. */
  function fromDisk<Answer>(ask: (from: LedgerTable) => Answer, otherwise: Answer): Answer {
    const from = reach()
    if (from === undefined) return otherwise
    try {
      return ask(from)
    } catch (error) {
      setback(error)
      return otherwise
    }
  }

  /** A clock that was set back makes it look at once. */
  function revision(): number {
    const time = clock.now()
    if (time < lookedAt || time >= lookedAt + unseenMs) {
      lookedAt = time
      const version = fromDisk(from => from.version(), 0)
      if (version !== seenVersion) forgetRecent()
      seenVersion = version
    }
    return revisions
  }

  /** Short values are held from the start: in slices, so that no call waits for a long table. */
  function holdRows(from: LedgerTable, last: TableRow | undefined, before: number): void {
    if (from !== table) return
    const rows = from.rowsAfter(last, rowsAtOnce)
    for (const { namespace, key, stored } of rows) {
      const name = `${namespace} ${key}`
      const isNewer = recent.has(name) || namespaces.get(namespace)?.has(key) === true
      if (stored !== undefined && isShort(stored) && !isNewer) recent.set(name, stored)
    }
    const held = before + rows.length
    const next = (): void => fromDisk(at => holdRows(at, rows.at(-1), held), undefined)
    if (rows.length === rowsAtOnce && held < rowsAtMost / 2) clock.after(rowsEveryMs, next, 'in-background')
  }

  function forgetRecent(): void {
    recent.clear()
    revisions += 1
  }

  function getWithTime(namespace: string, key: string): StoredValue<LedgerValue> | undefined {
    const change = namespaces.get(namespace)?.get(key)
    if (change === 'deleted') return undefined
    if (change !== undefined && 'value' in change) return change
    const name = `${namespace} ${key}`
    // Values read count until another process has written.
    revision()
    const held = recent.get(name)
    if (held !== undefined) return held === nothing ? undefined : { ...held, ...change }
    const found = fromDisk(from => from.get(namespace, key), undefined)
    if (found === undefined) recent.set(name, nothing)
    else if (isShort(found)) recent.set(name, found)
    return found && { ...found, ...change }
  }

  function put(namespace: string, key: string, change: PendingWrite): void {
    const unwritten = namespaces.get(namespace) ?? new Map<string, PendingWrite>()
    namespaces.set(namespace, unwritten.set(key, change))
    const name = `${namespace} ${key}`
    if (change === 'deleted') recent.set(name, nothing)
    else if (isShort(change)) recent.set(name, change)
    else recent.delete(name)
    callOff ??= clock.after(flushAfterMs, flush, 'in-background')
  }

  function restamp(namespace: string, key: string, stored: Instant): void {
    const change = namespaces.get(namespace)?.get(key)
    if (change === 'deleted') return
    put(namespace, key, { ...change, stored })
  }

  function flush(): boolean {
    callOff?.()
    callOff = undefined
    followFile()
    if (namespaces.size === 0) return true
    const written = fromDisk(to => to.write(namespaces), false)
    if (written) namespaces.clear()
    else callOff = clock.after(reopenAfterMs, flush, 'in-background')
    return written
  }

  reach(true)
  return {
    get(namespace, key) {
      const value = getWithTime(namespace, key)?.value
      return typeof value === 'string' ? value : undefined
    },
    getWithTime,
    set: (namespace, key, value) => put(namespace, key, { value, stored: clock.now() }),
    freshen: (namespace, key) => restamp(namespace, key, clock.now()),
    backdate(namespace, key, to) {
      const remembered = getWithTime(namespace, key)
      if (remembered !== undefined && remembered.stored > to) restamp(namespace, key, to)
    },
    delete: (namespace, key) => put(namespace, key, 'deleted'),
    revision,
    entries(namespace) {
      const all = fromDisk(from => from.all(namespace), new Map<string, StoredValue>())
      for (const [key, change] of namespaces.get(namespace) ?? []) {
        const present = change === 'deleted' ? undefined : { ...all.get(key), ...change }
        if (present !== undefined && isText(present)) all.set(key, present)
        else all.delete(key)
      }
      return all
    },
    ask(question) {
      followFile()
      return fromDisk(at => question(at.database), undefined)
    },
    flush,
    close() {
      flush()
      callOff?.()
      fromDisk(at => at.checkpoint(), undefined)
      table?.close()
      table = undefined
      retryAt = instant(Number.POSITIVE_INFINITY)
    },
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

const isShort = (remembered: Partial<StoredValue<LedgerValue>>): remembered is StoredValue =>
  isText(remembered) && remembered.value.length <= shortValue

/** SQLITE_ERROR is what a sound database with other tables in it says to our statements. */
const isDamage = (error: unknown): boolean =>
  /^SQLITE_(CORRUPT|NOTADB|FORMAT|SCHEMA|ERROR)/.test(codeOf(error) ?? '')

/** Moves the damaged file away with its log, unless another process did so already. */
function moveAside(path: string, seen: number | undefined): void {
  if (seen !== undefined && statSync(path, { throwIfNoEntry: false })?.ino !== seen) return
  renameSync(path, `${path}.damaged`)
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
}
