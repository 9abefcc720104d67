// Who may write: one work after another in this process, one process for each draft, and SQLite's lock of a file between processes.
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import Database from 'libsql'
import { asFailure, rethrow } from '../../failure.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { codeOf } from '../../system/error-code.js'
import { makeDirectory, privateFile } from '../../system/own-file.js'
import { processAt } from '../../system/process.js'

/** Work of one name is serial, of different names concurrent. */
export class Turns {
  readonly #last = new Map<string, Promise<void>>()

  /** Begins at once where no work of this name is under way, and ends at once where it waits for nothing. */
  take<Result>(name: string, work: () => Promise<Result>): Promise<Result>
  take<Result>(name: string, work: () => MaybePromise<Result>): MaybePromise<Result>
  take<Result>(name: string, work: () => MaybePromise<Result>): MaybePromise<Result> {
    const before = this.#last.get(name)
    const run = before === undefined ? work() : before.then(work)
    if (!(run instanceof Promise)) return run
    const end = (): void => {
      if (this.#last.get(name) === ended) this.#last.delete(name)
    }
    const ended = run.then(end, end)
    this.#last.set(name, ended)
    return run
  }

  async settled(): Promise<void> {
    await Promise.all(this.#last.values())
  }
}

/** A process, distinguished from a later one with the same number: `started` is equal only for one and the same. */
export interface Owner {
  readonly pid: number
  readonly started: string
}

/** No process: what it owns may be taken. */
export const noOwner: Owner = { pid: 0, started: 'ended' }

export async function thisProcess(): Promise<Owner> {
  const started = (await processAt(process.pid))?.started
  if (started === undefined) throw new Error('this process cannot be found in the list of processes')
  return { pid: process.pid, started }
}

export async function isOwnerAlive(owner: Owner): Promise<boolean> {
  return (await processAt(owner.pid))?.started === owner.started
}

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
