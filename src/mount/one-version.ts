// One version per path: the kernel keeps one size and one page cache for a path, whatever file its name means.
import { dirname } from 'node:path'
import type { Attributes } from '../drive/interface/attributes.js'
import type { PathDrive as Drive } from '../drive/interface/path-drive.js'
import type { OpenAccess } from '../drive/interface/verbs.js'
import { Failure, isAbsent, unlessAbsent } from '../failure.js'
import { chain, type MaybePromise, recover } from '../maybe-promise.js'

/** The version that open files of a path read or write, and the attributes the kernel has of it. */
interface OpenPath {
  readonly version: string
  /** Undefined where it was only opened for writing. */
  reported: Attributes | undefined
  readonly handles: Set<number>
}

/**
 * libfuse gives a path one inode for as long as the kernel remembers it. Where its name comes to stand for another file (a
 * calculation renamed on the platform, a file replaced there), a reader of the first one would be cut at the size of the
 * second, and each would get the other's pages. So while a path is open, it keeps the size and time of that version, and an
 * `open` that would read another one is ESTALE: also after a read was answered ESTALE, because that may have been the
 * kernel's own read-ahead.
 */
export function withOneVersion(drive: Drive): Drive {
  const held = new Map<string, OpenPath>()
  const pathOf = new Map<number, string>()

  function drop(handle: number): void {
    const path = pathOf.get(handle)
    if (path === undefined) return
    pathOf.delete(handle)
    const one = held.get(path)
    one?.handles.delete(handle)
    if (one?.handles.size === 0) held.delete(path)
  }

  function reported(path: string, attributes: Attributes): Attributes {
    if (!isVersioned(attributes)) return attributes
    const one = held.get(path)
    if (one !== undefined && one.version !== attributes.version) {
      if (one.reported === undefined) throw otherVersion(path)
      return { ...attributes, size: one.reported.size, mtime: one.reported.mtime }
    }
    // A record that is saved meanwhile has another size, and is the same file.
    if (one !== undefined) one.reported = attributes
    return attributes
  }

  /** From here on the handle counts for its path. */
  function hold(path: string, handle: number, version: string, seen: Attributes | undefined): number {
    const one = held.get(path)
    if (one !== undefined && one.version !== version) throw otherVersion(path)
    if (one === undefined) held.set(path, { version, reported: seen, handles: new Set([handle]) })
    else one.handles.add(handle)
    pathOf.set(handle, path)
    return handle
  }

  function holdRead(path: string, handle: number, version: string, attributes: Attributes): number {
    // The name may stand for another file since the open.
    if (!isVersioned(attributes) || attributes.version !== version) throw otherVersion(path)
    return hold(path, handle, version, attributes)
  }

  /** A stat would affect a record that a program is about to write, and an O_WRONLY handle is never read. */
  function counted(path: string, access: OpenAccess, handle: number): MaybePromise<number> {
    const version = drive.versionOf(handle)
    if (version === undefined) return handle
    if (access === 'write-only') return hold(path, handle, version, undefined)
    return chain(drive.getattr(path), attributes => holdRead(path, handle, version, attributes))
  }

  /**
   * fstat(2) and read(2) of an open file ask by its path. Where another client has renamed a folder of that, they get what
   * was told before; a new `open` comes by the folder, and finds that it is gone.
   */
  async function ofLostFolder(path: string, thrown: unknown): Promise<Attributes> {
    const attributes = held.get(path)?.reported
    if (attributes === undefined || !isAbsent(thrown)) throw thrown
    const folder = await (async () => drive.getattr(dirname(path)))().catch(unlessAbsent)
    if (folder !== undefined) throw thrown
    return attributes
  }

  function attributesOf(path: string): MaybePromise<Attributes> {
    if (!held.has(path)) return drive.getattr(path)
    try {
      return recover(drive.getattr(path), thrown => ofLostFolder(path, thrown))
    } catch (thrown) {
      return ofLostFolder(path, thrown)
    }
  }

  async function closed(handle: number, thrown: unknown): Promise<never> {
    await drive.release(handle)
    throw thrown
  }

  return {
    ...drive,
    getattr: path =>
      held.size === 0
        ? drive.getattr(path)
        : chain(attributesOf(path), attributes => reported(path, attributes)),
    open: (path: string, access: OpenAccess) =>
      chain(drive.open(path, access), handle => {
        try {
          const opened = counted(path, access, handle)
          return opened instanceof Promise ? opened.catch(thrown => closed(handle, thrown)) : opened
        } catch (thrown) {
          return closed(handle, thrown)
        }
      }),
    async create(path) {
      const handle = await drive.create(path)
      try {
        return await counted(path, 'write-only', handle)
      } catch (thrown) {
        return closed(handle, thrown)
      }
    },
    release(handle) {
      drop(handle)
      return drive.release(handle)
    },
    async rename(from, to) {
      await drive.rename(from, to)
      // The kernel's inode goes with the name, its pages and what is open below a directory with it.
      for (const [path, rest] of atOrBelow(from, [...held.keys()])) {
        const one = held.get(path)
        if (one === undefined) continue
        held.delete(path)
        held.set(to + rest, one)
        for (const handle of one.handles) pathOf.set(handle, to + rest)
      }
    },
  }
}

/** Those of the paths that are this one or below it, each with what follows it. */
function atOrBelow(above: string, paths: readonly string[]): [path: string, rest: string][] {
  return paths
    .filter(path => path === above || path.startsWith(`${above}/`))
    .map(path => [path, path.slice(above.length)])
}

type Versioned = Attributes & { readonly version: string }

const isVersioned = (attributes: Attributes): attributes is Versioned => attributes.version !== undefined

const otherVersion = (path: string): Failure =>
  new Failure(
    'replaced',
    `${path} stands for another file or version now, and a program still has the previous one open: close that first, or read the new one by its number (by-id/)`,
  )
