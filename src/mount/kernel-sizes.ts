// Sizes the kernel knows, by path: an open of a file whose size differs is answered ESTALE, so that the kernel looks it up again.
import { type Attributes, fileTypes } from '../drive/interface/attributes.js'
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import type { OpenAccess } from '../drive/interface/verbs.js'
import { Failure } from '../failure.js'
import { chain, type MaybePromise } from '../maybe-promise.js'

/**
 * A read stops at the size of the last getattr of that path, with exit status 0, although the file has changed since: by a save
 * through another path, by a failed rename, by a command. For an `open` that answers ESTALE the kernel looks the path up again
 * and opens once more, unseen by the user's program (Linux, `do_filp_open` with LOOKUP_REVAL). Where a kernel does not, the
 * program gets ESTALE, and not a part of the file.
 *
 * @param keptMs how long the kernel caches a size, in milliseconds
 * @param now milliseconds of a clock that is never set
 */
export function withReportedSizes(drive: Drive, keptMs: number, now: () => number): Drive {
  // Two generations, so that expired entries go without a timer or a full scan.
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

  const reportedOf = (path: string): number | undefined => {
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

  /** The size that the kernel computes by itself. */
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

  function compared(handle: number, reported: number, { size }: Attributes): MaybePromise<number> {
    if (size === reported) return handle
    return closeAndThrow(
      handle,
      new Failure('stale-attributes', 'the size changed since the kernel asked for it'),
    )
  }

  /** Closes the file again unless it has the size that the kernel expects. One opened write-only need not be readable. */
  function checked(
    { path, access, reported }: { path: string; access: OpenAccess; reported: number },
    handle: number,
  ): MaybePromise<number> {
    const unseen = (thrown: unknown) => (access === 'write-only' ? handle : closeAndThrow(handle, thrown))
    try {
      const seen = drive.getattr(path)
      if (!(seen instanceof Promise)) return compared(handle, reported, seen)
      return seen.then(attributes => compared(handle, reported, attributes), unseen)
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
      const reported = reportedOf(path)
      const opened = chain(drive.open(path, access), handle => {
        if (access !== 'read') writing.set(handle, path)
        return handle
      })
      return reported === undefined
        ? opened
        : chain(opened, handle => checked({ path, access, reported }, handle))
    },
    async create(path) {
      forget(path)
      const handle = await drive.create(path)
      writing.set(handle, path)
      counted(path, 0)
      return handle
    },
    // The kernel adds a write to the size by itself, and appends there until the next getattr.
    write(handle, bytes, offset) {
      const path = writing.get(handle)
      const reported = path === undefined ? undefined : reportedOf(path)
      if (reported !== undefined) counted(path, Math.max(reported, offset + bytes.length))
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
      // The kernel moves its attributes of the one name to the other, and those of all names below it.
      turn()
      forget(to)
      for (const sizes of [recent, older]) {
        for (const [path, size] of [...sizes]) {
          if (path !== from && !path.startsWith(`${from}/`)) continue
          sizes.delete(path)
          sizes.set(to + path.slice(from.length), size)
        }
      }
    },
  }
}
