// Sizes the kernel was told, by path: an open whose file has another size now is answered ESTALE, so that the kernel looks again.
import { type Attributes, fileTypes } from '../drive/interface/attributes.js'
import type { Drive, OpenAccess } from '../drive/interface/verbs.js'
import { Failure } from '../failure.js'
import { chain, type MaybePromise } from '../maybe-promise.js'

/**
 * A read stops at the size that the kernel was told by the last getattr of that path, with exit status 0, although the file has
 * changed since: by a save through another path, by a rename that failed, by a question of the command line. For an `open` that
 * answers ESTALE the kernel looks the path up anew and opens once more, unseen by the user's program (Linux, `do_filp_open`
 * with LOOKUP_REVAL). Where a kernel does not, the program gets ESTALE, and not a part of the file.
 *
 * @param keptMs how long the kernel counts on a size, in milliseconds
 * @param now milliseconds of a clock that is never set
 */
export function withReportedSizes(drive: Drive, keptMs: number, now: () => number): Drive {
  // Two generations, so that what is over goes without a timer or a walk through all of it.
  let recent = new Map<string, number>()
  let older = new Map<string, number>()
  let turned = now()

  function turn(): void {
    const age = now() - turned
    if (age < keptMs) return
    older = age < 2 * keptMs ? recent : new Map()
    recent = new Map()
    turned = now()
  }

  const toldOf = (path: string): number | undefined => {
    turn()
    return recent.get(path) ?? older.get(path)
  }

  /** The paths of open files that may be written. */
  const writing = new Map<number, string>()

  const forget = (path: string | undefined): void => {
    if (path === undefined) return
    recent.delete(path)
    older.delete(path)
  }

  /** What the kernel counts by itself. */
  function counted(path: string | undefined, size: number): void {
    if (path === undefined) return
    turn()
    recent.set(path, size)
  }

  async function closeAndThrow(handle: number, thrown: unknown): Promise<never> {
    writing.delete(handle)
    await drive.release(handle)
    throw thrown
  }

  function compared(handle: number, told: number, { size }: Attributes): MaybePromise<number> {
    if (size === told) return handle
    return closeAndThrow(
      handle,
      new Failure('stale-attributes', 'the size changed since the kernel asked for it'),
    )
  }

  /** The opened file has the size that the kernel counts on, or it is closed again. What is only written need not be readable. */
  function checked(
    { path, access, told }: { path: string; access: OpenAccess; told: number },
    handle: number,
  ): MaybePromise<number> {
    const unseen = (thrown: unknown) => (access === 'write-only' ? handle : closeAndThrow(handle, thrown))
    try {
      const seen = drive.getattr(path)
      if (!(seen instanceof Promise)) return compared(handle, told, seen)
      return seen.then(attributes => compared(handle, told, attributes), unseen)
    } catch (thrown) {
      return unseen(thrown)
    }
  }

  return {
    ...drive,
    getattr: path =>
      chain(drive.getattr(path), attributes => {
        if ((attributes.mode & fileTypes.file) === fileTypes.file) {
          turn()
          recent.set(path, attributes.size)
        }
        return attributes
      }),
    open(path: string, access: OpenAccess) {
      const told = toldOf(path)
      const opened = chain(drive.open(path, access), handle => {
        if (access !== 'read') writing.set(handle, path)
        return handle
      })
      return told === undefined ? opened : chain(opened, handle => checked({ path, access, told }, handle))
    },
    async create(path) {
      forget(path)
      const handle = await drive.create(path)
      writing.set(handle, path)
      counted(path, 0)
      return handle
    },
    // The kernel counts a write into the size by itself, and appends there until it asks again.
    write(handle, bytes, offset) {
      const path = writing.get(handle)
      const told = path === undefined ? undefined : toldOf(path)
      if (told !== undefined) counted(path, Math.max(told, offset + bytes.length))
      return drive.write(handle, bytes, offset)
    },
    ftruncate(handle, size) {
      counted(writing.get(handle), size)
      return drive.ftruncate(handle, size)
    },
    truncate(path, size) {
      counted(path, size)
      return drive.truncate(path, size)
    },
    release(handle) {
      writing.delete(handle)
      return drive.release(handle)
    },
    async rename(from, to) {
      await drive.rename(from, to)
      // The kernel moves what it knows of the one name to the other.
      const told = toldOf(from)
      forget(from)
      forget(to)
      if (told !== undefined) recent.set(to, told)
    },
  }
}
