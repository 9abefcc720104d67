// One file of a copy: whether it is there already, and how it comes to its place: written beside it, and renamed when it is whole.
import { closeSync, fchmodSync, futimesSync, openSync, renameSync, rmSync, writeSync } from 'node:fs'
import { dirname } from 'node:path'
import type { DriveEntry, DriveReader, FileFacts } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import {
  inTheWay,
  localFailure,
  openStanding,
  type StandingFile,
  secondsOf,
  setTime,
  standing,
  temporaryName,
} from './local-target.js'

export interface FileRules {
  /** Bytes are compared, although size and time are the same. */
  readonly checksum: boolean
  /** What differs is replaced. */
  readonly overwrite: boolean
}

export interface FileCopyPorts {
  readonly reader: DriveReader
  readonly rules: FileRules
  readonly signal: AbortSignal
  /** Bytes that have arrived; less than 0 where they turned out to be of no use. */
  readonly counted: (bytes: number) => void
}

/** A local time counts as the same within so many milliseconds; within two seconds where the file system keeps no parts of seconds. */
const sameWithinMs = 1
const coarseMs = 2_000

/**
 * Brings one file to its place; answers whether it was there. What differs stays.
 * @throws Failure 'exists' for a file that differs, or where something else stands there; 'replaced' where the drive's changed meanwhile
 */
export async function copyFile(
  entry: DriveEntry,
  target: string,
  ports: FileCopyPorts,
): Promise<'copied' | 'same'> {
  const before = await standing(target)
  if (before !== undefined) {
    if (before.is !== 'file') throw inTheWay(target, before)
    if (await isSame(entry, target, before, ports)) return 'same'
    if (!ports.rules.overwrite) throw differs(target)
  }
  await fetch(entry, target, ports)
  return 'copied'
}

const differs = (target: string): Failure =>
  new Failure(
    'exists',
    `${target}: it differs from the drive's, and stays; move it away, or take the drive's with --overwrite`,
  )

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
        const here = await file.read(Buffer.allocUnsafe(bytes.length), 0, bytes.length, offset)
        offset += bytes.length
        isEqual = here.buffer.subarray(0, here.bytesRead).equals(bytes)
      },
      ports.signal,
    )
    // The drive's may have become shorter since it was listed.
    return isEqual && offset === (await file.stat()).size
  } finally {
    await file.close()
  }
}

async function fetch(
  { path }: DriveEntry,
  target: string,
  { reader, rules, signal, counted }: FileCopyPorts,
): Promise<void> {
  const aside = temporaryName(dirname(target))
  const file = local(target, () => openSync(aside, 'wx', privateMode))
  let arrived = 0
  try {
    let facts: FileFacts
    try {
      facts = await reader.file(
        path,
        bytes => {
          local(target, () => writeAll(file, bytes))
          arrived += bytes.length
          counted(bytes.length)
        },
        signal,
      )
      signal.throwIfAborted()
      local(target, () => finish(file, facts))
    } finally {
      local(target, () => closeSync(file))
    }
    // Another program, or another copy, may have made a file there meanwhile.
    if (!rules.overwrite && (await standing(target)) !== undefined)
      throw new Failure('replaced', `${target}: a file was made here while it was copied, and stays`)
    local(target, () => renameSync(aside, target))
  } catch (thrown) {
    counted(-arrived)
    rmSync(aside, { force: true })
    throw thrown
  }
}

function local<Value>(path: string, work: () => Value): Value {
  try {
    return work()
  } catch (thrown) {
    throw localFailure(thrown, path)
  }
}

function writeAll(file: number, bytes: Uint8Array): void {
  for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
}

function finish(file: number, { mtime, mode }: FileFacts): void {
  futimesSync(file, secondsOf(mtime), secondsOf(mtime))
  fchmodSync(file, mode & permissionBits & ~umask)
}

const privateMode = 0o600
const permissionBits = 0o777
/** Read once: it can only be read by setting it. */
const umask = process.umask()
