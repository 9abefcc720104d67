// A file of a copy, written beside its place under a name of its own and moved there when it is whole.
import {
  close as closeLater,
  closeSync,
  fchmodSync,
  futimesSync,
  openSync,
  renameSync,
  rmSync,
  write as writePiece,
  writeSync,
} from 'node:fs'
import { promisify } from 'node:util'
import { giveMemoryBack, lendMemory } from '../../lent-memory.js'
import type { MaybePromise } from '../../maybe-promise.js'
import { openQuickDisk } from '../../system/quick-disk.js'
import { localFailure, secondsOf, temporaryName } from './local-target.js'

export interface FileAside {
  /** Bytes in their order; they may change once it is done. @throws Failure */
  write(bytes: Uint8Array): MaybePromise<void>
  /** Moves it to its place; what stood there goes to `kept` first, where that is given. @throws Failure */
  place(path: string, how: Placing): MaybePromise<void>
  discard(): void
}

interface Placing {
  readonly mtimeMs: number
  readonly mode: number
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
      whole.finish(how)
      whole.close()
      whole.move(path, how)
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
      written.finish(how)
      await written.closeLater()
      written.move(path, how)
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
    finish({ mtimeMs, mode }: Placing): void {
      local(aside, () => {
        futimesSync(file, secondsOf(mtimeMs), secondsOf(mtimeMs))
        fchmodSync(file, mode & permissionBits & ~umask)
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
    move(path: string, { kept }: Placing): void {
      local(path, () => {
        if (kept !== undefined) renameSync(path, kept)
        renameSync(aside, path)
      })
    },
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
