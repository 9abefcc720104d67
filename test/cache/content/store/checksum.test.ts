// The proof behind a kept file: it holds for exactly these bytes, this length and this name, and for nothing else.
import t from 'tap'
import {
  type Checksum,
  ChecksumBuilder,
  checksumIn,
  chunkBytes,
  chunkCount,
  chunkSum,
  footerBytes,
  listBytes,
  matchesChunk,
  sameChecksum,
  storedBytes,
  trailerOf,
} from '../../../../src/cache/content/store/checksum.js'

const bytesOf = (length: number, seed = 1): Buffer =>
  Buffer.from(
    Uint8Array.from({ length }, (_, at) => (at * 31 + seed * 7 + (at >> 8) + (at >> 16) * 13) & 0xff),
  )

function proofOf(bytes: Uint8Array, pieceBytes = bytes.length || 1): Checksum {
  const prover = new ChecksumBuilder()
  for (let at = 0; at < bytes.length; at += pieceBytes) prover.add(bytes.subarray(at, at + pieceBytes))
  return prover.finish()
}

const lengths = [0, 1, chunkBytes - 1, chunkBytes, chunkBytes + 1, 2 * chunkBytes, 2 * chunkBytes + 77]

t.test('the sums are those of each MiB, however the bytes arrive', async t => {
  for (const length of lengths) {
    const bytes = bytesOf(length)
    const count = Math.ceil(length / chunkBytes)
    const chunks = Array.from({ length: count }, (_, at) =>
      bytes.subarray(at * chunkBytes, (at + 1) * chunkBytes),
    )
    const wanted = Buffer.concat(chunks.map(chunkSum))
    for (const piece of [length || 1, 65_536, 100_003, chunkBytes]) {
      const checksum = proofOf(bytes, piece)
      t.equal(checksum.length, length)
      t.ok(wanted.equals(checksum.sums), `${length} bytes in pieces of ${piece}`)
    }
    t.equal(chunkCount(length), count)
    const checksum = proofOf(bytes)
    t.equal(storedBytes(length), length + 4 * count + footerBytes)
    for (const [at, chunk] of chunks.entries()) {
      t.ok(matchesChunk(checksum, at, chunk))
      t.notOk(matchesChunk(checksum, at, chunk.subarray(1)), 'a byte less')
      if (count > 1) t.notOk(matchesChunk(checksum, (at + 1) % count, chunk), 'another place')
    }
  }
})

t.test('a trailer proves itself under its own name only', async t => {
  for (const length of lengths) {
    const checksum = proofOf(bytesOf(length))
    const trailer = trailerOf(checksum, 'calculation 7/output.cml')
    const list = 4 * chunkCount(length)
    t.equal(trailer.length, list + footerBytes)
    const found = checksumIn(trailer, 'calculation 7/output.cml')
    t.ok(found !== undefined && sameChecksum(found, checksum))
    t.equal(checksumIn(trailer, 'calculation 8/output.cml'), undefined)
    const footer = trailer.subarray(list)
    t.equal(listBytes(footer, length + trailer.length), list)
    t.equal(listBytes(footer, length + trailer.length - 1), undefined, 'a byte is missing')
    t.equal(listBytes(footer, length + trailer.length + 1), undefined, 'a byte too many')
  }
})
