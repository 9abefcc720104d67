// A file of the cache on this machine, read in the daemon's place: only where it is the very file that the daemon has named.
import { closeSync, constants, fstatSync, openSync, read as readLater, readSync } from 'node:fs'
import { promisify } from 'node:util'
import { shortBytes, shortFileBytes, verifiedContent } from '../../cache/content/store/short-files.js'
import type { ByteSink } from '../../drive/interface/reader.js'
import { Failure } from '../../failure.js'
import type { KeptFile } from '../../kept-file.js'
import { lastNameOf } from '../../layout.js'
import { giveMemoryBack, lendMemory } from '../../lent-memory.js'
import { openQuickDisk } from '../../system/quick-disk.js'

const pieceBytes = 1 << 20

const readPiece = promisify(readLater)
const nextTurn = promisify(setImmediate)
const disk = openQuickDisk()

/**
 * Gives all bytes of the content to the sink; false, before the first, where the file is not there any more, or is another one, or
 * damaged, or cannot be opened here: the daemon may see other directories, or have dropped it meanwhile. What is open stays whole.
 */
export async function readKept(kept: KeptFile, sink: ByteSink, signal: AbortSignal): Promise<boolean> {
  const file = openFile(kept)
  if (file === undefined) return false
  try {
    return kept.length <= shortBytes
      ? await readShort(file, kept, sink)
      : await readLong(file, kept, sink, signal)
  } finally {
    closeSync(file)
  }
}

/** Whatever is wrong with it here: the daemon gives the bytes themselves. */
function openFile({ path, fileBytes }: KeptFile): number | undefined {
  let file: number | undefined
  try {
    file = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK)
    const found = fstatSync(file)
    if (found.isFile() && found.size === fileBytes) return file
  } catch {
    // As above.
  }
  if (file !== undefined) closeSync(file)
  return undefined
}

/** The whole file at once, each byte of it checked on the way. */
async function readShort(file: number, kept: KeptFile, sink: ByteSink): Promise<boolean> {
  if (kept.fileBytes > shortFileBytes) return false
  const room = lendMemory(kept.fileBytes)
  try {
    const bytes = checkedBytes(file, kept, room)
    if (bytes === undefined) return false
    await sink(bytes)
    return true
  } finally {
    giveMemoryBack(room)
  }
}

function checkedBytes(file: number, kept: KeptFile, room: Buffer): Uint8Array | undefined {
  if (!isFilled(file, room, 0) || !endsWith(room, kept.proof)) return undefined
  const bytes = verifiedContent(room, lastNameOf(kept.path))
  return bytes?.length === kept.length ? bytes : undefined
}

/** In pieces, checked by the daemon. */
async function readLong(file: number, kept: KeptFile, sink: ByteSink, signal: AbortSignal): Promise<boolean> {
  const end = Buffer.alloc(kept.proof.length / 2)
  if (!isFilled(file, end, kept.fileBytes - end.length) || !endsWith(end, kept.proof)) return false
  const room = lendMemory(pieceBytes)
  try {
    for (let offset = 0; offset < kept.length; ) {
      signal.throwIfAborted()
      const wanted = Math.min(room.length, kept.length - offset)
      // Another thread takes longer for each piece than the piece itself, unless the disk is slow.
      const now = disk.now(() => readSync(file, room, 0, wanted, offset))
      const bytes = now?.done ?? (await readPiece(file, room, 0, wanted, offset)).bytesRead
      if (bytes === 0) throw new Failure('replaced', `${kept.path} was cut while it was copied`)
      await sink(room.subarray(0, bytes))
      offset += bytes
      // For the other files, and for Ctrl-C.
      await nextTurn()
    }
    return true
  } finally {
    giveMemoryBack(room)
  }
}

/** False where the disk has fewer bytes, or cannot read them: whatever is wrong, the daemon gives them. */
function isFilled(file: number, room: Buffer, position: number): boolean {
  try {
    return readSync(file, room, 0, room.length, position) === room.length
  } catch {
    return false
  }
}

/** No other content's file ends so. */
const endsWith = (bytes: Buffer, proof: string): boolean =>
  bytes.subarray(bytes.length - proof.length / 2).equals(Buffer.from(proof, 'hex'))
