// Calcfs's own directories: made private and free of strange things at the start, of one user, and looked at while the mount lives.
import { randomUUID } from 'node:crypto'
import { type Dirent, existsSync, readdirSync, statfsSync } from 'node:fs'
import { rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { adviceFor } from '../advice.js'
import type { Ledger } from '../cache/ledger/ledger.js'
import type { OwnDirectories } from '../config/places.js'
import { type SettingName, variableName } from '../config/settings.js'
import { asFailure, Failure } from '../failure.js'
import type { User } from '../remote/remote.js'
import { codeOf, isMissing } from '../system/error-code.js'
import {
  clearPlace,
  type ExpectedKind,
  keepNameOf,
  makeDirectory,
  makePrivateNow,
  privateFile,
} from '../system/own-file.js'
import { localText } from '../system/time-text.js'
import { exitCodes, Stop } from '../terminal/exit.js'
import type { Account } from './account/account.js'
import type { Note } from './assembly-settings.js'

type Places = Pick<Account, 'places' | 'parents'>

const directoriesOf: Readonly<Record<keyof OwnDirectories, readonly string[]>> = {
  cache: ['content', 'content/kept', 'content/unfinished', 'index'],
  state: ['known', 'drafts', 'texts', 'scratch', 'locks', 'unanswered'],
}

/** Makes the directories of an account, private to their owner. @throws Stop, disk errors */
export function prepareDirectories({ places, parents }: Places, note: Note): void {
  const clear = (path: string, due: ExpectedKind): void => {
    const aside = clearPlace(path, due)
    if (aside !== undefined)
      note('what stood in the place of a file of calcfs was moved aside', { path, aside })
  }
  for (const place of [...parents, places.cache, places.state]) clear(place, 'directory')
  makeOwn(places.cache, 'cacheDir')
  makeOwn(places.state, 'stateDir')
  for (const area of ['cache', 'state'] as const) {
    for (const name of directoriesOf[area]) clear(join(places[area], name), 'directory')
    for (const path of strangersBelow(places[area], note)) clear(path, 'either')
  }
}

/** Entries that are neither files nor directories. Contents, which may be many, are looked at when they are opened. */
function strangersBelow(directory: string, note: Note): readonly string[] {
  return entriesOf(directory, note).flatMap(entry => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return entry.name === 'content' ? [] : strangersBelow(path, note)
    return entry.isFile() || entry.name.includes('.aside-') ? [] : [path]
  })
}

/** None of a directory that this user may not read: what is needed of it says so itself. */
function entriesOf(directory: string, note: Note): readonly Dirent[] {
  try {
    return readdirSync(directory, { withFileTypes: true })
  } catch (thrown) {
    if (!isMissing(thrown)) note('a directory of calcfs cannot be read', { directory, error: String(thrown) })
    return []
  }
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
 * The ledger needs a local disk; calcfs is often used with a home directory on NFS.
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

/** f_type of statfs(2) for file systems that are, or may be, on other machines; from linux/magic.h and the vendors' headers. */
const networkTypes: ReadonlyMap<number, string> = new Map([
  [0x6969, 'NFS'],
  [0x517b, 'SMB'],
  [0xff534d42, 'CIFS'],
  [0xfe534d42, 'SMB2'],
  [0x65735546, 'FUSE'],
  [0x5346414f, 'AFS'],
  [0x0bd00bd0, 'Lustre'],
  [0x47504653, 'GPFS'],
  [0x00c36400, 'Ceph'],
  [0x19830326, 'BeeGFS'],
])

/** The name of the network file system that a directory is on, or will be on once it is made; undefined for a local disk. */
export function networkFileSystem(directory: string): string | undefined {
  return networkTypes.get(statfsSync(nearestThere(directory)).type)
}

/** The directory itself, or its nearest parent that exists. */
export function nearestThere(directory: string): string {
  return existsSync(directory) ? directory : nearestThere(dirname(directory))
}

/** The loss of the user while it cannot be written, and once it was deleted. */
const consequences = {
  state: {
    closed: 'edits fail until it can be',
    deleted: 'unsaved texts of closed files and the history of texts that lay there are gone',
  },
  cache: {
    closed: 'what is read is downloaded again each time until it can be',
    deleted: 'what lay there is downloaded again when it is read',
  },
} as const

/** Sentences about own directories, none where all is well. Directories that were deleted are made again. */
export type DirectoryTroubles = () => Promise<readonly string[]>

export async function watchDirectories(
  { places: { state, cache } }: Pick<Places, 'places'>,
  { note, now }: { note: Note; now: () => number },
): Promise<DirectoryTroubles> {
  const watched = [
    ...[state, join(state, 'drafts'), join(state, 'texts')].map(path => ({ path, of: consequences.state })),
    ...[cache, join(cache, 'content', 'kept')].map(path => ({ path, of: consequences.cache })),
  ]
  const seen = new Map<string, string>()
  const deleted = new Map<string, string>()
  for (const { path } of watched) {
    const identity = await identityOf(path)
    if (identity !== undefined) seen.set(path, identity)
  }

  async function troubleOf({ path, of }: (typeof watched)[number]): Promise<string | undefined> {
    try {
      const before = seen.get(path)
      if ((await identityOf(path)) === undefined) {
        await makeDirectory(path)
        await keepNameOf(path)
      }
      const identity = (await identityOf(path)) ?? ''
      seen.set(path, identity)
      if (before !== undefined && before !== identity) {
        const how = `was deleted while it was in use, and made again (${localText(now())})`
        deleted.set(path, `${path} ${how}: ${of.deleted}.`)
        note('a directory of calcfs was deleted while it was in use, and is made again', { path })
      }
      await probe(path)
      return undefined
    } catch (thrown) {
      const failure = asFailure(thrown)
      // Another fault of a disk is nothing to look for on the platform.
      const advice = failure.kind === 'internal' ? '' : ` ${adviceFor(failure)}`
      return `${path} cannot be written (${codeOf(thrown) ?? thrown}): ${of.closed}.${advice}`
    }
  }

  return async () => {
    const closed = new Map<string, string>()
    for (const one of watched) {
      if ([...closed.keys()].some(path => one.path.startsWith(`${path}/`))) continue
      const trouble = await troubleOf(one)
      if (trouble !== undefined) closed.set(one.path, trouble)
    }
    return [...closed.values(), ...deleted.values()]
  }
}

/** An inode number alone is no identity: ext4 reuses that of a deleted directory. */
async function identityOf(path: string): Promise<string | undefined> {
  try {
    const { ino, birthtimeNs } = await stat(path, { bigint: true })
    return `${ino} ${birthtimeNs}`
  } catch (thrown) {
    if (isMissing(thrown)) return undefined
    throw thrown
  }
}

/** Permissions and mount options do not say it, nor does an empty file: a disk may be full, or be another one than it seems. */
async function probe(directory: string): Promise<void> {
  const path = join(directory, `.probe-${randomUUID()}`)
  try {
    await writeFile(path, 'probe', { mode: privateFile, flag: 'wx' })
  } finally {
    await rm(path, { force: true })
  }
}

const namespace = 'owner'
const key = 'names'

/**
 * Notes the first user of the directories in what is `known` there; names that the service once used for that user remain valid.
 * @param before the user of earlier mounts, by the cache
 * @throws Failure 'unauthenticated' for another user: kept data is not shown, and no draft is sent
 */
export function claimPlaces(
  { places }: Account,
  { known, before }: { readonly known: Pick<Ledger, 'get' | 'set'>; readonly before: User | undefined },
  { candidates }: User,
): void {
  if (candidates.length === 0) return
  const text = known.get(namespace, key)
  const owners = [text === undefined ? [] : namesIn(text), before?.candidates ?? []]
  for (const names of owners) {
    if (names.length === 0 || names.some(name => candidates.includes(name))) continue
    throw new Failure(
      'unauthenticated',
      `the sign-in is that of ${candidates[0]}, but ${places.state} and ${places.cache} hold what ${names[0]} has seen and written; name other directories with CALCFS_STATE_DIR and CALCFS_CACHE_DIR, or sign in as ${names[0]}`,
    )
  }
  known.set(namespace, key, JSON.stringify([...new Set([...owners.flat(), ...candidates])]))
}

function namesIn(text: string): readonly string[] {
  const names: unknown = JSON.parse(text)
  return Array.isArray(names) ? names.map(String) : []
}
