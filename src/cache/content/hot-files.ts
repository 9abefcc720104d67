// Hot files: short contents that arrived or were read a moment ago, in one piece of memory; the next reads need no disk.

export interface HotFiles {
  /** Copies them, in the place of those that came first. */
  hold(name: string, bytes: Uint8Array): void
  /** Fills `into` up to the end; undefined for a content that is not here. */
  read(name: string, offset: number, into: Uint8Array): number | undefined
  drop(name: string): void
}

interface Place {
  readonly start: number
  readonly end: number
}

/** The memory is made once, for buffers that come and go are garbage. */
export function openHotFiles(memoryBytes = 8 << 20): HotFiles {
  /** In the order in which they came, which is that of their places. */
  const held = new Map<string, Place>()
  let memory: Buffer | undefined
  let next = 0

  /** A stretch in which nothing is held any more. */
  function room(length: number): Place {
    // The rest of the memory is too short: what is held there goes first, for it is the oldest.
    if (next + length > memoryBytes) {
      clear(next, memoryBytes)
      next = 0
    }
    const place = { start: next, end: next + length }
    clear(place.start, place.end)
    next = place.end
    return place
  }

  function clear(from: number, to: number): void {
    for (const [name, { start, end }] of held) {
      if (end <= from || start >= to) return
      held.delete(name)
    }
  }

  return {
    hold(name, bytes) {
      held.delete(name)
      if (bytes.length === 0 || bytes.length > memoryBytes) return
      memory ??= Buffer.allocUnsafeSlow(memoryBytes)
      const place = room(bytes.length)
      memory.set(bytes, place.start)
      held.set(name, place)
    },
    read(name, offset, into) {
      const place = held.get(name)
      if (place === undefined || memory === undefined) return undefined
      const start = Math.min(place.start + offset, place.end)
      const part = memory.subarray(start, Math.min(start + into.length, place.end))
      into.set(part)
      return part.length
    },
    drop: name => void held.delete(name),
  }
}
