// What Linux and libfuse keep of a drive: names and attributes for a second, and the pages of a file until its size or time changes.
import type { Attributes } from '../../../src/drive/interface/attributes.js'
import { errnoOf } from '../../../src/drive/interface/errno.js'
import type { PathDrive as Drive } from '../../../src/drive/interface/path-drive.js'
import { asFailure } from '../../../src/failure.js'
import { withReportedSizes } from '../../../src/mount/kernel-sizes.js'
import { withOneVersion } from '../../../src/mount/one-version.js'
import type { Instant } from '../../../src/remote/remote.js'

interface Told {
  readonly attributes: Attributes
  readonly until: number
}

interface Pages {
  readonly size: number
  readonly mtime: Instant
  readonly read: Map<string, Uint8Array>
}

const keptMs = 1000

/** The drive behind what the daemon mounts it with, and behind caches like those of a real kernel (`auto_cache`). */
export function withKernelCaches(bare: Drive, now: () => number): Drive {
  const drive = withReportedSizes(withOneVersion(bare), keptMs, now)
  const told = new Map<string, Told>()
  const pages = new Map<string, Pages>()
  const pathOf = new Map<number, string>()

  async function getattr(path: string): Promise<Attributes> {
    const known = told.get(path)
    if (known !== undefined && now() < known.until) return known.attributes
    const attributes = await drive.getattr(path)
    told.set(path, { attributes, until: now() + keptMs })
    return attributes
  }

  function forget(path: string | undefined): void {
    if (path === undefined) return
    told.delete(path)
    pages.delete(path)
  }

  /** For ESTALE the path is looked up once more, and opened again. */
  async function openAgain(...[path, access]: Parameters<Drive['open']>): Promise<number> {
    try {
      return await drive.open(path, access)
    } catch (thrown) {
      if (errnoOf(asFailure(thrown).kind) !== 'ESTALE') throw thrown
      told.delete(path)
      await getattr(path)
      return drive.open(path, access)
    }
  }

  /** The names below a directory go with it. */
  function move<Kept>(kept: Map<string, Kept>, from: string, to: string): void {
    kept.delete(to)
    for (const [path, one] of [...kept]) {
      if (path !== from && !path.startsWith(`${from}/`)) continue
      kept.delete(path)
      kept.set(to + path.slice(from.length), one)
    }
  }

  return {
    ...drive,
    getattr,
    async open(path, access) {
      const handle = await openAgain(path, access)
      pathOf.set(handle, path)
      if (access === 'write-only') return handle
      const { size, mtime } = await drive.getattr(path)
      const kept = pages.get(path)
      if (kept?.size !== size || kept.mtime !== mtime) pages.set(path, { size, mtime, read: new Map() })
      return handle
    },
    async create(path) {
      forget(path)
      const handle = await drive.create(path)
      pathOf.set(handle, path)
      return handle
    },
    async read(handle, target, offset) {
      const read = pages.get(pathOf.get(handle) ?? '')?.read
      const page = `${offset} ${target.length}`
      const kept = read?.get(page)
      if (kept === undefined) {
        const count = await drive.read(handle, target, offset)
        read?.set(page, target.slice(0, count))
        return count
      }
      target.set(kept)
      return kept.length
    },
    write(handle, bytes, offset) {
      forget(pathOf.get(handle))
      return drive.write(handle, bytes, offset)
    },
    ftruncate(handle, size) {
      forget(pathOf.get(handle))
      return drive.ftruncate(handle, size)
    },
    truncate(path, size) {
      forget(path)
      return drive.truncate(path, size)
    },
    touch(path, mtime) {
      told.delete(path)
      return drive.touch(path, mtime)
    },
    unlink(path) {
      forget(path)
      return drive.unlink(path)
    },
    rmdir(path) {
      forget(path)
      return drive.rmdir(path)
    },
    release(handle) {
      pathOf.delete(handle)
      return drive.release(handle)
    },
    async rename(from, to) {
      await drive.rename(from, to)
      move(told, from, to)
      move(pages, from, to)
    },
  }
}
