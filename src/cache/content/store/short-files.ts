// Short kept files: each is written and read whole by a few synchronous system calls, and no descriptor of it stays open.
import { closeSync, openSync, readvSync, renameSync, rmSync, writevSync } from 'node:fs'
import { forReading } from '../../../system/own-file.js'
import { shortChecksum, shortTrailerBytes, trailerOf } from './checksum.js'
import { FileTruncated } from './open-file.js'

/** `unfinished` is where it is written before it has its name. @throws what the disk says; no file is left then */
export function writeShortFile(parts: readonly Uint8Array[], unfinished: string, path: string): void {
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

/** A byte more than stands there: a file that is longer shows. */
const room = Buffer.alloc(shortTrailerBytes + 1)

/** Fills it with a content of that length; false where it is not what was kept under this name, and where reading fails: the slower way finds out why. */
export function readShortFile(path: string, name: string, into: Uint8Array): boolean {
  let descriptor: number | undefined
  try {
    descriptor = openSync(path, forReading)
    const trailer = room.subarray(0, Math.max(0, readvSync(descriptor, [into, room]) - into.length))
    return trailer.equals(trailerOf(shortChecksum(into), name))
  } catch {
    return false
  } finally {
    if (descriptor !== undefined) closeSync(descriptor)
  }
}
