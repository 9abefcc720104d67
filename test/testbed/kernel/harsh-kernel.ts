// A kernel as harsh as the real one may be: every part of a path looked up, 4 KiB reads to the end, O_TRUNC by path, two flushes.
import { dirname, join, normalize } from 'node:path'
import type { Attributes } from '../../../src/drive/interface/attributes.js'
import { fileTypes } from '../../../src/drive/interface/attributes.js'
import { errnoOf } from '../../../src/drive/interface/errno.js'
import type { PathDrive as Drive } from '../../../src/drive/interface/path-drive.js'
import { asFailure, type Failure } from '../../../src/failure.js'
import type { MaybePromise } from '../../../src/maybe-promise.js'
import { byteOffset, instant } from '../../../src/remote/remote.js'
import type { DriveFiles, FileKind, FileStat, OpenedFile } from '../testbed.js'

export interface Mountable {
  /** The drive that is mounted now. */
  readonly drive: () => Drive
  /** Mounted `ro`: the kernel itself refuses every change. */
  readonly readOnly: boolean
  readonly failed: (verb: string, path: string, failure: Failure) => void
}

const pageBytes = 4096
const typeBits = 0o170000
const linksAtMost = 40

class Errno extends Error {
  constructor(
    readonly code: string,
    message: string,
    options?: ErrorOptions,
  ) {
    super(`${code}: ${message}`, options)
  }
}

/** The files of a drive as programs would see them through a kernel that caches nothing. */
export function harshKernel(mountable: Mountable): DriveFiles {
  async function call<Value>(
    verb: string,
    path: string,
    work: (drive: Drive) => MaybePromise<Value>,
  ): Promise<Value> {
    try {
      return await work(mountable.drive())
    } catch (thrown) {
      const failure = asFailure(thrown)
      mountable.failed(verb, path, failure)
      throw new Errno(errnoOf(failure.kind), `${verb} ${path}: ${failure.message}`, { cause: failure })
    }
  }

  const getattr = (path: string): Promise<Attributes> => call('getattr', path, drive => drive.getattr(path))

  /** The path without links on its way; the last part is followed or not, as the call wants. */
  async function resolved(given: string, last: 'follow' | 'keep', depth = 0): Promise<string> {
    if (depth > linksAtMost) throw new Errno('ELOOP', given)
    const path = normalize(`/${given}`).replace(/(.)\/$/, '$1')
    const cuts = [...path.slice(1).matchAll(/\/|$/g)].map(found => found.index + 1)
    for (const cut of path === '/' ? [] : cuts) {
      const here = path.slice(0, cut)
      if (cut === path.length && last === 'keep') break
      if (typeOf((await getattr(here)).mode) !== 'link') continue
      const to = await call('readlink', here, drive => drive.readlink(here))
      return resolved(join(dirname(here), to, path.slice(cut)), last, depth + 1)
    }
    return path
  }

  function refuseChanges(path: string): void {
    if (mountable.readOnly) throw new Errno('EROFS', path)
  }

  /** A change of a name: its directory is looked up, the name itself is the drive's to judge. */
  async function changed(
    verb: string,
    given: string,
    work: (drive: Drive, path: string) => Promise<unknown>,
  ): Promise<void> {
    const path = await resolved(given, 'keep')
    refuseChanges(path)
    await call(verb, path, drive => work(drive, path))
  }

  async function isThere(path: string): Promise<boolean> {
    try {
      await getattr(path)
      return true
    } catch (thrown) {
      if (thrown instanceof Errno && thrown.code === 'ENOENT') return false
      throw thrown
    }
  }

  async function handleFor(path: string, how: 'r' | 'r+' | 'w' | 'a'): Promise<number> {
    if (how === 'r') return call('open', path, drive => drive.open(path, 'read'))
    refuseChanges(path)
    if (how !== 'r+' && !(await isThere(path))) return call('create', path, drive => drive.create(path))
    if (how === 'w') await call('truncate', path, drive => drive.truncate(path, byteOffset(0)))
    return call('open', path, drive => drive.open(path, 'write'))
  }

  async function open(given: string, how: 'r' | 'r+' | 'w' | 'a'): Promise<OpenedFile> {
    const path = await resolved(given, 'follow').catch(async (thrown: unknown) => {
      if (how === 'r' || how === 'r+' || !(thrown instanceof Errno) || thrown.code !== 'ENOENT') throw thrown
      return resolved(given, 'keep')
    })
    const handle = await handleFor(path, how)
    return {
      async read(length, position) {
        const into = Buffer.alloc(length)
        const count = await call('read', path, drive => drive.read(handle, into, byteOffset(position)))
        return into.subarray(0, count)
      },
      async write(text, position) {
        const at = how === 'a' ? (await getattr(path)).size : position
        const bytes = Buffer.from(text)
        for (let from = 0; from < bytes.length; from += pageBytes) {
          const piece = bytes.subarray(from, from + pageBytes)
          await call('write', path, drive => drive.write(handle, piece, byteOffset(at + from)))
        }
      },
      truncate: size => call('ftruncate', path, drive => drive.ftruncate(handle, byteOffset(size))),
      sync: () => call('fsync', path, drive => drive.fsync(handle)),
      async close() {
        const flushes = [1, 2].map(() => call('flush', path, drive => drive.flush(handle)))
        const ends = await Promise.allSettled(flushes)
        // close(2) does not wait for the release.
        call('release', path, drive => drive.release(handle)).catch(() => {})
        for (const end of ends) if (end.status === 'rejected') throw end.reason
      },
    }
  }

  async function readFile(given: string): Promise<Buffer> {
    const path = await resolved(given, 'follow')
    const { size } = await getattr(path)
    const file = await open(path, 'r')
    const pages = Array.from({ length: Math.ceil(size / pageBytes) }, (_, page) => page * pageBytes)
    try {
      // Read-ahead asks for pages at once and in any order; a read stops at the known size.
      const read = await Promise.all(
        pages.map(at => file.read(Math.min(pageBytes, size - at), at).then(bytes => ({ at, bytes }))),
      )
      return Buffer.concat(read.map(({ bytes }) => bytes))
    } finally {
      await file.close()
    }
  }

  return {
    async readdir(given) {
      const path = await resolved(given, 'follow')
      const entries = [...(await call('readdir', path, drive => drive.readdir(path)))]
      return new Map(entries.map(({ name, mode }) => [name, typeOf(mode)]))
    },
    lstat: async path => seen(await getattr(await resolved(path, 'keep'))),
    stat: async path => seen(await getattr(await resolved(path, 'follow'))),
    readFile,
    async readlink(given) {
      const path = await resolved(given, 'keep')
      return call('readlink', path, drive => drive.readlink(path))
    },
    open,
    async truncate(given, size) {
      const path = await resolved(given, 'follow')
      refuseChanges(path)
      await call('truncate', path, drive => drive.truncate(path, byteOffset(size)))
    },
    async rename(from, to) {
      const target = await resolved(to, 'keep')
      await changed('rename', from, (drive, path) => drive.rename(path, target))
    },
    unlink: path => changed('unlink', path, (drive, at) => drive.unlink(at)),
    mkdir: path =>
      changed('mkdir', path, async (drive, at) => {
        await drive.mkdir(at)
        // The kernel asks at once for what it has just made.
        await drive.getattr(at)
      }),
    rmdir: path => changed('rmdir', path, (drive, at) => drive.rmdir(at)),
    symlink: (target, path) => changed('symlink', path, (drive, at) => drive.symlink(target, at)),
    async touch(path) {
      await open(path, 'a').then(
        file => file.close(),
        () => undefined,
      )
      await changed('utimens', path, (drive, at) => drive.touch(at, instant(Date.now())))
    },
    chmod: path => changed('chmod', path, (drive, at) => drive.change(at)),
    async statfs() {
      const { bsize, blocks } = await call('statfs', '/', drive => drive.statfs())
      return { bsize, blocks }
    },
    async xattr(given, name) {
      const path = await resolved(given, 'keep')
      return call('getxattr', path, drive => drive.getxattr(path, name)).catch(() => undefined)
    },
    async xattrs(given) {
      const path = await resolved(given, 'keep')
      return call('listxattr', path, drive => drive.listxattr(path))
    },
  }
}

function typeOf(mode: number): FileKind {
  if ((mode & typeBits) === fileTypes.directory) return 'directory'
  return (mode & typeBits) === fileTypes.link ? 'link' : 'file'
}

const seen = ({ mode, size, mtime }: Attributes): FileStat => ({
  kind: typeOf(mode),
  mode: mode & ~typeBits,
  size,
  mtimeMs: mtime,
})
