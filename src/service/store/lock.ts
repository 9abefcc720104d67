// Lock of a data directory: one service at a time; the lock ends with its process in any case.
import { join } from 'node:path'
import Database from 'libsql'
import { makePrivateFile } from './private.js'

export interface Lock {
  release(): void
}

/** Milliseconds that a service that is just ending needs to release the lock. */
const patience = 1000

/**
 * Locks a data directory for this service. SQLite's own lock is used: the system releases it when a process is killed.
 * @throws Error with a sentence where another service has it
 */
export function lockData(directory: string): Lock {
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
    release() {
      // Closing alone releases the lock only once the binding's object is collected.
      database.exec('ROLLBACK')
      database.close()
    },
  }
}
