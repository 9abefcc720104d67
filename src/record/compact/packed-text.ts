// Packed text: a long generated text compressed piece by piece; a reader decompresses the piece it reads.
import { createHash } from 'node:crypto'
import { constants, deflateRawSync, inflateRawSync } from 'node:zlib'

/** The bytes of a text that is read in parts; any Uint8Array is one. */
export interface TextBytes {
  readonly length: number
  subarray(start: number, end: number): Uint8Array
  /** Its SHA-256 in base64url, where that is known. */
  readonly digest?: string
}

/** So many bytes are compressed together. */
const pieceBytes = 1 << 16

/** The text of all these parts, in UTF-8; a short one is held as it is. */
export function packedText(parts: Iterable<string>): TextBytes {
  const hash = createHash('sha256')
  const packed: Buffer[] = []
  const starts: number[] = []
  let length = 0
  // One for all pieces: what is left behind with each would be many times the text.
  const open = Buffer.allocUnsafeSlow(pieceBytes)
  let openLength = 0

  function close(piece: Buffer): void {
    hash.update(piece)
    starts.push(length)
    packed.push(Buffer.from(deflateRawSync(piece, { level: constants.Z_BEST_SPEED })))
    length += piece.length
    openLength = 0
  }

  for (const part of parts) {
    const bytes = Buffer.byteLength(part)
    if (openLength + bytes > pieceBytes) close(open.subarray(0, openLength))
    if (bytes > pieceBytes) close(Buffer.from(part))
    else openLength += open.write(part, openLength)
  }
  if (packed.length === 0) return Buffer.from(open.subarray(0, openLength))
  close(open.subarray(0, openLength))
  return { ...openPacked(packed, starts, length), digest: hash.digest('base64url') }
}

function openPacked(packed: readonly Buffer[], starts: readonly number[], length: number): TextBytes {
  let opened: { readonly at: number; readonly bytes: Buffer } | undefined

  function pieceAt(at: number): Buffer {
    if (opened?.at !== at)
      opened = { at, bytes: inflateRawSync(packed[at] ?? Buffer.alloc(0), { chunkSize: pieceBytes }) }
    return opened.bytes
  }

  /** The last piece that begins at this byte or before. */
  function placeOf(byte: number): number {
    let [low, high] = [0, starts.length - 1]
    while (low < high) {
      const middle = Math.ceil((low + high) / 2)
      if ((starts[middle] ?? 0) <= byte) low = middle
      else high = middle - 1
    }
    return low
  }

  return {
    length,
    subarray(start, end) {
      const last = Math.min(end, length)
      const found: Buffer[] = []
      for (let at = placeOf(start); at < packed.length && (starts[at] ?? length) < last; at += 1) {
        const from = starts[at] ?? 0
        found.push(pieceAt(at).subarray(Math.max(0, start - from), last - from))
      }
      return found.length === 1 && found[0] !== undefined ? found[0] : Buffer.concat(found)
    },
  }
}
