// The kernel's verbs: one place where each is carried out or refused, whatever the path.
import type { ContentCache } from '../cache/content.js'
import type { Times } from '../cache/times.js'
import { Failure } from '../failure.js'
import type { Ask, ByteOffset, Content, Instant } from '../remote/remote.js'
import { instant } from '../remote/remote.js'
import { type Attributes, modeOf } from './attributes.js'
import type { DraftTexts } from './draft-texts.js'
import type { Foresight } from './foresight.js'
import { openHandles } from './handles.js'
import {
  type DirectoryNode,
  type GeneratedNode,
  isDirectory,
  keyOf,
  type Node,
  type RecordNode,
  type ScratchPlace,
} from './node.js'
import type { RecordHandle, RecordSource, Records } from './records.js'
import type { Scratch } from './scratch.js'
import { isScratchAmong, isScratchBeside } from './scratch-name.js'
import type { Shown, ShownTexts } from './shown.js'
import { scratchDirectory, type Tree } from './tree.js'
import type { Xattrs } from './xattrs.js'

/** Milliseconds after which each kind of call must have ended. */
export interface Deadlines {
  readonly metadata: number
  readonly read: number
  readonly save: number
}

export interface DriveParts {
  readonly tree: Tree
  readonly content: ContentCache
  readonly times: Times
  readonly shown: ShownTexts
  readonly records: Records
  readonly scratch: Scratch
  readonly drafts: DraftTexts
  /** The present text of a generated node, and how a record is read and edited. */
  readonly produce: (node: GeneratedNode, ask: Ask) => Promise<Shown>
  readonly source: (node: RecordNode) => RecordSource
  readonly statfs: () => Promise<Space>
  readonly xattrs: Xattrs
  readonly foresight: Foresight
  readonly deadlines: Deadlines
  readonly now: () => Instant
}

/** Space as statfs(2) shows it, in blocks of `frsize` bytes. */
export interface Space {
  readonly bsize: number
  readonly frsize: number
  readonly blocks: number
  readonly bfree: number
  readonly bavail: number
  readonly files: number
  readonly ffree: number
  readonly favail: number
  readonly namemax: number
}

export interface DirectoryEntry {
  readonly name: string
  /** Type bits of st_mode, for d_type. */
  readonly mode: number
}

export interface Drive {
  getattr(path: string): Promise<Attributes>
  readdir(path: string): Promise<readonly DirectoryEntry[]>
  readlink(path: string): Promise<string>
  statfs(): Promise<Space>
  open(path: string, access: 'read' | 'write'): Promise<number>
  create(path: string): Promise<number>
  read(handle: number, target: Uint8Array, offset: ByteOffset): Promise<number>
  write(handle: number, bytes: Uint8Array, offset: ByteOffset): Promise<void>
  truncate(path: string, size: ByteOffset): Promise<void>
  ftruncate(handle: number, size: ByteOffset): Promise<void>
  flush(handle: number): Promise<void>
  fsync(handle: number): Promise<void>
  release(handle: number): Promise<void>
  unlink(path: string): Promise<void>
  rename(from: string, to: string): Promise<void>
  mkdir(path: string): Promise<void>
  rmdir(path: string): Promise<void>
  symlink(target: string, path: string): Promise<void>
  link(path: string): Promise<void>
  mknod(path: string): Promise<void>
  /** chmod and chown: editors copy them to a record; they change nothing. */
  change(path: string): Promise<void>
  touch(path: string, mtime: Instant): Promise<void>
  setxattr(path: string): Promise<void>
  getxattr(path: string, name: string): Promise<string | undefined>
  listxattr(path: string): Promise<string[]>
}

type OpenFile =
  | { readonly kind: 'record'; readonly file: RecordHandle }
  | { readonly kind: 'local'; readonly file: LocalHandle }
  | { readonly kind: 'content'; readonly content: Content }
  | { readonly kind: 'text'; readonly bytes: Uint8Array; release(): void }

type LocalHandle = Awaited<ReturnType<Scratch['open']>>

/** A directory's st_size means nothing here; this is what most file systems show. */
const directorySize = 4096

const noUpload =
  'the service has no upload: files cannot be created here, only records be changed and what an editor makes beside them'

export function openDrive(parts: DriveParts): Drive {
  const { tree, content, times, shown, records, scratch, deadlines, now } = parts
  const handles = openHandles<OpenFile>()
  const ask = (milliseconds: number): Ask => ({ deadline: instant(now() + milliseconds), lane: 'user' })
  const walk = (path: string, within: Ask): Promise<Node> => tree.walk(path, within)

  function present(path: string, node: Node): Node {
    if (node.kind === 'record' && records.isAway(keyOf(node)))
      throw new Failure('absent', `${path}: it was just taken away`)
    return node
  }

  async function getattr(path: string): Promise<Attributes> {
    const within = ask(deadlines.metadata)
    const node = present(path, await walk(path, within))
    return attributes(node, within)
  }

  async function attributes(node: Node, within: Ask): Promise<Attributes> {
    const mode = modeOf(node, node.kind !== 'record' || !(parts.source(node).editing instanceof Failure))
    switch (node.kind) {
      case 'record':
        return { mode, ...(await records.stat(parts.source(node), within)) }
      case 'generated': {
        const { bytes, mtime } = await shown.stat(keyOf(node), () => parts.produce(node, within))
        return { mode, size: bytes.length, mtime }
      }
      case 'content':
        return {
          mode,
          size: await content.size(node.content, within),
          mtime: times.first(keyOf(node), undefined),
        }
      case 'scratch':
        return { mode, ...(await scratch.stat(node.place)) }
      case 'draft-text': {
        const { bytes, mtime } = await parts.drafts.read(node.name)
        return { mode, size: bytes.length, mtime }
      }
      case 'link':
        return { mode, size: Buffer.byteLength(node.to), mtime: times.first(keyOf(node), undefined) }
      case 'project':
      case 'calculation':
        return { mode, size: directorySize, mtime: times.first(keyOf(node), node.date) }
      default:
        return { mode, size: directorySize, mtime: times.first(keyOf(node), undefined) }
    }
  }

  async function readdir(path: string): Promise<DirectoryEntry[]> {
    const within = ask(deadlines.metadata)
    const node = await walk(path, within)
    if (!isDirectory(node)) throw new Failure('not-directory', `${path} is not a directory`)
    const entries = (await tree.list(node, within)).filter(entry => !isGone(entry.node))
    parts.foresight.listed(path, node, entries)
    return entries.map(entry => ({ name: entry.name, mode: modeOf(entry.node, true) }))
  }

  const isGone = (node: Node): boolean => node.kind === 'record' && records.isAway(keyOf(node))

  async function open(path: string, access: 'read' | 'write'): Promise<number> {
    const within = ask(deadlines.metadata)
    const node = present(path, await walk(path, within))
    if (isDirectory(node)) throw new Failure('is-directory', `${path} is a directory`)
    return handles.add(await openNode(node, access, within))
  }

  async function openNode(node: Node, access: 'read' | 'write', within: Ask): Promise<OpenFile> {
    if (node.kind === 'scratch') return { kind: 'local', file: await scratch.open(node.place) }
    if (node.kind === 'record')
      return { kind: 'record', file: await records.open(parts.source(node), access, within) }
    if (access === 'write') throw new Failure('not-permitted', readOnlyBecause(node))
    switch (node.kind) {
      case 'content':
        return { kind: 'content', content: node.content }
      case 'generated': {
        const held = await shown.open(keyOf(node), () => parts.produce(node, within))
        return { kind: 'text', bytes: held.shown.bytes, release: () => held.release() }
      }
      case 'draft-text':
        return { kind: 'text', bytes: (await parts.drafts.read(node.name)).bytes, release: nothingToDo }
      default:
        throw new Failure('invalid', 'this is nothing that can be opened')
    }
  }

  async function create(path: string): Promise<number> {
    const within = ask(deadlines.metadata)
    const { directory, name } = await parentOf(path, within)
    const node = await lookupRecord(path, within)
    if (node !== undefined) {
      return handles.add({ kind: 'record', file: await records.create(parts.source(node)) })
    }
    const place = scratchPlace(directory, name)
    if (place === undefined) throw new Failure('not-permitted', `${path}: ${noUpload}`)
    return handles.add({ kind: 'local', file: await scratch.create(place) })
  }

  /** The record at a path, also while its file is away; undefined for anything else. */
  async function lookupRecord(path: string, within: Ask): Promise<RecordNode | undefined> {
    try {
      const node = await walk(path, within)
      return node.kind === 'record' ? node : undefined
    } catch (thrown) {
      if (thrown instanceof Failure && thrown.kind === 'absent') return undefined
      throw thrown
    }
  }

  async function parentOf(path: string, within: Ask): Promise<{ directory: DirectoryNode; name: string }> {
    const cut = path.lastIndexOf('/')
    const directory = await tree.directory(path.slice(0, cut), within)
    return { directory, name: path.slice(cut + 1) }
  }

  function scratchPlace(directory: DirectoryNode, name: string): ScratchPlace | undefined {
    const beside = scratchDirectory(directory)
    if (beside === undefined || !takesScratch(directory, name)) return undefined
    return { directory: beside, name }
  }

  async function read(handle: number, target: Uint8Array, offset: ByteOffset): Promise<number> {
    const file = handles.get(handle)
    switch (file.kind) {
      case 'content':
        return content.read(file.content, offset, target, ask(deadlines.read))
      case 'record':
        return file.file.read(target, offset)
      case 'local':
        return (await file.file.read(target, 0, target.length, offset)).bytesRead
      case 'text': {
        const bytes = file.bytes.subarray(offset, offset + target.length)
        target.set(bytes)
        return bytes.length
      }
    }
  }

  async function write(handle: number, bytes: Uint8Array, offset: ByteOffset): Promise<void> {
    const file = handles.get(handle)
    if (file.kind === 'record') return file.file.write(bytes, offset)
    if (file.kind !== 'local') throw new Failure('bad-handle', 'this file is open for reading only')
    await file.file.write(bytes, 0, bytes.length, offset)
  }

  async function truncate(path: string, size: ByteOffset): Promise<void> {
    const within = ask(deadlines.metadata)
    const node = present(path, await walk(path, within))
    if (node.kind === 'record') return records.truncate(parts.source(node), size, within)
    if (node.kind === 'scratch') return scratch.truncate(node.place, size)
    throw new Failure(isDirectory(node) ? 'is-directory' : 'not-permitted', readOnlyBecause(node))
  }

  async function ftruncate(handle: number, size: ByteOffset): Promise<void> {
    const file = handles.get(handle)
    if (file.kind === 'record') return file.file.truncate(size)
    if (file.kind !== 'local') throw new Failure('bad-handle', 'this file is open for reading only')
    await file.file.truncate(size)
  }

  async function flush(handle: number): Promise<void> {
    const file = handles.get(handle)
    if (file.kind === 'record') await file.file.flush(ask(deadlines.save))
  }

  async function fsync(handle: number): Promise<void> {
    const file = handles.get(handle)
    if (file.kind === 'record') await file.file.sync()
    if (file.kind === 'local') await file.file.sync()
  }

  async function release(handle: number): Promise<void> {
    const file = handles.take(handle)
    switch (file.kind) {
      case 'record':
        return file.file.release(ask(deadlines.save))
      case 'local':
        return file.file.close()
      case 'content':
        return
      case 'text':
        return file.release()
    }
  }

  async function unlink(path: string): Promise<void> {
    const within = ask(deadlines.metadata)
    const node = present(path, await walk(path, within))
    if (node.kind === 'scratch') return scratch.remove(node.place)
    if (node.kind === 'record') {
      await records.takeAway(parts.source(node), within)
      return
    }
    throw new Failure(isDirectory(node) ? 'is-directory' : 'not-permitted', readOnlyBecause(node))
  }

  async function rename(from: string, to: string): Promise<void> {
    const within = ask(deadlines.save)
    const node = present(from, await walk(from, within))
    const { directory, name } = await parentOf(to, within)
    const target = await lookupRecord(to, within)
    const place = scratchPlace(directory, name)
    if (node.kind === 'scratch' && target !== undefined) {
      await records.replace(parts.source(target), await scratch.read(node.place), within)
      return scratch.remove(node.place)
    }
    if (node.kind === 'scratch' && place !== undefined) return scratch.rename(node.place, place)
    if (node.kind === 'record' && target === undefined && place !== undefined) {
      return scratch.put(place, await records.takeAway(parts.source(node), within))
    }
    throw new Failure('not-permitted', `${from}: this cannot be moved to ${to}`)
  }

  const refuse =
    (sentence: string) =>
    async (path: string): Promise<void> => {
      throw new Failure('not-permitted', `${path}: ${sentence}`)
    }

  async function change(path: string): Promise<void> {
    const node = present(path, await walk(path, ask(deadlines.metadata)))
    if (node.kind !== 'record' && node.kind !== 'scratch')
      throw new Failure('not-permitted', readOnlyBecause(node))
  }

  async function touch(path: string, mtime: Instant): Promise<void> {
    const within = ask(deadlines.metadata)
    const node = present(path, await walk(path, within))
    if (node.kind === 'scratch') return scratch.setTime(node.place, mtime)
    if (isDirectory(node)) return tree.refresh(node, within)
    if (node.kind !== 'record') throw new Failure('not-permitted', readOnlyBecause(node))
  }

  return {
    getattr,
    readdir,
    async readlink(path) {
      const node = await walk(path, ask(deadlines.metadata))
      if (node.kind !== 'link') throw new Failure('invalid', `${path} is no link`)
      return node.to
    },
    statfs: parts.statfs,
    open,
    create,
    read,
    write,
    truncate,
    ftruncate,
    flush,
    fsync,
    release,
    unlink,
    rename,
    mkdir: refuse('projects cannot be made through the drive'),
    rmdir: refuse('projects and calculations cannot be deleted through the drive'),
    async symlink(_target, path) {
      throw new Failure('not-permitted', `${path}: the service holds no links`)
    },
    link: refuse('the service holds no links'),
    mknod: refuse(noUpload),
    change,
    touch,
    setxattr: async path => {
      throw new Failure('unsupported', `${path}: extended attributes cannot be set`)
    },
    async getxattr(path, name) {
      if (!name.startsWith('user.calcfs.')) return undefined
      return parts.xattrs.get(path, await walk(path, ask(deadlines.metadata)), name)
    },
    async listxattr(path) {
      return [...parts.xattrs.list(path, await walk(path, ask(deadlines.metadata)))]
    },
  }
}

/** Which directories take an editor's own files, and under which names. */
function takesScratch(directory: DirectoryNode, name: string): boolean {
  switch (directory.kind) {
    case 'project':
      return isScratchBeside('.project.json', name)
    case 'calculation':
      return isScratchBeside('.calculation.json', name)
    case 'report':
      return isScratchBeside('order.txt', name)
    case 'reports':
    case 'shares':
      return isScratchAmong(name)
    default:
      return false
  }
}

function readOnlyBecause(node: Node): string {
  return node.kind === 'content' || node.kind === 'calculation'
    ? 'the files of a calculation never change'
    : 'this cannot be changed through the drive'
}

function nothingToDo(): void {}
