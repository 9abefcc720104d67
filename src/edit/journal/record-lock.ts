// Record lock: one save of a record at a time across the processes of a state directory, from its read to its re-read.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { asFailure, Failure, rethrow } from '../../failure.js'
import { type Clock, sleep } from '../../remote/clock.js'
import type { RequestContext } from '../../remote/remote.js'
import { makeDirectory, privateFile } from '../../system/atomic-file.js'
import { codeOf } from '../../system/error-code.js'
import { keyName, type RecordKey, savedKeyOf } from './record-key.js'

/**
 * Does the work while this process has the record's lock.
 * @throws Failure 'busy' where another process keeps it for half of the time there is
 */
export type LockRecord = <Result>(
  key: RecordKey,
  context: RequestContext,
  work: () => Promise<Result>,
) => Promise<Result>

/** For a state directory that only one process uses. */
export const lockNothing: LockRecord = (_key, _ask, work) => work()

/** Milliseconds between two looks whether the lock is free. */
const pause = 15

/**
 * SQLite's own lock of a file per record: the kernel takes it back from a process that was killed, so that there is no
 * stale one to be told from a slow one.
 */
export function openRecordLocks(stateDirectory: string, clock: Clock): LockRecord {
  const root = join(stateDirectory, 'locks')

  async function taken(database: Database.Database, until: number): Promise<void> {
    while (!isTaken(database)) {
      if (clock.now() >= until) throw busy()
      await sleep(clock, pause)
    }
  }

  return async (key, context, work) => {
    await makeDirectory(root).catch(rethrow)
    const database = await openLock(join(root, `${keyName(savedKeyOf(key))}.lock`))
    try {
      const until = clock.now() + Math.max(0, context.deadline - clock.now()) / 2
      await taken(database, until)
      try {
        return await work()
      } finally {
        // Closing alone lets go only once the binding's object is collected.
        database.exec('ROLLBACK')
      }
    } finally {
      database.close()
    }
  }
}

/** Takes a lock that one process of a state directory has at a time; the returned function gives it back. Undefined where another one has it. */
export async function takeLock(stateDirectory: string, name: string): Promise<(() => void) | undefined> {
  const root = join(stateDirectory, 'locks')
  await makeDirectory(root).catch(rethrow)
  const database = await openLock(join(root, `${name}.lock`))
  if (!isTaken(database)) {
    database.close()
    return undefined
  }
  return () => {
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

function busy(): Failure {
  return new Failure('busy', 'another mount is saving this record, and has not ended; save it again')
}
