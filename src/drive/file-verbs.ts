// Verbs on open files: what a handle stands for, and where its bytes come from and go.
import type { FileHandle } from 'node:fs/promises'
import { asFailure, Failure } from '../failure.js'
import { chain, type MaybePromise } from '../maybe-promise.js'
import type { ByteOffset, Instant, RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import type { Call, FileVerbs, OpenAccess } from './interface/verbs.js'
import {
  type ContentNode,
  type DirectoryNode,
  isDirectory,
  isEditable,
  type Node,
  type ScratchPlace,
} from './nodes/node.js'
import { type Name, type Place, pathOf } from './nodes/place.js'
import { readOnlyBecause, refusalToMake } from './nodes/refusals.js'
import type { RecordHandle } from './records/handle.js'
import type { Opening } from './records/records.js'
import type { TextSnapshot } from './records/source.js'
import type { Resolver } from './tree/resolver.js'

type HandleTarget =
  | { readonly kind: 'record'; readonly file: RecordHandle; readonly path: string }
  | { readonly kind: 'local'; readonly file: FileHandle; readonly place: ScratchPlace }
  | ContentFile
  | { readonly kind: 'text'; readonly text: TextSnapshot }

interface ContentFile {
  readonly kind: 'content'
  readonly path: string
  readonly node: ContentNode
  /** When its version came to be, as far as it has replaced another: a handle reads one version only. */
  readonly since: Instant | undefined
  /** It was read on beyond its beginning. */
  readOn: boolean
}

/** The bytes that the kernel reads for a look at the beginning of a file. */
const beginningBytes = 128 * 1024
const largestHandle = 0x7fff_ffff

export function openFileVerbs(
  parts: DriveParts,
  resolver: Resolver,
  until: Record<'metadata' | 'read' | 'save', () => RequestContext>,
): FileVerbs {
  const { content, failureLog, scratch, writeSide } = parts
  const { records } = writeSide
  /** By their numbers: the binding carries a handle as a 32-bit integer, and 0 means "none" to it. */
  const handles = new Map<number, HandleTarget>()
  let last = 0

  function add(file: HandleTarget): number {
    do last = last === largestHandle ? 1 : last + 1
    while (handles.has(last))
    handles.set(last, file)
    return last
  }

  function openAt(handle: number): HandleTarget {
    const found = handles.get(handle)
    if (found === undefined) throw new Failure('bad-handle', `no file is open under the number ${handle}`)
    return found
  }

  function open(place: Place, access: OpenAccess, call?: Call): MaybePromise<number> {
    const { node } = place
    const path = pathOf(place)
    if (isDirectory(node)) throw new Failure('is-directory', `${path} is a directory`)
    if (access === 'read') parts.foresight.opened(path, node)
    if (access === 'read' && node.kind === 'content') {
      const since = content.replacedAt(node.content)
      return add({ kind: 'content', path, node, since, readOn: false })
    }
    return openNode(node, { ...call, place, access }, until.metadata()).then(add)
  }

  async function openNode(
    node: Exclude<Node, DirectoryNode>,
    opening: Opening,
    context: RequestContext,
  ): Promise<HandleTarget> {
    if (node.kind === 'scratch')
      return { kind: 'local', file: await scratch.open(node.place), place: node.place }
    if (isEditable(node))
      return {
        kind: 'record',
        file: await records.open(writeSide.source(node), opening, context),
        path: pathOf(opening.place),
      }
    if (opening.access !== 'read') throw new Failure('not-permitted', readOnlyBecause(node))
    switch (node.kind) {
      case 'generated':
        return { kind: 'text', text: await parts.generated.open(node, context) }
      case 'draft-text':
        return { kind: 'text', text: await parts.drafts.open(node.name) }
      default:
        throw new Failure('invalid', 'this is nothing that can be opened')
    }
  }

  async function create(name: Name, call?: Call): Promise<number> {
    const context = until.metadata()
    const record = await resolver.editable(name, context)
    if (record !== undefined) {
      await writeSide.recreated(record)
      const file = await records.create(writeSide.source(record), {
        ...call,
        place: { ...name, node: record },
      })
      return add({ kind: 'record', file, path: pathOf(name) })
    }
    // `touch` of a calculation that waits to be deleted begins with O_CREAT; EEXIST makes the kernel look again.
    if (await parts.removals.touch(name, context))
      throw new Failure('taken-back', `${pathOf(name)}: it is not deleted, and there again`)
    const place = await resolver.scratch(name, context)
    if (place === undefined) throw refusalToMake(name)
    return add({ kind: 'local', file: await scratch.create(place), place })
  }

  function read(handle: number, target: Uint8Array, offset: ByteOffset): MaybePromise<number> {
    const open = openAt(handle)
    switch (open.kind) {
      case 'content':
        if (!open.readOn && offset >= beginningBytes) {
          open.readOn = true
          parts.foresight.readOn(open.path, open.node)
        }
        content.check(open.node.content, open.since)
        return chain(
          content.readNow(open.node.content, offset, target) ??
            content.read(open.node.content, offset, target, until.read()),
          count => {
            // Another read of this file may have met another version while this one waited.
            content.check(open.node.content, open.since)
            return wasRead(open, count)
          },
        )
      case 'record':
        return wasRead(open, open.file.read(target, offset))
      case 'local':
        return open.file.read(target, 0, target.length, offset).then(({ bytesRead }) => bytesRead)
      case 'text': {
        const bytes = open.text.bytes.subarray(offset, offset + target.length)
        target.set(bytes)
        return bytes.length
      }
    }
  }

  function wasRead({ path }: { readonly path: string }, count: number): number {
    failureLog.over(path, 'read')
    return count
  }

  async function flushRecord({ file, path }: Extract<HandleTarget, { kind: 'record' }>): Promise<void> {
    const began = parts.clock.now()
    if ((await file.flush(until.save())) === 'saved') failureLog.forget(path, began)
  }

  /** A writable node is a record or a local file. */
  function writable(handle: number): RecordHandle | FileHandle {
    const open = openAt(handle)
    if (open.kind === 'record' || open.kind === 'local') return open.file
    throw new Failure('bad-handle', 'this file is open for reading only')
  }

  return {
    open,
    create,
    read,
    textOf(handle) {
      const open = openAt(handle)
      if (open.kind === 'record') return open.file.text()
      return open.kind === 'text' ? { size: open.text.bytes.length, mtime: open.text.mtime } : undefined
    },
    async write(handle, bytes, offset) {
      const open = openAt(handle)
      if (open.kind === 'record') return open.file.write(bytes, offset)
      if (open.kind !== 'local') throw new Failure('bad-handle', 'this file is open for reading only')
      if (scratch.isOver(open.place)) throw new Failure('conflict', 'this file was moved over a record')
      await writeAll(open.file, bytes, offset)
    },
    async ftruncate(handle, size) {
      await writable(handle).truncate(size)
    },
    flush(handle) {
      const open = openAt(handle)
      return open.kind === 'record' ? flushRecord(open) : undefined
    },
    async fsync(handle) {
      const open = openAt(handle)
      if (open.kind === 'record' || open.kind === 'local') await open.file.sync()
      if (open.kind === 'local') await scratch.syncNames(open.place)
    },
    release(handle) {
      const open = openAt(handle)
      handles.delete(handle)
      if (open.kind === 'record') return open.file.release(until.save())
      return open.kind === 'local' ? open.file.close() : undefined
    },
  }
}

/** A full disk takes a part of the bytes before it refuses the rest. */
async function writeAll(file: FileHandle, bytes: Uint8Array, offset: number): Promise<void> {
  try {
    for (let done = 0; done < bytes.length; ) {
      done += (await file.write(bytes, done, bytes.length - done, offset + done)).bytesWritten
    }
  } catch (thrown) {
    throw asFailure(thrown)
  }
}
