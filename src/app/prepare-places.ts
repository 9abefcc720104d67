// Prepares calcfs's own directories at the start of a mount or command: made, private, and free of pipes, links and devices.
import { type Dirent, existsSync, readdirSync, statfsSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { OwnDirectories } from '../config/places.js'
import { type SettingName, variableName } from '../config/settings.js'
import { asFailure } from '../failure.js'
import { isMissing } from '../system/error-code.js'
import { clearPlace, type ExpectedKind, makePrivateNow } from '../system/own-file.js'
import { exitCodes, Stop } from '../terminal/exit.js'

/** The directories of an account, and those above them that are of calcfs. */
export interface OwnPlaces {
  readonly places: OwnDirectories
  readonly parents: readonly string[]
}

export type NoteFailure = (sentence: string, about: Record<string, unknown>) => void

const directoriesOf: Readonly<Record<keyof OwnDirectories, readonly string[]>> = {
  cache: ['content', 'content/kept', 'content/unfinished', 'index'],
  state: ['known', 'drafts', 'texts', 'scratch', 'locks', 'unanswered'],
}

/** Makes the directories of an account, private to their owner. @throws Stop, disk errors */
export function prepareDirectories({ places, parents }: OwnPlaces, note: NoteFailure): void {
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

/** Whatever is neither a file nor a directory; what leads to one of calcfs's directories elsewhere stays. Contents, which may be many, are looked at when they are opened. */
function strangersBelow(directory: string, note: NoteFailure): readonly string[] {
  return entriesOf(directory, note).flatMap(entry => {
    const path = join(directory, entry.name)
    if (entry.isDirectory()) return entry.name === 'content' ? [] : strangersBelow(path, note)
    return entry.isFile() || clearsByName(path) || entry.name.includes('.aside-') ? [] : [path]
  })
}

const clearsByName = (path: string): boolean =>
  Object.values(directoriesOf)
    .flat()
    .some(name => path.endsWith(`/${name}`))

/** None of a directory that this user may not read: what is needed of it says so itself. */
function entriesOf(directory: string, note: NoteFailure): readonly Dirent[] {
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
