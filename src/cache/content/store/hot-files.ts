// Hot files: short contents that arrived or were read a moment ago, in memory; the next reads need no disk.
import { giveMemoryBack } from '../../../lent-memory.js'

export class HotFiles {
  /** The first is the oldest. */
  readonly #held = new Map<string, Buffer>()
  /** Read to their end: they go before what is still waited for. */
  readonly #read = new Set<string>()
  #bytes = 0

  constructor(private readonly mostBytes = 16 << 20) {}

  /** Takes them over: no one else reads or writes this memory from now on. */
  hold(name: string, bytes: Buffer): void {
    this.drop(name)
    this.#held.set(name, bytes)
    this.#bytes += bytes.buffer.byteLength
    for (const names of [this.#read, this.#held.keys()])
      for (const oldest of names) {
        if (this.#bytes <= this.mostBytes) return
        this.drop(oldest)
      }
  }

  /** Fills `into` up to the end; undefined for a content that is not here. */
  read(name: string, offset: number, into: Uint8Array): number | undefined {
    const bytes = this.#held.get(name)
    if (bytes === undefined) return undefined
    const part = bytes.subarray(Math.min(offset, bytes.length), offset + into.length)
    into.set(part)
    if (offset + part.length === bytes.length) this.#read.add(name)
    return part.length
  }

  drop(name: string): void {
    const bytes = this.#held.get(name)
    if (bytes === undefined) return
    this.#held.delete(name)
    this.#read.delete(name)
    this.#bytes -= bytes.buffer.byteLength
    giveMemoryBack(bytes)
  }
}
