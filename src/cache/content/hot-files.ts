// Hot files: short contents that arrived or were read a moment ago, in memory; the next reads need no disk.
import { LRUCache } from 'lru-cache'

export interface HotFiles {
  hold(name: string, bytes: Uint8Array): void
  /** Fills `into` up to the end; undefined for a content that is not here. */
  read(name: string, offset: number, into: Uint8Array): number | undefined
  drop(name: string): void
}

const bytesAtMost = 8 << 20
/** What an entry takes besides its bytes. */
const entryBytes = 256

export function openHotFiles(): HotFiles {
  const held = new LRUCache<string, Uint8Array>({
    maxSize: bytesAtMost,
    sizeCalculation: bytes => bytes.buffer.byteLength + entryBytes,
  })
  return {
    hold: (name, bytes) => void held.set(name, bytes),
    read(name, offset, into) {
      const bytes = held.get(name)
      if (bytes === undefined) return undefined
      const part = bytes.subarray(offset, offset + into.length)
      into.set(part)
      return part.length
    },
    drop: name => void held.delete(name),
  }
}
