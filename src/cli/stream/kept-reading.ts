// A file of the cache on this machine, read in the daemon's place: only where it is the very file that the daemon has checked.
import { closeSync, constants, fstatSync, openSync, read as readLater, readSync } from 'node:fs'
import { promisify } from 'node:util'
import type { ByteSink } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import type { KeptFile } from '../../kept-file.js'
import { giveMemoryBack, lendMemory } from '../../lent-memory.js'

const pieceBytes = 256 * 1024
/** Up to here it is read at once: a thread for each piece takes longer. */
const shortBytes = 1 << 20

const readPiece = promisify(readLater)

/**
 * Gives all bytes of the content to the sink; false, before the first, where the file is not there any more, or is another one,
 * or cannot be opened here: the daemon may see other directories, or have dropped it meanwhile. What is open stays whole.
 */
export async function readKept(kept: KeptFile, sink: ByteSink, signal: AbortSignal): Promise<boolean> {
  const file = openChecked(kept)
  if (file === undefined) return false
  const room = lendMemory(Math.min(pieceBytes, kept.length))
  try {
    for (let offset = 0; offset < kept.length; ) {
      signal.throwIfAborted()
      const wanted = Math.min(room.length, kept.length - offset)
      const bytes =
        kept.length <= shortBytes
          ? readSync(file, room, 0, wanted, offset)
          : (await readPiece(file, room, 0, wanted, offset)).bytesRead
      if (bytes === 0) throw new Failure('replaced', `${kept.path} was cut while it was copied`)
      await sink(room.subarray(0, bytes))
      offset += bytes
    }
    return true
  } finally {
    giveMemoryBack(room)
    closeSync(file)
  }
}

/** The open file where it ends with the proof, which no other content's file does. */
function openChecked({ path, fileBytes, proof }: KeptFile): number | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const expected = Buffer.from(proof, 'hex')
    const end = Buffer.alloc(expected.length)
    const found = fstatSync(file)
    if (found.isFile() && found.size === fileBytes) {
      const bytes = readSync(file, end, 0, end.length, fileBytes - end.length)
      if (bytes === end.length && end.equals(expected)) return file
    }
  } catch {
    // Whatever is wrong with it here: the daemon gives the bytes themselves.
  }
  if (file !== undefined) closeSync(file)
  return undefined
}
