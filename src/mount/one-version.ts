// One path, one version: the kernel keeps one size and one set of pages for a path, whatever file its name stands for.
import { LRUCache } from 'lru-cache'
import type { Attributes } from '../drive/attributes.js'
import type { Drive, OpenAccess } from '../drive/verbs.js'
import { Failure } from '../failure.js'
import { type Instant, instant } from '../remote/remote.js'
import { after, type Soon } from '../soon.js'

/** What the programs that have a path open read, and what the kernel was told of it. */
interface Held {
  readonly version: string
  size: number
  mtime: Instant
  readonly handles: Set<number>
}

/** The version whose pages the kernel may still have. */
interface Last {
  readonly version: string
  readonly size: number
  readonly mtime: Instant
  /** Milliseconds added to its time: a version that followed one of the same size and time has another. */
  readonly moved: number
}

/** Paths whose last opened version is remembered. */
const rememberedPaths = 10_000

/**
 * libfuse gives a path one inode for as long as the kernel remembers it. Where its name comes to stand for another file (a
 * calculation renamed on the platform, a file replaced there), a reader of the first one would be cut at the size of the
 * second, and each would be served the other's pages. So for as long as a program has the path open for reading, it keeps the
 * size and time of that version, and an `open` that would read another one is ESTALE.
 */
export function withOneVersion(drive: Drive): Drive {
  const held = new Map<string, Held>()
  const pathOf = new Map<number, string>()
  const last = new LRUCache<string, Last>({ max: rememberedPaths })

  function drop(handle: number): void {
    const path = pathOf.get(handle)
    if (path === undefined) return
    pathOf.delete(handle)
    const one = held.get(path)
    one?.handles.delete(handle)
    if (one?.handles.size === 0) held.delete(path)
  }

  /** Pages are kept until size or time changes: another version of the same size has another time. */
  function movedBy(path: string, { version, size, mtime }: Versioned): number {
    const before = last.peek(path)
    if (before === undefined) return 0
    if (before.version === version) return before.moved
    return before.size === size && before.mtime + before.moved === mtime ? 1 : 0
  }

  function told(path: string, attributes: Attributes): Attributes {
    if (!isVersioned(attributes)) return attributes
    const one = held.get(path)
    if (one !== undefined && one.version !== attributes.version)
      return { ...attributes, size: one.size, mtime: one.mtime }
    const moved = movedBy(path, attributes)
    const mtime = instant(attributes.mtime + moved)
    // A record that is saved meanwhile has another size, and is the same file.
    if (one !== undefined) Object.assign(one, { size: attributes.size, mtime })
    return moved === 0 ? attributes : { ...attributes, mtime }
  }

  function hold(path: string, handle: number, attributes: Attributes): number {
    const version = drive.versionOf(handle)
    if (version === undefined) return handle
    const one = held.get(path)
    // The name may have come to stand for another file since the open.
    const isOne = isVersioned(attributes) && attributes.version === version
    if (!isOne || (one !== undefined && one.version !== version)) throw otherVersion(path)
    const { size, mtime } = attributes
    const moved = movedBy(path, attributes)
    last.set(path, { version, size, mtime, moved })
    if (one === undefined)
      held.set(path, { version, size, mtime: instant(mtime + moved), handles: new Set([handle]) })
    else one.handles.add(handle)
    pathOf.set(handle, path)
    return handle
  }

  /** The handle counts for its path, or it is closed again. */
  function counted(path: string, handle: number): Soon<number> {
    return after(drive.getattr(path), attributes => hold(path, handle, attributes))
  }

  /** Who was told that its version is gone reads no more of it. */
  function failed(handle: number, thrown: unknown): never {
    if (thrown instanceof Failure && thrown.kind === 'replaced') drop(handle)
    throw thrown
  }

  async function closed(handle: number, thrown: unknown): Promise<never> {
    await drive.release(handle)
    throw thrown
  }

  return {
    ...drive,
    getattr: path =>
      held.size === 0 && last.size === 0
        ? drive.getattr(path)
        : after(drive.getattr(path), attributes => told(path, attributes)),
    open(path: string, access: OpenAccess) {
      if (access !== 'read') return drive.open(path, access)
      return after(drive.open(path, access), handle => {
        try {
          const opened = counted(path, handle)
          return opened instanceof Promise ? opened.catch(thrown => closed(handle, thrown)) : opened
        } catch (thrown) {
          return closed(handle, thrown)
        }
      })
    },
    read(handle, target, offset) {
      try {
        const count = drive.read(handle, target, offset)
        return count instanceof Promise ? count.catch(thrown => failed(handle, thrown)) : count
      } catch (thrown) {
        return failed(handle, thrown)
      }
    },
    release(handle) {
      drop(handle)
      return drive.release(handle)
    },
    async rename(from, to) {
      await drive.rename(from, to)
      // The kernel's inode goes with the name, and what is open below a directory with it.
      for (const path of [...held.keys()]) {
        const rest = path === from ? '' : path.startsWith(`${from}/`) ? path.slice(from.length) : undefined
        const one = held.get(path)
        if (rest === undefined || one === undefined) continue
        held.delete(path)
        held.set(to + rest, one)
        for (const handle of one.handles) pathOf.set(handle, to + rest)
      }
    },
  }
}

type Versioned = Attributes & { readonly version: string }

const isVersioned = (attributes: Attributes): attributes is Versioned => attributes.version !== undefined

const otherVersion = (path: string): Failure =>
  new Failure(
    'replaced',
    `${path} stands for another file or version now, and a program still has the one before open: close that first, or read the other by its number (by-id/)`,
  )
