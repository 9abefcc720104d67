// New pages before a second reader: after a path has got another version, the next opens wait until the first one's has dropped the old pages.
import { LRUCache } from 'lru-cache'
import type { PathDrive as FileVerbs } from '../drive/interface/path-drive.js'
import type { OpenAccess } from '../drive/interface/verbs.js'
import { upTo } from '../growing-lru.js'
import { chain } from '../maybe-promise.js'
import { type Clock, systemClock } from '../remote/clock.js'
import type { ByteOffset } from '../remote/remote.js'

type OpenVerbs = Pick<FileVerbs, 'open' | 'read' | 'versionOf' | 'flush' | 'release'>

/** An open whose answer makes the kernel drop the pages of the version before. */
interface Settling {
  readonly handle: number
  /** Resolves when the kernel has dropped them. */
  readonly done: Promise<void>
  end(): void
}

/** Paths whose last opened version is remembered. */
const rememberedPaths = 10_000
/** Milliseconds: an opener that neither reads nor closes holds the others up no longer. */
const longestWait = 100

/**
 * libfuse tells the kernel with the first open of a version to drop its pages, and with the next one to keep them. The
 * kernel drops them in the first program's own time, which may come after the second program's: that one would read old
 * pages beside new ones. The first one's `read`, `flush` or `release` shows that its open has ended.
 */
export function withSettledPages<Verbs extends OpenVerbs>(drive: Verbs, clock: Clock = systemClock): Verbs {
  const last = new LRUCache<string, string>(upTo(rememberedPaths))
  const settling = new Map<string, Settling>()

  function begin(path: string, handle: number): void {
    settling.get(path)?.end()
    let end = (): void => {}
    const done = new Promise<void>(resolve => {
      end = () => {
        callOff()
        if (settling.get(path) === one) settling.delete(path)
        resolve()
      }
    })
    const one = { handle, done, end }
    const callOff = clock.after(longestWait, end)
    settling.set(path, one)
  }

  function answered(handle: number): void {
    if (settling.size === 0) return
    for (const one of settling.values()) if (one.handle === handle) one.end()
  }

  return {
    ...drive,
    open: (path: string, access: OpenAccess) =>
      chain(drive.open(path, access), handle => {
        const version = access === 'write-only' ? undefined : drive.versionOf(handle)
        if (version === undefined) return handle
        const before = last.get(path)
        last.set(path, version)
        if (before !== undefined && before !== version) begin(path, handle)
        const first = settling.get(path)
        return first === undefined || first.handle === handle ? handle : first.done.then(() => handle)
      }),
    read(handle: number, target: Uint8Array, offset: ByteOffset) {
      answered(handle)
      return drive.read(handle, target, offset)
    },
    flush(handle: number) {
      answered(handle)
      return drive.flush(handle)
    },
    release(handle: number) {
      answered(handle)
      return drive.release(handle)
    },
  }
}
