// A whole file, read by the verbs as a patient program reads it: slow bytes are waited for, another version is an error.
import { asFailure, Failure } from '../../failure.js'
import { type Clock, sleep } from '../../remote/clock.js'
import { byteOffset } from '../../remote/remote.js'
import type { ByteSink } from '../interface/reader.js'
import type { FileVerbs } from '../interface/verbs.js'
import { type Place, pathOf } from '../nodes/place.js'

/** Bytes of one read, and of one that is repeated because the bytes came too slowly. */
const pieceBytes = 256 * 1024
const smallPieceBytes = 32 * 1024
/** A read that is late is repeated so often without a byte in between. */
const lateReads = 3
/** Milliseconds after which what came late may be asked for again: before, the drive takes it for the same read. */
const againAfterMs = 1_100

/**
 * Gives all bytes of the file, whose size a stat has just told, to the sink; answers size and time of a text, which may be another one than the stat found.
 * @throws Failure 'replaced' where the file turns out to have another length
 */
export async function readWhole(
  verbs: FileVerbs,
  wanted: { readonly place: Place; readonly size: number },
  sink: ByteSink,
  { signal, clock }: { readonly signal: AbortSignal; readonly clock: Clock },
): Promise<ReturnType<FileVerbs['textOf']>> {
  const handle = await verbs.open(wanted.place, 'read')
  try {
    const text = verbs.textOf(handle)
    const size = text?.size ?? wanted.size
    const buffer = Buffer.allocUnsafe(Math.max(1, Math.min(pieceBytes, size)))
    let offset = 0
    let late = 0
    for (;;) {
      signal.throwIfAborted()
      const into = late === 0 ? buffer : buffer.subarray(0, smallPieceBytes)
      let count: number
      try {
        count = await verbs.read(handle, into, byteOffset(offset))
      } catch (thrown) {
        if (asFailure(thrown).kind !== 'timeout' || late >= lateReads) throw thrown
        late += 1
        await sleep(clock, againAfterMs)
        continue
      }
      if (count === 0) break
      late = 0
      await sink(into.subarray(0, count))
      offset += count
    }
    if (offset !== size)
      throw new Failure(
        'replaced',
        `${pathOf(wanted.place)}: it was ${size} bytes long, and ended after ${offset}`,
      )
    return text
  } finally {
    await verbs.release(handle)
  }
}
