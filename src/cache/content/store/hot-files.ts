// Hot files: short contents that arrived or were read a moment ago, in one piece of memory; the next reads need no disk.

interface Place {
  readonly start: number
  readonly end: number
}

/** The memory is made once, for buffers that come and go are garbage. */
export class HotFiles {
  /** In the order in which they came, which is that of their places. */
  private readonly held = new Map<string, Place>()
  private memory: Buffer | undefined
  private next = 0

  constructor(private readonly memoryBytes = 8 << 20) {}

  /** Copies them, in the place of those that came first. */
  hold(name: string, bytes: Uint8Array): void {
    this.held.delete(name)
    if (bytes.length === 0 || bytes.length > this.memoryBytes) return
    this.memory ??= Buffer.allocUnsafeSlow(this.memoryBytes)
    const place = this.room(bytes.length)
    this.memory.set(bytes, place.start)
    this.held.set(name, place)
  }

  /** Fills `into` up to the end; undefined for a content that is not here. */
  read(name: string, offset: number, into: Uint8Array): number | undefined {
    const place = this.held.get(name)
    if (place === undefined || this.memory === undefined) return undefined
    const start = Math.min(place.start + offset, place.end)
    const part = this.memory.subarray(start, Math.min(start + into.length, place.end))
    into.set(part)
    return part.length
  }

  drop(name: string): void {
    this.held.delete(name)
  }

  /** A stretch in which nothing is held any more. */
  private room(length: number): Place {
    // The rest of the memory is too short: what is held there goes first, for it is the oldest.
    if (this.next + length > this.memoryBytes) {
      this.clear(this.next, this.memoryBytes)
      this.next = 0
    }
    const place = { start: this.next, end: this.next + length }
    this.clear(place.start, place.end)
    this.next = place.end
    return place
  }

  private clear(from: number, to: number): void {
    for (const [name, { start, end }] of this.held) {
      if (end <= from || start >= to) return
      this.held.delete(name)
    }
  }
}
