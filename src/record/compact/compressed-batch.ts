// Compressed batch: rarely needed parts of a listing, compressed together, each item with its place in a batch.
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** Some hundred texts. */
export interface CompressedBatch {
  readonly size: number
  texts(): readonly string[]
  /** The same as bytes, for `batchOf`. */
  packed(): Buffer
}

/** Where an item's text lies; `bundle` is missing where it has none. */
export interface BatchEntry {
  readonly bundle: CompressedBatch | undefined
  readonly place: number
}

export interface BatchBuilder {
  put(text: string): BatchEntry
  /** What was put in is held small from now on. */
  close(): void
}

/** So many items have a bundle together. */
export const bundleSize = 512
const nothing = '{}'

/** Takes the texts of one listing, in order. */
export function openBatchBuilder(): BatchBuilder {
  let filling: Filling | undefined

  return {
    put(text) {
      if (text === nothing) return none
      if (filling === undefined || filling.size === bundleSize) {
        filling?.seal()
        filling = unpackBatch()
      }
      return { bundle: filling, place: filling.add(text) }
    },
    close: () => filling?.seal(),
  }
}

const none: BatchEntry = { bundle: undefined, place: 0 }

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

/** A bundle from its bytes. @throws Error, at once or when it is opened, for bytes that are none */
export const batchOf = (bytes: Buffer, size: number): CompressedBatch => ({
  size,
  texts: () => unpacked(bytes) as string[],
  packed: () => bytes,
})

interface Filling extends CompressedBatch {
  add(text: string): number
  seal(): void
}

function unpackBatch(): Filling {
  let open: string[] = []
  let sealed: Buffer | undefined
  let size = 0
  return {
    get size() {
      return size
    },
    add(text) {
      size = open.push(text)
      return size - 1
    },
    seal() {
      sealed ??= packed(open)
      open = []
    },
    texts: () => (sealed === undefined ? open : (unpacked(sealed) as string[])),
    packed: () => sealed ?? packed(open),
  }
}

/** Below this many characters there is nothing to be won. */
const worthwhile = 512
const [plain, deflated] = [0, 1]

/** A JSON value as bytes, small. */
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
