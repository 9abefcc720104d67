// One file of a copy: whether it is there already, whether it may be replaced, and how it comes to its place.
import { dirname } from 'node:path'
import type { DriveEntry, DriveReader } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import { chain } from '../../maybe-promise.js'
import { openAside } from './file-aside.js'
import { inTheWay, openStanding, type StandingFile, setTime, standing } from './local-target.js'

export interface FileRules {
  /** Bytes are compared, although size and time are the same. */
  readonly checksum: boolean
  /** What differs is replaced, whatever its time, and nothing of it is kept. */
  readonly overwrite: boolean
}

/** What became of a file. */
export type FileOutcome =
  | { readonly was: 'copied'; readonly replaced?: string | undefined }
  /** It was there. */
  | { readonly was: 'same' }

export interface FileCopyPorts {
  readonly reader: DriveReader
  readonly rules: FileRules
  readonly signal: AbortSignal
  /** Bytes that have arrived; less than 0 where they turned out to be of no use. */
  readonly counted: (bytes: number) => void
  /** The local files that this copy has met or made, by inode: which path of the drive each is the copy of. */
  readonly copiedFrom: Map<number, string>
}

/** A local time counts as the same within so many milliseconds; within two seconds where the file system keeps no parts of seconds. */
const sameWithinMs = 1
const coarseMs = 2_000
/** A file that changes while it is read, here or there, is read again so often. */
const triesAtMost = 3

/**
 * Brings one file to its place. What is there and the same stays. What differs is replaced as `rsync -u -b` does: where
 * the drive's is newer, and the one of before is kept under a numbered name.
 * @throws Failure 'exists' where a local change would be lost, or something else stands there
 */
export async function copyFile(
  entry: DriveEntry,
  target: string,
  ports: FileCopyPorts,
): Promise<FileOutcome> {
  for (let tries = 1; ; tries += 1) {
    try {
      // What changed meanwhile is another file than the walk has found.
      return await copyOnce(tries === 1 ? entry : { ...entry, kept: undefined }, target, ports)
    } catch (thrown) {
      const hasChanged = thrown instanceof Failure && thrown.kind === 'replaced'
      if (!hasChanged || tries === triesAtMost) throw thrown
    }
  }
}

async function copyOnce(entry: DriveEntry, target: string, ports: FileCopyPorts): Promise<FileOutcome> {
  const { rules } = ports
  const before = await standing(target)
  if (before === undefined) {
    await fetch(entry, target, { seen: undefined, keeps: false }, ports)
    return { was: 'copied' }
  }
  if (before.is !== 'file') throw inTheWay(target, before)
  refuseTwin(entry, target, before, ports)
  if (await isSame(entry, target, before, ports)) return { was: 'same' }
  if (!rules.overwrite && before.mtimeMs > (entry.mtime ?? 0))
    throw new Failure(
      'exists',
      `${target}: it was changed here after the drive's, and is not replaced; move it away, or take the drive's with --overwrite`,
    )
  const kept = await fetch(entry, target, { seen: before, keeps: !rules.overwrite }, ports)
  return { was: 'copied', replaced: kept }
}

/**
 * Of names that differ in case or Unicode form alone some file systems make one: the second file must not take the place of the first.
 * A file of several names is no sign of that: a program may have linked equal files to each other.
 */
function refuseTwin(
  { path }: DriveEntry,
  target: string,
  { inode, links }: StandingFile,
  { copiedFrom }: FileCopyPorts,
): void {
  const other = copiedFrom.get(inode)
  if (other === undefined) copiedFrom.set(inode, path)
  else if (other !== path && links === 1)
    throw new Failure(
      'exists',
      `${target}: this file system does not tell it from the copy of ${other}; copy it alone, with --as`,
    )
}

async function isSame(
  entry: DriveEntry,
  target: string,
  before: StandingFile,
  ports: FileCopyPorts,
): Promise<boolean> {
  if (before.size !== entry.size) return false
  const isSameTime = sameTime(before.mtimeMs, entry.mtime ?? 0)
  if (isSameTime && !ports.rules.checksum) return true
  if (!(await hasSameBytes(entry, target, ports))) return false
  if (!isSameTime && entry.mtime !== undefined) setTime(target, entry.mtime)
  return true
}

const sameTime = (local: number, drives: number): boolean =>
  Math.abs(local - drives) <= (local % 1000 === 0 ? coarseMs : sameWithinMs)

async function hasSameBytes({ path }: DriveEntry, target: string, ports: FileCopyPorts): Promise<boolean> {
  const file = await openStanding(target)
  try {
    let offset = 0
    let isEqual = true
    await ports.reader.file(
      path,
      async bytes => {
        ports.counted(bytes.length)
        if (!isEqual) return
        const { bytesRead, buffer } = await file.read(
          Buffer.allocUnsafe(bytes.length),
          0,
          bytes.length,
          offset,
        )
        offset += bytes.length
        isEqual = buffer.subarray(0, bytesRead).equals(bytes)
      },
      ports.signal,
    )
    // The drive's may have become shorter since it was listed.
    return isEqual && offset === (await file.stat()).size
  } finally {
    await file.close()
  }
}

/** Answers the name under which what stood there is kept. */
async function fetch(
  entry: DriveEntry,
  target: string,
  place: { readonly seen: StandingFile | undefined; readonly keeps: boolean },
  { reader, signal, counted, copiedFrom }: FileCopyPorts,
): Promise<string | undefined> {
  const aside = openAside(dirname(target), entry.size ?? 0)
  let arrived = 0
  try {
    const read = await reader.file(
      entry,
      bytes =>
        chain(aside.write(bytes), () => {
          arrived += bytes.length
          counted(bytes.length)
        }),
      signal,
    )
    signal.throwIfAborted()
    const { inode, kept } = await aside.place(target, { mtimeMs: read.mtime, mode: read.mode, ...place })
    // Its number may be given to another file.
    if (place.seen !== undefined) copiedFrom.delete(place.seen.inode)
    copiedFrom.set(inode, entry.path)
    return kept
  } catch (thrown) {
    counted(-arrived)
    aside.discard()
    throw thrown
  }
}
