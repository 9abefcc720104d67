// Short kept files: each is written and read whole by a few system calls, and no descriptor of it stays open.
import { closeSync, constants, fstatSync, openSync, readSync, renameSync, rmSync, writevSync } from 'node:fs'
import { openQuickDisk } from '../../../system/quick-disk.js'
import { chunkBytes, footerBytes, listBytes, proofIn, provesChunk } from './checksum.js'
import { FileCut } from './open-file.js'

/** A content of one chunk at most. */
export const shortBytes = chunkBytes

export interface ShortFiles {
  /** True when the file has its name; false where the disk is slow just now. Throws what it says, and leaves no file. */
  keep(parts: readonly Uint8Array[], unfinished: string, path: string): boolean
  /** True when it is gone; false for a longer one, or where the disk is slow just now. */
  drop(path: string, bytes: number): boolean
  /** The content, proven; undefined where it is not there, not whole, not short, or the disk is slow just now. */
  read(path: string, name: string): Uint8Array | undefined
}

/** What stands behind a short content: one hash and the footer. */
const trailerAtMost = 32 + footerBytes

export function openShortFiles(): ShortFiles {
  const disk = openQuickDisk()

  return {
    keep(parts, unfinished, path) {
      return disk.now(() => write(parts, unfinished, path)) !== undefined
    },
    drop(path, bytes) {
      if (bytes > shortBytes + trailerAtMost) return false
      return disk.now(() => rmSync(path, { force: true })) !== undefined
    },
    read(path, name) {
      const bytes = disk.now(() => readWhole(path))?.done
      return bytes === undefined ? undefined : proven(bytes, name)
    },
  }
}

function write(parts: readonly Uint8Array[], unfinished: string, path: string): void {
  const descriptor = openSync(unfinished, 'wx', 0o600)
  try {
    try {
      const due = parts.reduce((bytes, part) => bytes + part.length, 0)
      if (writevSync(descriptor, [...parts]) < due) throw new FileCut()
    } finally {
      closeSync(descriptor)
    }
    renameSync(unfinished, path)
  } catch (error) {
    rmSync(unfinished, { force: true })
    throw error
  }
}

function readWhole(path: string): Uint8Array | undefined {
  const descriptor = opened(path)
  if (descriptor === undefined) return undefined
  try {
    const length = fstatSync(descriptor).size
    if (length < footerBytes || length > shortBytes + trailerAtMost) return undefined
    const bytes = Buffer.allocUnsafeSlow(length)
    return readSync(descriptor, bytes, 0, length, 0) === length ? bytes : undefined
  } catch {
    // The slower way finds out what is wrong with it, and says so.
    return undefined
  } finally {
    closeSync(descriptor)
  }
}

/** Neither follows a link nor waits for the other end of a pipe. */
const readOnlyFile = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

function opened(path: string): number | undefined {
  try {
    return openSync(path, readOnlyFile)
  } catch {
    // Not there, most of the time; anything else the slower way meets again.
    return undefined
  }
}

function proven(file: Uint8Array, name: string): Uint8Array | undefined {
  const list = listBytes(file.subarray(file.length - footerBytes), file.length)
  if (list === undefined) return undefined
  const proof = proofIn(file.subarray(file.length - footerBytes - list), name)
  if (proof === undefined) return undefined
  const bytes = file.subarray(0, proof.length)
  return proof.length === 0 || provesChunk(proof, 0, bytes) ? bytes : undefined
}
