// Table of the ledger in its SQLite file: texts as JSON texts, bytes as they are, written in one transaction.
import { chmodSync, statSync } from 'node:fs'
import Database from 'libsql'
import { type Instant, instant } from '../../remote/remote.js'

export interface StoredValue<Value = string> {
  readonly value: Value
  readonly stored: Instant
}

export interface TableRow {
  readonly namespace: string
  readonly key: string
  readonly stored: StoredValue<LedgerValue> | undefined
}

/** A short text, or bytes that may be many. */
export type LedgerValue = string | Uint8Array

/** It gives way to what another process has set. */
type PendingValue = StoredValue<LedgerValue> & { readonly givesWay?: boolean }
/** A change that is not on disk yet: a value, another time of the value on disk, or that there is none any more. */
export type PendingWrite = PendingValue | { readonly stored: Instant } | 'deleted'
export type PendingWrites = Map<string, PendingWrite>

// Another daemon's transaction lasts milliseconds; this wait holds up the event loop, so it stays short.
const busyMs = 100
/** Where two daemons begin at once, one makes the tables; without them neither knows of the other for seconds. */
const openMs = 1_000
/** Bytes that the log may keep beside the file once they are in it. */
const logBytes = 4 << 20

/** UTF-16 units: a size, a time with the hash of its text, or what tells a thing from another one. */
export const shortValue = 256
/** A value as long as this is held nowhere longer than it must be. */
const longValue = 1 << 16

/** The file, open. Every method throws what SQLite says. */
export type LedgerTable = ReturnType<typeof tableIn>

/** For the start: later a mounted drive waits with it. */
export function patiently<Made>(database: Database.Database, make: () => Made): Made {
  database.pragma(`busy_timeout = ${openMs}`)
  try {
    return make()
  } finally {
    database.pragma(`busy_timeout = ${busyMs}`)
  }
}

/** Opens the file, made if missing (0600). Throws what SQLite says. */
export function openTable(path: string, isFirst: boolean): LedgerTable {
  const database = new Database(path, { timeout: busyMs })
  try {
    return isFirst ? patiently(database, () => tableIn(database, path)) : tableIn(database, path)
  } catch (error) {
    database.close()
    throw error
  }
}

function tableIn(database: Database.Database, path: string) {
  chmodSync(path, 0o600)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.pragma(`journal_size_limit = ${logBytes}`)
  database.exec(
    'CREATE TABLE IF NOT EXISTS memory (room TEXT, key TEXT, value TEXT, stored INTEGER, PRIMARY KEY (room, key)) WITHOUT ROWID',
  )
  const one = database
    .prepare(`SELECT ${plain('value')}, stored FROM memory WHERE room = ? AND key = ?`)
    .raw()
  const time = database.prepare('SELECT stored FROM memory WHERE room = ? AND key = ?').raw()
  const many = database
    .prepare(`SELECT ${plain('key')}, ${plain('value')}, stored FROM memory WHERE room = ?`)
    .raw()
  const rows = database
    .prepare(
      `SELECT ${plain('room')}, ${plain('key')}, CASE WHEN length(value) <= ${shortValue} THEN ${plain('value')} END, stored FROM memory WHERE (room, key) > (?, ?) ORDER BY room, key LIMIT ?`,
    )
    .raw()
  const version = database.prepare('PRAGMA data_version').raw()
  const put = database.prepare('INSERT OR REPLACE INTO memory VALUES (?, ?, ?, ?)')
  const putFirst = database.prepare('INSERT OR IGNORE INTO memory VALUES (?, ?, ?, ?)')
  const putLong = database.prepare('INSERT OR REPLACE INTO memory SELECT ?, ?, ?, ? WHERE ?')
  const stamp = database.prepare('UPDATE memory SET stored = ? WHERE room = ? AND key = ?')
  const drop = database.prepare('DELETE FROM memory WHERE room = ? AND key = ?')

  // The count of the ledgers' writes in the file, as it was read last.
  const count = database.prepare('PRAGMA user_version').raw()
  const numberIn = (row: unknown): number => (Array.isArray(row) ? Number(row[0]) : 0)
  const seen = { version: numberIn(version.get()), count: numberIn(count.get()), revision: 1 }

  function write(namespace: string, key: string, { value, stored, givesWay }: PendingValue): void {
    if (value.length < longValue)
      (givesWay ? putFirst : put).run(namespace, jsonText(key), inColumn(value), stored)
    else {
      putLong.run(namespace, jsonText(key), inColumn(value), stored, 1)
      // A statement holds a copy of what it was given last.
      putLong.run('', '', '', 0, 0)
    }
  }

  function writeRoom(namespace: string, unwritten: PendingWrites): void {
    for (const [key, change] of unwritten) {
      if (change === 'deleted') drop.run(namespace, jsonText(key))
      else if ('value' in change) write(namespace, key, change)
      else stamp.run(change.stored, namespace, jsonText(key))
    }
  }

  return {
    database,
    /** The identity of this file: another process may have moved it aside meanwhile. */
    inode: statSync(path).ino,
    /** Moves when another ledger has written; not where only others' tables in the file changed. */
    version(): number {
      const now = numberIn(version.get())
      if (now === seen.version) return seen.revision
      seen.version = now
      const written = numberIn(count.get())
      if (written !== seen.count) seen.revision += 1
      seen.count = written
      return seen.revision
    },
    get: (namespace: string, key: string): StoredValue<LedgerValue> | undefined =>
      storedValueIn(one.get(namespace, jsonText(key))),
    /** Since when the value counts, 0 where there is none; the value itself, which may be long, is not read. */
    time: (namespace: string, key: string): number => numberIn(time.get(namespace, jsonText(key))),
    /** Up to so many rows behind this one, of all namespaces, in their order; without a value where it is long. */
    rowsAfter(last: TableRow | undefined, most: number): readonly TableRow[] {
      const after = last === undefined ? ['', ''] : [last.namespace, jsonText(last.key)]
      return rows.all(...after, most).flatMap((row: unknown) => {
        if (!Array.isArray(row)) return []
        return [{ namespace: textIn(row[0]), key: fromJsonText(row[1]), stored: storedValueIn(row.slice(2)) }]
      })
    },
    /** Its texts. */
    all(namespace: string): Map<string, StoredValue> {
      const found = new Map<string, StoredValue>()
      for (const row of many.all(namespace)) {
        if (!Array.isArray(row)) continue
        const remembered = storedValueIn(row.slice(1))
        if (remembered !== undefined && isText(remembered)) found.set(fromJsonText(row[0]), remembered)
      }
      return found
    },
    write(rooms: ReadonlyMap<string, PendingWrites>): boolean {
      database.exec('BEGIN IMMEDIATE')
      try {
        for (const [namespace, unwritten] of rooms) writeRoom(namespace, unwritten)
        const before = numberIn(count.get())
        database.exec(`PRAGMA user_version = ${before + 1}`)
        database.exec('COMMIT')
        if (before === seen.count) seen.count += 1
      } catch (error) {
        if (database.inTransaction) database.exec('ROLLBACK')
        throw error
      }
      return true
    },
    /** Moves the log into the file itself: the binding leaves it beside the file when it closes. */
    checkpoint: (): unknown => database.pragma('wal_checkpoint(TRUNCATE)'),
    close: (): unknown => database.close(),
  }
}

/** The binding cuts a text at its first NUL and loses lone surrogates; as JSON texts, both survive. */
const jsonText = (text: string): string => JSON.stringify(text)
const fromJsonText = (hex: unknown): string => String(JSON.parse(textIn(hex)))

/** A column whose text comes in hexadecimal digits: the binding ends the process at damaged UTF-8. */
const plain = (column: string): string =>
  `CASE typeof(${column}) WHEN 'blob' THEN ${column} ELSE hex(${column}) END`
const textIn = (hex: unknown): string => Buffer.from(String(hex), 'hex').toString()

const inColumn = (value: LedgerValue): string | Buffer =>
  typeof value === 'string' ? jsonText(value) : Buffer.from(value.buffer, value.byteOffset, value.length)

function storedValueIn(row: unknown): StoredValue<LedgerValue> | undefined {
  if (!Array.isArray(row)) return undefined
  const [value, stored]: readonly unknown[] = row
  if (typeof stored !== 'number') return undefined
  if (value instanceof Uint8Array) return { value, stored: instant(stored) }
  return typeof value === 'string' ? { value: fromJsonText(value), stored: instant(stored) } : undefined
}

/** True if it is a text and no bytes. */
export const isText = (remembered: Partial<StoredValue<LedgerValue>>): remembered is StoredValue =>
  typeof remembered.value === 'string'
