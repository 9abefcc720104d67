// Content store: one file per content on disk, named by its SHA-256, shared by all calculations that hold it.
import { createHash, randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import type { Store } from '../store/store.js'

export interface StoredContent {
  readonly hash: string
  readonly size: number
}

export function openContents(directory: string, store: Store) {
  mkdirSync(directory, { recursive: true, mode: 0o700 })
  const pathOf = (hash: string) => join(directory, hash.slice(0, 2), hash)
  return {
    pathOf,
    keepBytes(bytes: string | Uint8Array): StoredContent {
      const content = {
        hash: createHash('sha256').update(bytes).digest('hex'),
        size: Buffer.byteLength(bytes),
      }
      const place = pathOf(content.hash)
      if (existsSync(place)) return content
      // It appears under its name only when it is whole, so kill -9 leaves at most a temporary file.
      const temporary = join(directory, `new-${randomUUID()}`)
      writeFileSync(temporary, bytes, { mode: 0o600 })
      mkdirSync(dirname(place), { recursive: true, mode: 0o700 })
      renameSync(temporary, place)
      return content
    },
    /** Deletes those of these contents that no calculation holds any more. */
    sweep(hashes: readonly string[]): void {
      const held = 'SELECT 1 FROM held WHERE hash = ? LIMIT 1'
      for (const hash of new Set(hashes))
        if (store.first(held, hash) === undefined) rmSync(pathOf(hash), { force: true })
    },
  }
}

export type Contents = ReturnType<typeof openContents>
