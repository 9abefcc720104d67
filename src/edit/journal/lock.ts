// Lock: SQLite's own lock of a file, which the kernel takes back from a process that was killed.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { asFailure, rethrow } from '../../failure.js'
import { codeOf } from '../../system/error-code.js'
import { makeDirectory, privateFile } from '../../system/own-file.js'

/** Takes a lock that one process has at a time; the returned function gives it back. Undefined where another one has it. */
export async function takeLock(stateDirectory: string, name: string): Promise<(() => void) | undefined> {
  const root = join(stateDirectory, 'locks')
  await makeDirectory(root).catch(rethrow)
  const database = await openLock(join(root, `${name}.lock`))
  let isOurs = false
  try {
    isOurs = isTaken(database)
  } finally {
    if (!isOurs) database.close()
  }
  if (!isOurs) return undefined
  return () => {
    // Closing alone lets go only once the binding's object is collected.
    database.exec('ROLLBACK')
    database.close()
  }
}

/** Made beforehand, so that a full disk says so in its own words; no journal is ever written for it. */
async function openLock(path: string): Promise<Database.Database> {
  try {
    await (await open(path, 'a', privateFile)).close()
    const database = new Database(path, { timeout: 0 })
    database.pragma('journal_mode = OFF')
    return database
  } catch (cause) {
    throw asFailure(cause)
  }
}

function isTaken(database: Database.Database): boolean {
  try {
    database.exec('BEGIN IMMEDIATE')
    return true
  } catch (thrown) {
    if (codeOf(thrown)?.startsWith('SQLITE_BUSY')) return false
    throw asFailure(thrown)
  }
}
