// Short kept files: each is written and read whole by a few system calls, and no descriptor of it stays open.
import { closeSync, fstatSync, openSync, readSync, renameSync, rmSync, writevSync } from 'node:fs'
import { forReading } from '../../../system/own-file.js'
import { openQuickDisk } from '../../../system/quick-disk.js'
import {
  checksumIn,
  chunkBytes,
  footerBytes,
  listBytes,
  matchesChunk,
  shortTrailerBytes,
} from './checksum.js'
import { FileTruncated } from './open-file.js'

/** A content of one chunk at most. */
export const shortBytes = chunkBytes
/** With all that stands behind it, at most. */
const shortFileBytes = shortBytes + shortTrailerBytes

export interface ShortFiles {
  /** True when the file has its name; false where the disk is slow just now. Throws what it says, and leaves no file. */
  keep(parts: readonly Uint8Array[], unfinished: string, path: string): boolean
  /** True when it is gone; false for a longer one, or where the disk is slow just now. */
  drop(path: string, bytes: number): boolean
  /** Gives the content, proven, to be copied; nothing where it is not there, not whole, not short, or the disk is slow just now. */
  read(path: string, name: string, take: (bytes: Uint8Array) => void): void
}

export function openShortFiles(): ShortFiles {
  const disk = openQuickDisk()

  return {
    keep(parts, unfinished, path) {
      return disk.now(() => writeShortFile(parts, unfinished, path)) !== undefined
    },
    drop(path, bytes) {
      if (bytes > shortFileBytes) return false
      return disk.now(() => rmSync(path, { force: true })) !== undefined
    },
    read(path, name, take) {
      const bytes = disk.now(() => readShortFile(path))?.done
      const content = bytes === undefined ? undefined : verifiedContent(bytes, name)
      if (content !== undefined) take(content)
    },
  }
}

function writeShortFile(parts: readonly Uint8Array[], unfinished: string, path: string): void {
  const descriptor = openSync(unfinished, 'wx', 0o600)
  try {
    try {
      const due = parts.reduce((bytes, part) => bytes + part.length, 0)
      if (writevSync(descriptor, [...parts]) < due) throw new FileTruncated()
    } finally {
      closeSync(descriptor)
    }
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

/** Each file is read into it, and copied from it, in one go. */
let room: Buffer | undefined

/** Undefined where there is no file of such a length, and where reading fails. */
function readShortFile(path: string): Uint8Array | undefined {
  const descriptor = openShortFile(path)
  if (descriptor === undefined) return undefined
  try {
    const { size } = fstatSync(descriptor)
    if (size < footerBytes || size > shortFileBytes) return undefined
    room ??= Buffer.allocUnsafeSlow(shortFileBytes)
    return readSync(descriptor, room, 0, size, 0) === size ? room.subarray(0, size) : undefined
  } catch {
    // The slower way finds out what is wrong with it, and says so.
    return undefined
  } finally {
    closeSync(descriptor)
  }
}

function openShortFile(path: string): number | undefined {
  try {
    return openSync(path, forReading)
  } catch {
    // Not there, most of the time; anything else the slower way meets again.
    return undefined
  }
}

/** The bytes of the content in such a file, every one of them checked; undefined where it is not what was kept under this name. */
function verifiedContent(file: Uint8Array, name: string): Uint8Array | undefined {
  const list = listBytes(file.subarray(file.length - footerBytes), file.length)
  if (list === undefined) return undefined
  const checksum = checksumIn(file.subarray(file.length - footerBytes - list), name)
  if (checksum === undefined) return undefined
  const bytes = file.subarray(0, checksum.length)
  return checksum.length === 0 || matchesChunk(checksum, 0, bytes) ? bytes : undefined
}
