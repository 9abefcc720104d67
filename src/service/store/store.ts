// The embedded database: its private file, one service at a time, its tables, and the few operations that all other files use it with.
import { chmodSync, closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import Database from 'libsql'

/** A value for a `?`. Ids are decimal strings, which a column of integers takes without rounding. */
export type Value = string | number | null

export type Kind = 'user' | 'project' | 'calculation' | 'report' | 'share'

// Names are kept as JSON string literals: SQLite cuts a text at its first NUL, and a name may hold one.
// `held` says which contents a calculation has: what deletes bytes asks it, and no table for itself.
const schema = `
CREATE TABLE IF NOT EXISTS counter (kind TEXT PRIMARY KEY, last INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS user (
  id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE, email TEXT NOT NULL, salt TEXT NOT NULL, hash TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS project (
  id INTEGER PRIMARY KEY, parent INTEGER REFERENCES project ON DELETE CASCADE, owner INTEGER NOT NULL REFERENCES user,
  name TEXT NOT NULL, record TEXT NOT NULL, listing TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS project_in_parent ON project (parent, name);
CREATE INDEX IF NOT EXISTS project_of_owner ON project (owner) WHERE parent IS NULL;
CREATE TABLE IF NOT EXISTS calculation (
  id INTEGER PRIMARY KEY, project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
  name TEXT NOT NULL, record TEXT NOT NULL, listing TEXT NOT NULL);
CREATE INDEX IF NOT EXISTS calculation_in_project ON calculation (project, name);
CREATE TABLE IF NOT EXISTS file (
  calculation INTEGER NOT NULL REFERENCES calculation ON DELETE CASCADE, place INTEGER NOT NULL,
  name TEXT NOT NULL, hash TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (calculation, name));
CREATE INDEX IF NOT EXISTS file_of_content ON file (hash);
CREATE TABLE IF NOT EXISTS generated (
  calculation INTEGER NOT NULL REFERENCES calculation ON DELETE CASCADE, kind TEXT NOT NULL,
  hash TEXT NOT NULL, size INTEGER NOT NULL, PRIMARY KEY (calculation, kind));
CREATE INDEX IF NOT EXISTS generated_of_content ON generated (hash);
CREATE VIEW IF NOT EXISTS held AS
  SELECT calculation, hash FROM file UNION ALL SELECT calculation, hash FROM generated;
CREATE TABLE IF NOT EXISTS share (
  id INTEGER PRIMARY KEY, project INTEGER NOT NULL REFERENCES project ON DELETE CASCADE,
  user INTEGER NOT NULL REFERENCES user, permission TEXT NOT NULL, record TEXT NOT NULL, UNIQUE (project, user));
CREATE TABLE IF NOT EXISTS report_type (id INTEGER PRIMARY KEY, name TEXT NOT NULL, status TEXT NOT NULL);
INSERT OR IGNORE INTO report_type VALUES
  (1, 'Supporting information', 'active'), (2, 'Reaction energy profile', 'active'), (3, 'Reaction Graph', 'active');
CREATE TABLE IF NOT EXISTS report (
  id INTEGER PRIMARY KEY, owner INTEGER NOT NULL REFERENCES user, record TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS report_row (
  report INTEGER NOT NULL REFERENCES report ON DELETE CASCADE, place INTEGER NOT NULL,
  calculation INTEGER NOT NULL REFERENCES calculation ON DELETE CASCADE, title TEXT NOT NULL, PRIMARY KEY (report, place));
CREATE INDEX IF NOT EXISTS report_row_of_calculation ON report_row (calculation);
`

/** Opens the database in `file`, making what is missing. It survives kill -9: SQLite's write-ahead log. */
export function openStore(file: string) {
  const database = new Database(file)
  database.pragma('journal_mode = WAL')
  database.pragma('synchronous = NORMAL')
  database.pragma('foreign_keys = ON')
  database.pragma('busy_timeout = 5000')
  database.exec(schema)
  const prepared = new Map<string, ReturnType<typeof database.prepare<Value[]>>>()
  const statement = (sql: string) => {
    const known = prepared.get(sql)
    if (known !== undefined) return known
    const made = database.prepare<Value[]>(sql)
    prepared.set(sql, made)
    return made
  }
  const first = <Row>(sql: string, ...values: Value[]) => statement(sql).get(...values) as Row | undefined
  const run = (sql: string, ...values: Value[]) => statement(sql).run(...values).changes
  return {
    all: <Row>(sql: string, ...values: Value[]): Row[] => statement(sql).all(...values) as Row[],
    first,
    run,
    /** Everything inside happens, or nothing. */
    together: <Result>(work: () => Result): Result =>
      database.inTransaction ? work() : database.transaction(work).immediate(),
    /** A number never given before to a thing of this kind. */
    nextId(kind: Kind): string {
      for (;;) {
        run('INSERT INTO counter VALUES (?, 1) ON CONFLICT (kind) DO UPDATE SET last = last + 1', kind)
        const last = 'SELECT CAST(last AS TEXT) AS id FROM counter WHERE kind = ?'
        const id = first<{ id: string }>(last, kind)?.id
        if (id === undefined) throw new Error('the counter just written is not there')
        if (first(`SELECT 1 FROM ${kind} WHERE id = ?`, id) === undefined) return id
      }
    },
    close(): void {
      prepared.clear()
      database.close()
    },
  }
}

export type Store = ReturnType<typeof openStore>

/**
 * Makes an empty file of mode 0600 where there is none, and closes an existing one to others. An existing one is not opened:
 * closing it again would release every lock that this process has on it (POSIX).
 */
export function makePrivateFile(file: string): void {
  try {
    closeSync(openSync(file, 'ax', 0o600))
  } catch (thrown) {
    if (!(thrown instanceof Error && 'code' in thrown && thrown.code === 'EEXIST')) throw thrown
    chmodSync(file, 0o600)
  }
}

/** Milliseconds that a service that is just ending needs to release the lock. */
const patience = 1000

/** By SQLite's own lock, which the system releases when a process is killed. @throws Error with a sentence where another service has it */
export function lockData(directory: string) {
  const file = join(directory, 'service.lock')
  makePrivateFile(file)
  const database = new Database(file)
  database.pragma(`busy_timeout = ${patience}`)
  try {
    database.exec('BEGIN EXCLUSIVE')
  } catch (cause) {
    database.close()
    throw new Error(
      `another calcfs serve uses ${directory}; end that one, or give another directory with --data`,
      { cause },
    )
  }
  return {
    release(): void {
      // Closing alone releases the lock only once the binding's object is collected.
      database.exec('ROLLBACK')
      database.close()
    },
  }
}
