// One service a data directory: a lock that ends with its process, however that ends.
import { join } from 'node:path'
import Database from 'libsql'
import { makePrivateFile } from './private.js'

export interface Lock {
  release(): void
}

/** Milliseconds in which a service that is just ending lets go. */
const patience = 1000

/**
 * Takes a data directory for this service. SQLite's own lock is used: the system takes it back from a process that was killed.
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
      // Closing alone lets go only once the binding's object is collected.
      database.exec('ROLLBACK')
      database.close()
    },
  }
}
