// A file of a copy, written beside its place under a name of its own and moved there when it is whole.
import {
  close as closeLater,
  closeSync,
  fchmodSync,
  fstatSync,
  futimesSync,
  openSync,
  rmSync,
  write as writePiece,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { giveMemoryBack, lendMemory } from '../../lent-memory.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { openQuickDisk } from '../../system/quick-disk.js'
import { localFailure, secondsOf, temporaryName } from './local-target.js'
import { moveIntoPlace, type TakenPlace } from './move-into-place.js'

export interface FileAside {
  /** Bytes in their order; they may change once it is done. @throws Failure */
  write(bytes: Uint8Array): MaybePromise<void>
  /** Moves it to its place. @throws Failure 'replaced' where something else stands there by now */
  place(path: string, how: Placing): MaybePromise<PlacedFile>
  discard(): void
}

interface Placing extends TakenPlace {
  readonly mtimeMs: number
  readonly mode: number
}

export interface PlacedFile {
  readonly inode: number
  /** The name of what stood there before, where that is kept. */
  readonly kept: string | undefined
}

/** In bytes: it is written when it is whole, and each step is done at once, for a wait for one takes longer than all of them. */
const shortBytes = 1 << 20

/** @throws Failure */
export const openAside = (directory: string, size: number): FileAside =>
  size <= shortBytes ? gathered(directory, size) : streamed(directory)

function gathered(directory: string, size: number): FileAside {
  let written: Written | undefined
  let room: Buffer | undefined
  let gatheredBytes = 0

  function gather(bytes: Uint8Array): void {
    const end = gatheredBytes + bytes.length
    room ??= lendMemory(size)
    if (end > room.length) room = Buffer.concat([room.subarray(0, gatheredBytes)], end)
    room.set(bytes, gatheredBytes)
    gatheredBytes = end
  }

  function begun(): Written {
    written ??= openWritten(directory)
    return written
  }

  function giveBack(): void {
    if (room !== undefined) giveMemoryBack(room)
    room = undefined
  }

  return {
    write(bytes) {
      // Of most files the first piece is all.
      if (gatheredBytes === 0 && (bytes.length === size || written !== undefined)) begun().write(bytes)
      else gather(bytes)
    },
    place(path, how) {
      const whole = begun()
      if (room !== undefined) whole.write(room.subarray(0, gatheredBytes))
      giveBack()
      const inode = whole.finish(how)
      whole.close()
      return { inode, kept: whole.move(path, how) }
    },
    discard() {
      giveBack()
      written?.discard()
    },
  }
}

/** A long one goes to the disk as it arrives. */
function streamed(directory: string): FileAside {
  const written = openWritten(directory)
  return {
    // A disk that is slow is waited for by another thread.
    write: bytes =>
      disk.now(() => written.write(bytes)) === undefined ? written.writeLater(bytes) : undefined,
    async place(path, how) {
      const inode = written.finish(how)
      await written.closeLater()
      return { inode, kept: written.move(path, how) }
    },
    discard: () => written.discard(),
  }
}

const disk = openQuickDisk()

/** The file itself, and its steps. */
function openWritten(directory: string) {
  const aside = temporaryName(directory)
  const file = local(directory, () => openSync(aside, 'wx', privateMode))
  let isOpen = true

  function local<Value>(path: string, work: () => Value): Value {
    try {
      return work()
    } catch (thrown) {
      throw localFailure(thrown, path)
    }
  }

  return {
    write(bytes: Uint8Array): void {
      local(aside, () => {
        for (let done = 0; done < bytes.length; ) done += writeSync(file, bytes, done)
      })
    },
    async writeLater(bytes: Uint8Array): Promise<void> {
      try {
        for (let done = 0; done < bytes.length; ) done += (await writeSome(file, bytes, done)).bytesWritten
      } catch (thrown) {
        throw localFailure(thrown, aside)
      }
    },
    /** Answers its inode. */
    finish({ mtimeMs, mode }: Placing): number {
      return local(aside, () => {
        futimesSync(file, secondsOf(mtimeMs), secondsOf(mtimeMs))
        fchmodSync(file, mode & permissionBits & ~umask)
        return fstatSync(file).ino
      })
    },
    close(): void {
      isOpen = false
      local(aside, () => closeSync(file))
    },
    async closeLater(): Promise<void> {
      isOpen = false
      await closing(file).catch((thrown: unknown) => {
        throw localFailure(thrown, aside)
      })
    },
    move: (path: string, how: Placing): string | undefined =>
      local(path, () => moveIntoPlace(aside, path, how)),
    /** What was written is thrown away: whether it could be closed well is of no use. */
    discard(): void {
      if (isOpen) closeLater(file)
      isOpen = false
      rmSync(aside, { force: true })
    },
  }
}

type Written = ReturnType<typeof openWritten>

const writeSome = promisify(writePiece)
const closing = promisify(closeLater)

const privateMode = 0o600
const permissionBits = 0o777
/** Read once: it can only be read by setting it. */
const umask = process.umask()
