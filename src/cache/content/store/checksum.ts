// Checksum of a kept file: a hash of each MiB and of the list of hashes, stored behind the bytes.
import { createHash, hash } from 'node:crypto'

export const chunkBytes = 1 << 20
const hashBytes = 32
const magic = Buffer.from('calcfs1\n')
/** The last bytes of a kept file: magic, length, hash of name + length + list. */
export const footerBytes = magic.length + 8 + hashBytes

export interface Checksum {
  /** Of the content alone, in bytes. */
  readonly length: number
  /** SHA-256 of each chunk, one after another. */
  readonly hashes: Uint8Array
}

export interface ChecksumBuilder {
  add(piece: Uint8Array): void
  finish(): Checksum
}

/** Collects the proof of bytes that pass in order, in pieces of any length. */
export function startChecksum(): ChecksumBuilder {
  const hashes: Uint8Array[] = []
  let chunk = createHash('sha256')
  let length = 0

  return {
    add(piece) {
      for (let from = 0; from < piece.length; ) {
        const room = chunkBytes - (length % chunkBytes)
        const part = piece.subarray(from, from + room)
        chunk.update(part)
        length += part.length
        from += part.length
        if (length % chunkBytes !== 0) continue
        hashes.push(chunk.digest())
        chunk = createHash('sha256')
      }
    },
    finish() {
      if (length % chunkBytes !== 0) hashes.push(chunk.digest())
      return { length, hashes: Buffer.concat(hashes) }
    },
  }
}

/** The hash of one chunk. */
export const chunkHash = (chunk: Uint8Array): Buffer => hash('sha256', chunk, 'buffer')

export const chunkCount = (length: number): number => Math.ceil(length / chunkBytes)

/** What a content takes on disk when it is kept, in bytes. */
export function storedBytes(checksum: Checksum): number {
  return checksum.length + checksum.hashes.length + footerBytes
}

export function sameChecksum(one: Checksum, other: Checksum): boolean {
  return one.length === other.length && Buffer.compare(one.hashes, other.hashes) === 0
}

/** Whether these bytes are chunk `index` of what was proven. */
export function matchesChunk(checksum: Checksum, index: number, bytes: Uint8Array): boolean {
  const expected = checksum.hashes.subarray(index * hashBytes, (index + 1) * hashBytes)
  return chunkHash(bytes).equals(expected)
}

/** What is written behind the content; it names the file, so that a file under a wrong name proves nothing. */
export function trailerOf(checksum: Checksum, name: string): Uint8Array {
  return Buffer.concat([checksum.hashes, magic, lengthField(checksum.length), footerOf(checksum, name)])
}

/** How many bytes of hashes stand before this footer; undefined if it is none. */
export function listBytes(footer: Uint8Array, fileBytes: number): number | undefined {
  const view = Buffer.from(footer.buffer, footer.byteOffset, footer.length)
  if (!view.subarray(0, magic.length).equals(magic)) return undefined
  const length = Number(view.readBigUInt64BE(magic.length))
  const list = chunkCount(length) * hashBytes
  return length + list + footerBytes === fileBytes ? list : undefined
}

/** The proof a trailer (list and footer) holds; undefined unless it is whole and made for this name. */
export function checksumIn(trailer: Uint8Array, name: string): Checksum | undefined {
  const view = Buffer.from(trailer.buffer, trailer.byteOffset, trailer.length)
  const footer = view.length - footerBytes
  const proof = {
    length: Number(view.readBigUInt64BE(footer + magic.length)),
    hashes: view.subarray(0, footer),
  }
  return footerOf(proof, name).equals(view.subarray(view.length - hashBytes)) ? proof : undefined
}

function footerOf(checksum: Checksum, name: string): Buffer {
  return createHash('sha256')
    .update(name)
    .update(lengthField(checksum.length))
    .update(checksum.hashes)
    .digest()
}

function lengthField(length: number): Buffer {
  const field = Buffer.alloc(8)
  field.writeBigUInt64BE(BigInt(length))
  return field
}
