// Content store: one file per content on disk, named by its SHA-256, shared by all calculations that hold it.
import { createHash, randomUUID } from 'node:crypto'
import {
  closeSync,
  existsSync,
  mkdirSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs'
import { dirname, join } from 'node:path'
import type { Store } from '../store/store.js'

/** A stored content: the hex SHA-256 of its bytes and how many they are. */
export interface StoredContent {
  readonly hash: string
  readonly size: number
}

const chunkBytes = 1 << 20

export function openContents(directory: string, store: Store) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  /** The path of a content. */
  const pathOf = (hash: string) => join(directory, hash.slice(0, 2), hash)
  // A content appears under its name only when it is whole, so kill -9 leaves at most a temporary file.
  const settle = (temporary: string, content: StoredContent) => {
    const place = pathOf(content.hash)
    mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
    renameSync(temporary, place)
    return content
  }
  const temporaryName = () => join(directory, `new-${randomUUID()}`)
  return {
    pathOf,
    keepBytes(bytes: string | Uint8Array): StoredContent {
      const content = {
        hash: createHash('sha256').update(bytes).digest('hex'),
        size: Buffer.byteLength(bytes),
      }
      if (existsSync(pathOf(content.hash))) return content
      const temporary = temporaryName()
      writeFileSync(temporary, bytes, { mode: 0o600 })
      return settle(temporary, content)
    },
    /** Copies a file of this machine. */
    keepFile(path: string): StoredContent {
      const temporary = temporaryName()
      return settle(temporary, copy(path, temporary))
    },
    /** Deletes those of these contents that no calculation holds any more. */
    sweep(hashes: readonly string[]): void {
      for (const hash of new Set(hashes)) if (!held(store, hash)) rmSync(pathOf(hash), { force: true })
    },
  }
}

export type Contents = ReturnType<typeof openContents>

/** Copies piece by piece: a content may be larger than the memory. */
function copy(from: string, to: string): StoredContent {
  const hash = createHash('sha256')
  const source = openSync(from, 'r')
  const target = openSync(to, 'wx', 0o600)
  try {
    const chunk = Buffer.alloc(chunkBytes)
    let size = 0
    for (let read = readSync(source, chunk); read > 0; read = readSync(source, chunk)) {
      const piece = chunk.subarray(0, read)
      hash.update(piece)
      writeAll(target, piece)
      size += read
    }
    return { hash: hash.digest('hex'), size }
  } finally {
    closeSync(source)
    closeSync(target)
  }
}

function writeAll(target: number, piece: Uint8Array): void {
  for (let done = 0; done < piece.length; ) done += writeSync(target, piece, done)
}

function held(store: Store, hash: string): boolean {
  return store.first('SELECT 1 FROM held WHERE hash = ? LIMIT 1', hash) !== undefined
}
