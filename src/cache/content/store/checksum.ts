// Checksum of a kept file: a CRC-32 of each MiB, and one of the name, the length and the list of them, stored behind the bytes.
import { crc32 } from 'node:zlib'

export const chunkBytes = 1 << 20
const sumBytes = 4
/** A damaged disk is found by a sum as well as by a hash, which takes many times as long. */
const magic = Buffer.from('calcfs3\n')
/** The last bytes of a kept file: magic, length, sum of name + length + list. */
export const footerBytes = magic.length + 8 + sumBytes
/** A content of one chunk at most; the length of its proof, in bytes. */
export const [shortBytes, shortTrailerBytes] = [chunkBytes, sumBytes + footerBytes]

const noSums = Buffer.alloc(0)

export interface Checksum {
  /** Of the content alone, in bytes. */
  readonly length: number
  /** CRC-32 of each chunk, one after another. */
  readonly sums: Uint8Array
}

/** Collects the proof of bytes that pass in order, in pieces of any length. */
export class ChecksumBuilder {
  readonly #sums: Uint8Array[] = []
  #sum = 0
  #length = 0

  add(piece: Uint8Array): void {
    for (let from = 0; from < piece.length; ) {
      const room = chunkBytes - (this.#length % chunkBytes)
      const part = piece.subarray(from, from + room)
      this.#sum = crc32(part, this.#sum)
      this.#length += part.length
      from += part.length
      if (this.#length % chunkBytes === 0) this.#end()
    }
  }

  finish(): Checksum {
    if (this.#length % chunkBytes !== 0) this.#end()
    return { length: this.#length, sums: Buffer.concat(this.#sums) }
  }

  #end(): void {
    this.#sums.push(sumField(this.#sum))
    this.#sum = 0
  }
}

export const chunkSum = (chunk: Uint8Array): Buffer => sumField(crc32(chunk))

/** Of a content of one chunk at most. */
export const shortChecksum = (bytes: Uint8Array): Checksum => ({
  length: bytes.length,
  sums: bytes.length === 0 ? noSums : chunkSum(bytes),
})

export const chunkCount = (length: number): number => Math.ceil(length / chunkBytes)

/** The room of a kept content of so many bytes on disk. */
export const storedBytes = (length: number): number => length + chunkCount(length) * sumBytes + footerBytes

export function sameChecksum(one: Checksum, other: Checksum): boolean {
  return one.length === other.length && Buffer.compare(one.sums, other.sums) === 0
}

/** True if these bytes are chunk `index` of what was proven. */
export function matchesChunk(checksum: Checksum, index: number, bytes: Uint8Array): boolean {
  const { buffer, byteOffset, length } = checksum.sums
  const at = index * sumBytes
  return at < length && crc32(bytes) === Buffer.from(buffer, byteOffset, length).readUInt32BE(at)
}

/** The proof behind the content; it names the file, so that a file under a wrong name proves nothing. */
export function trailerOf({ length, sums }: Checksum, name: string): Buffer {
  const trailer = Buffer.allocUnsafe(sums.length + footerBytes)
  trailer.set(sums)
  trailer.set(magic, sums.length)
  trailer.writeBigUInt64BE(BigInt(length), sums.length + magic.length)
  trailer.writeUInt32BE(trailerSum(trailer, name), trailer.length - sumBytes)
  return trailer
}

/** How many bytes of sums stand before this footer; undefined if it is none. */
export function listBytes(footer: Uint8Array, fileBytes: number): number | undefined {
  const view = Buffer.from(footer.buffer, footer.byteOffset, footer.length)
  if (!view.subarray(0, magic.length).equals(magic)) return undefined
  const length = Number(view.readBigUInt64BE(magic.length))
  const list = chunkCount(length) * sumBytes
  return length + list + footerBytes === fileBytes ? list : undefined
}

/** The proof a trailer (list and footer) holds; undefined unless it is whole and made for this name. */
export function checksumIn(trailer: Uint8Array, name: string): Checksum | undefined {
  const view = Buffer.from(trailer.buffer, trailer.byteOffset, trailer.length)
  if (view.readUInt32BE(view.length - sumBytes) !== trailerSum(view, name)) return undefined
  const footer = view.length - footerBytes
  return { length: Number(view.readBigUInt64BE(footer + magic.length)), sums: view.subarray(0, footer) }
}

const trailerSum = (trailer: Uint8Array, name: string): number =>
  crc32(trailer.subarray(0, trailer.length - sumBytes), crc32(name))

export function sumField(sum: number): Buffer {
  const field = Buffer.allocUnsafe(sumBytes)
  field.writeUInt32BE(sum)
  return field
}
