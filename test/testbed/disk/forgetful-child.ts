// Serves a forgetful tree as a mount, and cuts its power when the parent says so.
import { constants } from 'node:os'
import type { Operations, Stat } from 'fuse-native'
import { CalcfsFuse } from '../../../src/mount/fuse.js'
import { chance } from '../../long/chance.js'
import { type Cut, type File, ForgetfulTree, type Node, pageBytes } from './forgetful-tree.js'

/** What the parent sends: the power goes, and comes again. */
export interface Order {
  readonly cut: Cut
  readonly seed: number
}

const [directory = ''] = process.argv.slice(2)
const tree = new ForgetfulTree()
const { ENOENT, ENOTDIR, EISDIR, EEXIST, ENOTEMPTY, EBADF, EINVAL } = constants.errno
const handles = new Map<number, File>()
let lastHandle = 0

const types = { directory: 0o040000, file: 0o100000 } // S_IFDIR, S_IFREG of inode(7)
const owner = { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }

function statOf(node: Node): Stat {
  const { mtime } = node
  const size = node.kind === 'file' ? node.size : pageBytes
  const mode = node.kind === 'file' ? types.file | node.mode : types.directory | 0o700
  const blocks = Math.ceil(size / 512)
  return { ...owner, mode, size, nlink: 1, blocks, blksize: pageBytes, mtime, atime: mtime, ctime: mtime }
}

function opened(file: File): number {
  lastHandle += 1
  handles.set(lastHandle, file)
  return lastHandle
}

function resize(file: File, size: number): void {
  const bytes = Buffer.alloc(size)
  file.bytes.copy(bytes, 0, 0, Math.min(size, file.size))
  file.bytes = bytes
  file.size = size
  file.mtime = Date.now()
}

function write(file: File, from: Buffer, position: number): void {
  const end = position + from.length
  if (end > file.bytes.length) {
    const bytes = Buffer.alloc(Math.max(end, 2 * file.bytes.length))
    file.bytes.copy(bytes, 0, 0, file.size)
    file.bytes = bytes
  }
  from.copy(file.bytes, position)
  file.size = Math.max(file.size, end)
  file.mtime = Date.now()
}

function make(path: string, node: Node): number {
  const place = tree.placeOf(path)
  if (place === undefined) return -ENOENT
  if (place.directory.entries.has(place.name)) return -EEXIST
  tree.change({ ...place, node })
  return 0
}

function take(path: string, kind: Node['kind']): number {
  const place = tree.placeOf(path)
  const node = place?.directory.entries.get(place.name)
  if (place === undefined || node === undefined) return -ENOENT
  if (node.kind !== kind) return kind === 'file' ? -EISDIR : -ENOTDIR
  if (node.kind === 'directory' && node.entries.size > 0) return -ENOTEMPTY
  tree.change({ ...place, node: undefined })
  return 0
}

function move(from: string, to: string): number {
  const [old, fresh] = [tree.placeOf(from), tree.placeOf(to)]
  const node = old?.directory.entries.get(old.name)
  if (old === undefined || fresh === undefined || node === undefined) return -ENOENT
  const there = fresh.directory.entries.get(fresh.name)
  if (there?.kind === 'directory' && there.entries.size > 0) return -ENOTEMPTY
  if (there !== undefined && there.kind !== node.kind) return there.kind === 'directory' ? -EISDIR : -ENOTDIR
  if (there !== node) tree.change({ ...old, node: undefined }, { ...fresh, node })
  return 0
}

/** With the file of a path, or the errno where there is none. */
function withFile(path: string, work: (file: File) => void): number {
  const node = tree.at(path)
  if (node === undefined) return -ENOENT
  if (node.kind !== 'file') return -EISDIR
  work(node)
  return 0
}

const operations: Partial<Operations> = {
  init: done => done(0),
  getattr(path, done) {
    const node = tree.at(path)
    if (node === undefined) done(-ENOENT)
    else done(0, statOf(node))
  },
  readdir(path, done) {
    const node = tree.at(path)
    if (node?.kind !== 'directory') return done(node === undefined ? -ENOENT : -ENOTDIR)
    const dots = [tree.root, tree.root].map(statOf)
    done(0, ['.', '..', ...node.entries.keys()], [...dots, ...[...node.entries.values()].map(statOf)])
  },
  open: (path, _flags, done) => {
    const node = tree.at(path)
    if (node?.kind !== 'file') return done(node === undefined ? -ENOENT : -EISDIR)
    done(0, opened(node))
  },
  create(path, mode, done) {
    const file = tree.file(mode & 0o7777)
    const error = make(path, file)
    done(error, error === 0 ? opened(file) : undefined)
  },
  read(_path, handle, buffer, length, position, done) {
    const file = handles.get(handle)
    if (file === undefined) return done(-EBADF)
    done(file.bytes.copy(buffer, 0, Math.min(position, file.size), Math.min(position + length, file.size)))
  },
  write(_path, handle, buffer, length, position, done) {
    const file = handles.get(handle)
    if (file === undefined) return done(-EBADF)
    write(file, buffer.subarray(0, length), position)
    done(length)
  },
  truncate: (path, size, done) => done(withFile(path, file => resize(file, size))),
  ftruncate(_path, handle, size, done) {
    const file = handles.get(handle)
    if (file === undefined) return done(-EBADF)
    resize(file, size)
    done(0)
  },
  flush: (_path, _handle, done) => done(0),
  fsync(_path, _dataOnly, handle, done) {
    const file = handles.get(handle)
    if (file === undefined) return done(-EBADF)
    tree.sync(file)
    done(0)
  },
  fsyncdir(path, _dataOnly, _handle, done) {
    const node = tree.at(path)
    if (node?.kind !== 'directory') return done(-EINVAL)
    tree.sync(node)
    done(0)
  },
  release(_path, handle, done) {
    handles.delete(handle)
    done(0)
  },
  unlink: (path, done) => done(take(path, 'file')),
  rmdir: (path, done) => done(take(path, 'directory')),
  mkdir: (path, _mode, done) => done(make(path, tree.folder())),
  rename: (from, to, done) => done(move(from, to)),
  chmod: (path, mode, done) =>
    done(
      tree.at(path)?.kind === 'directory'
        ? 0
        : withFile(path, file => {
            file.mode = mode & 0o7777
          }),
    ),
  chown: (_path, _uid, _gid, done) => done(0),
  utimens(path, _atime, mtime, done) {
    const node = tree.at(path)
    if (node === undefined) return done(-ENOENT)
    node.mtime = mtime
    done(0)
  },
  statfs: (_path, done) => done(0, room),
}

const room = {
  bsize: pageBytes,
  frsize: pageBytes,
  blocks: 1 << 20,
  bfree: 1 << 19,
  bavail: 1 << 19,
  files: 1 << 20,
  ffree: 1 << 19,
  favail: 1 << 19,
  namemax: 255,
}

const settings = {
  source: 'forgetful',
  readOnly: false,
  xattrs: false,
  allowOther: false,
  timer: 30_000,
}
let fuse: CalcfsFuse | undefined

function mount(): Promise<void> {
  const fresh = new CalcfsFuse(directory, operations, settings)
  fuse = fresh
  return new Promise((mounted, failed) => {
    fresh.mount(error => (error === null ? mounted() : failed(error)))
  })
}

const unmount = (): Promise<void> =>
  new Promise((ended, failed) => {
    if (fuse === undefined) return ended()
    fuse.unmount(error => (error === null ? ended() : failed(error)))
  })

/** The kernel's pages go with the mount. */
async function cut(order: Order): Promise<void> {
  await unmount()
  handles.clear()
  tree.cut(order.cut, chance(order.seed))
  await mount()
  process.send?.('back')
}

process.on('message', message => void cut(message as Order))
process.once('disconnect', () => void unmount().finally(() => process.exit(0)))
await mount()
process.send?.('back')
