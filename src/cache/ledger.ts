// What is remembered over restarts: small texts in rooms, in memory at once and in an SQLite file soon after.
import { chmodSync, mkdirSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'
import { type Instant, instant } from '../remote/remote.js'
import { openRecent } from './recent.js'

/** A value and when it was set. */
export interface Remembered {
  readonly value: string
  readonly stored: Instant
}

/** A durable memory of short texts, any at all. No call ever throws: without its file it forgets at worst. */
export interface Ledger {
  get(room: string, key: string): string | undefined
  getWithTime(room: string, key: string): Remembered | undefined
  set(room: string, key: string, value: string): void
  /** The value stays, and counts as set no later than then. */
  backdate(room: string, key: string, to: Instant): void
  delete(room: string, key: string): void
  /** Everything in a room, in no order that means anything. */
  entries(room: string): ReadonlyMap<string, Remembered>
  /** Writes what is not on disk yet; false if the disk would not take it (it stays in memory and is tried again). */
  flush(): boolean
  close(): void
}

export type Log = (sentence: string, about?: Record<string, unknown>) => void

export interface LedgerSettings {
  readonly now: () => Instant
  readonly log: Log
}

/** `undefined` stands for a deletion that is not on disk yet. */
type Unwritten = Map<string, Remembered | undefined>

const flushAfterMs = 200
const reopenAfterMs = 5_000
// Another daemon's transaction lasts milliseconds; this wait holds up the event loop, so it stays short.
const busyMs = 100
/** UTF-16 units: a size or a time with the hash of its text. */
const shortValue = 80

/**
 * Opens the memory in `directory` (made if missing, 0700). Several processes may share it. A damaged file is moved
 * aside and begun anew; without a usable disk everything works from memory until the process ends.
 */
export function openLedger(directory: string, settings: LedgerSettings): Ledger {
  const path = join(directory, 'ledger.db')
  const rooms = new Map<string, Unwritten>()
  let table: Table | undefined
  let retryAt = instant(0)
  let timer: NodeJS.Timeout | undefined
  // Sizes and times are asked for at every stat. Long values are held by whoever asked for them.
  const recent = openRecent<Remembered>(() => fromDisk(from => from.version(), 0), settings.now)

  function reach(): Table | undefined {
    if (table !== undefined || settings.now() < retryAt) return table
    try {
      mkdirSync(directory, { recursive: true, mode: 0o700 })
      table = openTable(path)
      recent.clear()
    } catch (error) {
      setback(error)
    }
    return table
  }

  function setback(error: unknown): void {
    const about = { path, error: String(error) }
    if (!isDamage(error)) {
      settings.log('the ledger cannot reach its file and goes on from memory', about)
      if (table === undefined) retryAt = instant(settings.now() + reopenAfterMs)
      return
    }
    settings.log('the ledger was damaged: it is moved aside and begun anew', about)
    const seen = table?.inode
    table?.close()
    table = undefined
    try {
      moveAside(path, seen)
    } catch (refused) {
      settings.log('the damaged ledger cannot be moved aside', { path, error: String(refused) })
      retryAt = instant(settings.now() + reopenAfterMs)
    }
  }

  /** What cannot be read is not remembered; a damaged file is kept beside the new one, and the log says so. */
  function fromDisk<Answer>(ask: (from: Table) => Answer, otherwise: Answer): Answer {
    const from = reach()
    if (from === undefined) return otherwise
    try {
      return ask(from)
    } catch (error) {
      setback(error)
      return otherwise
    }
  }

  function getWithTime(room: string, key: string): Remembered | undefined {
    const unwritten = rooms.get(room)
    if (unwritten?.has(key)) return unwritten.get(key)
    const held = recent.get(room, key)
    if (held !== undefined) return held
    const found = fromDisk(from => from.get(room, key), undefined)
    if (found !== undefined && found.value.length <= shortValue) recent.keep(room, key, found)
    return found
  }

  function put(room: string, key: string, remembered: Remembered | undefined): void {
    const unwritten = rooms.get(room) ?? new Map<string, Remembered | undefined>()
    rooms.set(room, unwritten.set(key, remembered))
    if (remembered !== undefined && remembered.value.length <= shortValue) recent.keep(room, key, remembered)
    else recent.drop(room, key)
    timer ??= setTimeout(flush, flushAfterMs).unref()
  }

  function flush(): boolean {
    clearTimeout(timer)
    timer = undefined
    if (rooms.size === 0) return true
    const written = fromDisk(to => to.write(rooms), false)
    if (written) rooms.clear()
    else timer = setTimeout(flush, reopenAfterMs).unref()
    return written
  }

  reach()
  return {
    get: (room, key) => getWithTime(room, key)?.value,
    getWithTime,
    set: (room, key, value) => put(room, key, { value, stored: settings.now() }),
    backdate(room, key, to) {
      const remembered = getWithTime(room, key)
      if (remembered !== undefined && remembered.stored > to) put(room, key, { ...remembered, stored: to })
    },
    delete: (room, key) => put(room, key, undefined),
    entries(room) {
      const all = fromDisk(from => from.all(room), new Map<string, Remembered>())
      for (const [key, remembered] of rooms.get(room) ?? []) {
        if (remembered === undefined) all.delete(key)
        else all.set(key, remembered)
      }
      return all
    },
    flush,
    close() {
      flush()
      clearTimeout(timer)
      fromDisk(at => at.checkpoint(), undefined)
      table?.close()
      table = undefined
      retryAt = instant(Number.POSITIVE_INFINITY)
    },
  }
}

interface Table {
  /** Which file this is: another process may have moved it aside meanwhile. */
  readonly inode: number
  /** Moves when another connection has written. */
  version(): number
  get(room: string, key: string): Remembered | undefined
  all(room: string): Map<string, Remembered>
  write(rooms: ReadonlyMap<string, Unwritten>): boolean
  /** Moves the log into the file itself: the binding leaves it beside the file when it closes. */
  checkpoint(): void
  close(): void
}

function openTable(path: string): Table {
  const database = new Database(path, { timeout: busyMs })
  try {
    return tableIn(database, path)
  } catch (error) {
    database.close()
    throw error
  }
}

function tableIn(database: Database.Database, path: string): Table {
  chmodSync(path, 0o600)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.exec(
    'CREATE TABLE IF NOT EXISTS memory (room TEXT, key TEXT, value TEXT, stored INTEGER, PRIMARY KEY (room, key)) WITHOUT ROWID',
  )
  const one = database.prepare('SELECT value, stored FROM memory WHERE room = ? AND key = ?').raw()
  const many = database.prepare('SELECT key, value, stored FROM memory WHERE room = ?').raw()
  const version = database.prepare('PRAGMA data_version').raw()
  const put = database.prepare('INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?)')
  const drop = database.prepare('DELETE FROM memory WHERE room = ? AND key = ?')

  function writeRoom(room: string, unwritten: Unwritten): void {
    for (const [key, remembered] of unwritten) {
      if (remembered === undefined) drop.run(room, quoted(key))
      else put.run(room, quoted(key), quoted(remembered.value), remembered.stored)
    }
  }

  return {
    inode: statSync(path).ino,
    version() {
      const row: unknown = version.get()
      return Array.isArray(row) ? Number(row[0]) : 0
    },
    get: (room, key) => rememberedIn(one.get(room, quoted(key))),
    all(room) {
      const found = new Map<string, Remembered>()
      for (const row of many.all(room)) {
        if (!Array.isArray(row)) continue
        const remembered = rememberedIn(row.slice(1))
        if (remembered !== undefined) found.set(unquoted(row[0]), remembered)
      }
      return found
    },
    write(rooms) {
      database.exec('BEGIN IMMEDIATE')
      try {
        for (const [room, unwritten] of rooms) writeRoom(room, unwritten)
        database.exec('COMMIT')
      } catch (error) {
        if (database.inTransaction) database.exec('ROLLBACK')
        throw error
      }
      return true
    },
    checkpoint() {
      database.pragma('wal_checkpoint(TRUNCATE)')
    },
    close: () => database.close(),
  }
}

/** The binding cuts a text at its first NUL and loses lone surrogates; as JSON texts, both survive. */
const quoted = (text: string): string => JSON.stringify(text)
const unquoted = (text: unknown): string => String(JSON.parse(String(text)))

function rememberedIn(row: unknown): Remembered | undefined {
  if (!Array.isArray(row)) return undefined
  const [value, stored] = row
  if (typeof value !== 'string' || typeof stored !== 'number') return undefined
  return { value: unquoted(value), stored: instant(stored) }
}

/** SQLITE_ERROR is what a sound database with other tables in it says to our statements. */
function isDamage(error: unknown): boolean {
  if (!(error instanceof Error && 'code' in error)) return false
  return /^SQLITE_(CORRUPT|NOTADB|FORMAT|SCHEMA|ERROR)/.test(String(error.code))
}

/** Moves the damaged file away with its log, unless another process did so already. */
function moveAside(path: string, seen: number | undefined): void {
  if (seen !== undefined && statSync(path, { throwIfNoEntry: false })?.ino !== seen) return
  renameSync(path, `${path}.damaged`)
  for (const end of ['-wal', '-shm']) rmSync(path + end, { force: true })
}
