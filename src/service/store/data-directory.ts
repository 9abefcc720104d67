// Data directory of a service: private to its owner (password hashes, unpublished data, the key of the tokens), one service at a time.
import { chmodSync, closeSync, existsSync, mkdirSync, openSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import Database from 'libsql'

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

/** Names that the service itself creates in its directory. */
const own = /^(service\.db(-wal|-shm)?|service\.lock(-journal)?|content|token\.secret)$/

/**
 * Makes a data directory, 0700. An existing one is closed to others if it holds only the service's own files: else it has another
 * use, too, and only those files are closed.
 */
export function makePrivateDirectory(directory: string): void {
  makeDirectory(directory)
  const names = readdirSync(directory)
  if (names.every(name => own.test(name))) chmodSync(directory, 0o700)
  for (const name of names.filter(name => own.test(name))) {
    const place = join(directory, name)
    chmodSync(place, statSync(place).isDirectory() ? 0o700 : 0o600)
  }
}

/** One level at a time: where a parent exists but takes nothing (/proc), Node's recursive mkdir never returns. */
function makeDirectory(directory: string): void {
  const parent = dirname(directory)
  if (!existsSync(parent)) makeDirectory(parent)
  try {
    mkdirSync(directory, { mode: 0o700 })
  } catch (error) {
    if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) throw error
  }
}

/** Milliseconds that a service that is just ending needs to release the lock. */
const patience = 1000

/**
 * Locks a data directory for this service. SQLite's own lock is used: the system releases it when a process is killed.
 * @throws Error with a sentence where another service has it
 */
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

export type Lock = ReturnType<typeof lockData>
