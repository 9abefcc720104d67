// Table of kept files: names, bytes and last uses in the ledger's file, for all daemons of a cache directory; the files alone are the truth.
import type Database from 'libsql'
import { type Instant, instant } from '../../../remote/remote.js'
import type { Ledger } from '../../ledger/ledger.js'
import { patiently } from '../../ledger/table.js'

export interface KeptRow {
  readonly name: string
  /** On disk, proof included. */
  readonly bytes: number
  readonly used: Instant
}

export interface PlacedRow extends KeptRow {
  readonly id: number
}

export interface KeptTotal {
  readonly files: number
  readonly bytes: number
  /** The directory was looked through since the table was made. */
  readonly isCounted: boolean
}

export interface KeptChanges {
  readonly added: Iterable<KeptRow>
  /** Since when: what was used later is kept again, by another daemon. */
  readonly gone: Iterable<readonly [string, Instant]>
  readonly uses: Iterable<readonly [string, Instant]>
}

/** A use that is told so soon after the one before is not written. */
const usedWithinMs = 10_000

/** Rows lie in the order in which files were kept: those that are used together share pages. */
const form = `
CREATE TABLE IF NOT EXISTS kept (id INTEGER PRIMARY KEY, name BLOB NOT NULL UNIQUE, bytes INTEGER NOT NULL, used INTEGER NOT NULL);
CREATE INDEX IF NOT EXISTS kept_used ON kept (used);
CREATE TABLE IF NOT EXISTS kept_total (one INTEGER PRIMARY KEY, files INTEGER, bytes INTEGER, counted INTEGER);
INSERT INTO kept_total SELECT 1, 0, 0, 0 WHERE NOT EXISTS (SELECT * FROM kept_total);
CREATE TRIGGER IF NOT EXISTS kept_more AFTER INSERT ON kept BEGIN
  UPDATE kept_total SET files = files + 1, bytes = bytes + new.bytes; END;
CREATE TRIGGER IF NOT EXISTS kept_less AFTER DELETE ON kept BEGIN
  UPDATE kept_total SET files = files - 1, bytes = bytes - old.bytes; END;`

type Statements = ReturnType<typeof statementsIn>

/** No call throws: without a usable file there are no rows, and nothing is written. */
export class KeptTable {
  private statements: Statements | undefined
  /** The open file that those belong to. */
  private of: Database.Database | undefined

  constructor(private readonly ledger: Ledger) {
    ledger.ask(database => patiently(database, () => this.statementsOf(database)))
  }

  /** In one step; what all come to then, undefined where the disk did not take it. */
  write({ added, gone, uses }: KeptChanges): KeptTotal | undefined {
    return this.ask((by, database) => {
      database.exec('BEGIN IMMEDIATE')
      try {
        const rows = [...added]
        const replaced = rows.map(({ name }) => [name, Number.MAX_SAFE_INTEGER])
        by.remove.run(JSON.stringify([...gone, ...replaced]))
        by.insert.run(JSON.stringify(rows))
        by.use.run(JSON.stringify([...uses]))
        const total = totalIn(by)
        database.exec('COMMIT')
        return total
      } catch (error) {
        if (database.inTransaction) database.exec('ROLLBACK')
        throw error
      }
    })
  }

  total(): KeptTotal | undefined {
    return this.ask(totalIn)
  }

  /** Up to so many, those used longest ago first, behind this one. */
  oldest(after: PlacedRow | undefined, most: number): readonly PlacedRow[] {
    const place = after === undefined ? [-1, 0] : [after.used, after.id]
    const found = this.ask(by => rowsOf(by.oldest.all(...place, most))) ?? []
    return found.map(([id, name, bytes, used]) => ({
      id: Number(id),
      name: String(name),
      bytes: Number(bytes),
      used: instant(Number(used)),
    }))
  }

  /** The room of the files of these names on disk together, and the names that have no row. */
  amountsOf(names: readonly string[]): { readonly bytes: number; readonly missing: readonly string[] } {
    const found = this.ask(by => rowsOf(by.amounts.all(JSON.stringify(names)))) ?? []
    const [[bytes, missing] = [0, JSON.stringify(names)]] = found
    return { bytes: Number(bytes), missing: JSON.parse(String(missing)) }
  }

  /** All of the directory has a row now. */
  counted(): KeptTotal | undefined {
    return this.ask(by => {
      by.counted.run()
      return totalIn(by)
    })
  }

  private ask<Answer>(question: (by: Statements, database: Database.Database) => Answer): Answer | undefined {
    return this.ledger.ask(database => question(this.statementsOf(database), database))
  }

  private statementsOf(database: Database.Database): Statements {
    if (this.statements === undefined || this.of !== database) this.statements = statementsIn(database)
    this.of = database
    return this.statements
  }
}

/** Many rows at once as one JSON text: a call of the binding costs more than what it does with a row. */
function statementsIn(database: Database.Database) {
  database.exec(form)
  const asking = (text: string): Database.Statement => database.prepare(text).raw()
  return {
    total: asking(`SELECT ${number('files')}, ${number('bytes')}, ${number('counted')} FROM kept_total`),
    oldest: asking(
      `SELECT id, lower(hex(name)), ${number('bytes')}, ${number('used')} FROM kept
       WHERE (used, id) > (?, ?) ORDER BY used, id LIMIT ?`,
    ),
    amounts: asking(
      `SELECT coalesce(sum(${number('bytes')}), 0), json_group_array(one.value) FILTER (WHERE kept.id IS NULL)
       FROM json_each(?) AS one LEFT JOIN kept ON name = unhex(one.value)`,
    ),
    remove: database.prepare(
      `DELETE FROM kept WHERE id IN (SELECT kept.id FROM json_each(?) AS one CROSS JOIN kept
       ON name = unhex(one.value ->> 0) WHERE ${number('used')} <= one.value ->> 1)`,
    ),
    insert: database.prepare(
      `INSERT INTO kept (name, bytes, used)
       SELECT unhex(value ->> 'name'), value ->> 'bytes', value ->> 'used' FROM json_each(?)`,
    ),
    use: database.prepare(
      `UPDATE kept SET used = one.value ->> 1 FROM json_each(?) AS one
       WHERE name = unhex(one.value ->> 0) AND used < (one.value ->> 1) - ${usedWithinMs}`,
    ),
    counted: database.prepare(
      'UPDATE kept_total SET (files, bytes, counted) = (SELECT count(*), coalesce(sum(bytes), 0), 1 FROM kept)',
    ),
  }
}

/** In a damaged row it may be a text that is none, which ends the process. */
const number = (column: string): string => `CAST(${column} AS INTEGER)`

const rowsOf = (found: readonly unknown[]): readonly (readonly unknown[])[] =>
  found.filter(row => Array.isArray(row))

function totalIn(by: Statements): KeptTotal {
  const [row = []] = rowsOf(by.total.all())
  return { files: Number(row[0] ?? 0), bytes: Number(row[1] ?? 0), isCounted: row[2] === 1 }
}
