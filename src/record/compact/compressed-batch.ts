// Compressed batch: rarely needed parts of a listing, compressed together, each item with its place in a batch.
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

export const bundleSize = 512
const nothing = '{}'

export class CompressedBatch {
  #open: string[] = []

  /** @param sealed the bytes of one that was packed; what they are is looked at when it is opened */
  constructor(
    private sealed?: Buffer,
    public size = 0,
  ) {}

  add(text: string): number {
    this.size = this.#open.push(text)
    return this.size - 1
  }

  /** It is held small from now on. */
  seal(): void {
    this.sealed ??= packed(this.#open)
    this.#open = []
  }

  /** @throws Error for bytes that are no batch */
  texts(): readonly string[] {
    return this.sealed === undefined ? this.#open : (unpacked(this.sealed) as string[])
  }

  packed(): Buffer {
    return this.sealed ?? packed(this.#open)
  }
}

/** Where an item's text lies; `bundle` is missing where it has none. */
export interface BatchEntry {
  readonly bundle: CompressedBatch | undefined
  readonly place: number
}

const none: BatchEntry = { bundle: undefined, place: 0 }

export class BatchBuilder {
  #filling: CompressedBatch | undefined

  put(text: string): BatchEntry {
    if (text === nothing) return none
    if (this.#filling === undefined || this.#filling.size === bundleSize) {
      this.close()
      this.#filling = new CompressedBatch()
    }
    return { bundle: this.#filling, place: this.#filling.add(text) }
  }

  close(): void {
    this.#filling?.seal()
  }
}

/** The texts of these items, in their order; each bundle is opened once as long as they come in order. */
export function* textsOf(items: Iterable<BatchEntry>): Generator<string> {
  let opened: CompressedBatch | undefined
  let texts: readonly string[] = []
  for (const { bundle, place } of items) {
    if (bundle !== opened) {
      opened = bundle
      texts = bundle?.texts() ?? []
    }
    yield bundle === undefined ? nothing : (texts[place] ?? nothing)
  }
}

/** Below this many characters there is nothing to be won. */
const worthwhile = 512
const [plain, deflated] = [0, 1]

export function packed(value: unknown): Buffer {
  const text = JSON.stringify(value)
  if (text.length < worthwhile) return Buffer.concat([Buffer.of(plain), Buffer.from(text)])
  const bytes = deflateRawSync(text, { level: constants.Z_BEST_SPEED })
  return Buffer.concat([Buffer.of(deflated), bytes])
}

/** The value of such bytes. @throws Error for others */
export function unpacked(bytes: Buffer): unknown {
  const body = bytes.subarray(1)
  return JSON.parse(String(bytes[0] === plain ? body : inflateRawSync(body)))
}
