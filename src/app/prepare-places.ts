// Prepares calcfs's own files and directories at the start of a mount or command: each is valid, or cleared.
import { statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { OwnDirectories } from '../config/places.js'
import { type SettingName, variableName } from '../config/settings.js'
import { asFailure } from '../failure.js'
import { makePrivateNow } from '../system/make-directory.js'
import { networkFileSystem } from '../system/network-filesystem.js'
import {
  clearPlace,
  type ExpectedKind,
  isAside,
  onAside,
  ownFromNowOn,
  rememberAside,
} from '../system/set-aside.js'
import { exitCodes, Stop } from '../terminal/exit.js'

/** The directories of an account, and those above them that are of calcfs. */
export interface OwnPlaces {
  readonly places: OwnDirectories
  readonly parents: readonly string[]
}

export type NoteFailure = (sentence: string, about: Record<string, unknown>) => void

const named: Readonly<Record<ExpectedKind, string>> = { file: 'file', directory: 'directory', either: 'file' }
const ledgerFiles = ['ledger.db', 'ledger.db-wal', 'ledger.db-shm']

/**
 * Makes the directories of an account, private to their owner, and notes what is moved aside from then on: also what
 * comes into the place of one of them, or of one above that is of calcfs. @throws Stop, disk errors
 */
export function prepareDirectories({ places, parents }: OwnPlaces, note: NoteFailure): void {
  onAside((path, aside) =>
    note('something that is not of calcfs stood in the place of one of its files and was moved aside', {
      path,
      aside,
    }),
  )
  const accounts = [places.cache, places.state]
  for (const place of [...parents, ...accounts]) clearing(note)(place, 'directory')
  makeOwn(places.cache, 'cacheDir')
  makeOwn(places.state, 'stateDir')
  ownFromNowOn([...parents, ...accounts])
}

/** @throws Stop where this user may not, the errors of the disk */
function makeOwn(place: string, setting: SettingName): void {
  try {
    makePrivateNow(place)
  } catch (cause) {
    const { kind, message } = asFailure(cause)
    if (kind !== 'disk-read-only') throw cause
    throw new Stop(
      exitCodes.failed,
      `${message}; name a directory that you may write to with ${variableName(setting)}, or let its owner make this one for you (calcfs doctor looks at them).`,
      { cause },
    )
  }
}

/**
 * Locks and the ledger need a local disk; calcfs is often used with a home directory on NFS.
 * @throws Stop
 */
export function refuseNetworkDisk(places: OwnDirectories): void {
  for (const [what, directory] of Object.entries(places)) {
    const network = networkFileSystem(directory)
    if (network === undefined) continue
    throw new Stop(
      exitCodes.usage,
      `${directory} lies on ${network}, where drafts are not safe from two machines at once; name a local directory with CALCFS_${what.toUpperCase()}_DIR.`,
    )
  }
}

/** Clears the few files that a mount opens at once. Kept contents are checked when they are opened. */
export async function clearOwnDirectories(
  { cache, state }: OwnDirectories,
  note: NoteFailure,
): Promise<void> {
  const clear = clearing(note)
  const content = join(cache, 'content')
  const index = join(cache, 'index')
  const known = join(state, 'known')
  const directories = [cache, content, join(content, 'kept'), join(content, 'unfinished'), index]
  const kept = ['known', 'drafts', 'texts', 'scratch', 'locks'].map(name => join(state, name))
  for (const path of [...directories, state, ...kept]) clear(path, 'directory')
  for (const directory of [index, known]) for (const name of ledgerFiles) clear(join(directory, name), 'file')
  for (const directory of [cache, content, index, state, known]) await namesIn(directory)
  const drafts = join(state, 'drafts')
  for (const name of await namesIn(drafts)) {
    clear(join(drafts, name), 'either')
    for (const part of ['text', 'meta.json', 'theirs.json']) clear(join(drafts, name, part), 'file')
  }
}

/** The same for the text history, which may be long. */
export async function clearHistory({ state }: OwnDirectories, note: NoteFailure): Promise<void> {
  const clear = clearing(note)
  const root = join(state, 'texts')
  for (const record of await namesIn(root)) {
    const directory = join(root, record)
    clear(directory, 'directory')
    for (const name of await namesIn(directory)) clear(join(directory, name), 'file')
  }
}

const clearing =
  (note: NoteFailure) =>
  (path: string, due: ExpectedKind): void => {
    try {
      clearPlace(path, due)
    } catch (error) {
      note(`something that is no ${named[due]} of calcfs stands in its place and cannot be moved aside`, {
        path,
        error: String(error),
      })
    }
  }

/** None where the directory does not exist yet; what an earlier mount has moved aside is remembered. */
async function namesIn(directory: string): Promise<readonly string[]> {
  if (!statSync(directory, { throwIfNoEntry: false })?.isDirectory()) return []
  const all = await readdir(directory)
  for (const name of all.filter(isAside)) rememberAside(join(directory, name))
  return all.filter(name => !isAside(name))
}
