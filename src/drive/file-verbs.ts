// Verbs on open files: what a handle stands for, and where its bytes come from and go.
import { Failure } from '../failure.js'
import { chain, type MaybePromise } from '../maybe-promise.js'
import type { ByteOffset, RequestContext } from '../remote/remote.js'
import type { DriveParts } from './context.js'
import type { Call, FileVerbs, OpenAccess } from './interface/verbs.js'
import { type ContentNode, type DirectoryNode, isDirectory, isEditable, type Node } from './nodes/node.js'
import { type Name, type Place, pathOf } from './nodes/place.js'
import { readOnlyBecause, refusalToMake } from './nodes/refusals.js'
import type { Opening, RecordHandle } from './records/records.js'
import type { TextSnapshot } from './records/source.js'
import type { Removals } from './removals.js'

/** An open file; one without `write` is open for reading only. */
interface OpenFile {
  read(target: Uint8Array, offset: ByteOffset): MaybePromise<number>
  text?(): ReturnType<FileVerbs['textOf']>
  write?(bytes: Uint8Array, offset: ByteOffset): Promise<void>
  truncate?(size: ByteOffset): Promise<void>
  sync?(): Promise<void>
  flush?(): Promise<void>
  release?(): Promise<void>
}

/** The bytes that the kernel reads for a look at the beginning of a file. */
const beginningBytes = 128 * 1024
const largestHandle = 0x7fff_ffff

export function openFileVerbs(
  parts: DriveParts,
  removals: Removals,
  until: Record<'metadata' | 'read' | 'save', () => RequestContext>,
): FileVerbs {
  const { content, failureLog, scratch, writeSide } = parts
  const { records } = writeSide
  /** By their numbers: the binding carries a handle as a 32-bit integer, and 0 means "none" to it. */
  const handles = new Map<number, OpenFile>()
  let last = 0

  function add(file: OpenFile): number {
    do last = last === largestHandle ? 1 : last + 1
    while (handles.has(last))
    handles.set(last, file)
    return last
  }

  function openAt(handle: number): OpenFile {
    const found = handles.get(handle)
    if (found === undefined) throw new Failure('bad-handle', `no file is open under the number ${handle}`)
    return found
  }

  function open(place: Place, access: OpenAccess, call?: Call): MaybePromise<number> {
    const { node } = place
    const path = pathOf(place)
    if (isDirectory(node)) throw new Failure('is-directory', `${path} is a directory`)
    if (access === 'read') parts.foresight?.opened(path, node)
    if (access === 'read' && node.kind === 'content') return add(contentFile(path, node))
    return openNode(node, { ...call, place, access }, until.metadata()).then(add)
  }

  async function openNode(
    node: Exclude<Node, DirectoryNode>,
    opening: Opening,
    context: RequestContext,
  ): Promise<OpenFile> {
    if (node.kind === 'scratch') return scratch.open(node.place)
    if (isEditable(node)) {
      const file = await records.open(writeSide.source(node), opening, context)
      return recordFile(file, pathOf(opening.place))
    }
    if (opening.access !== 'read') throw new Failure('not-permitted', readOnlyBecause(node))
    switch (node.kind) {
      case 'generated':
        return textFile(await parts.generated.open(node, context))
      case 'draft-text':
        return textFile(await parts.drafts.open(node.name))
      default:
        throw new Failure('invalid', 'this is nothing that can be opened')
    }
  }

  async function create(name: Name, call?: Call): Promise<number> {
    const context = until.metadata()
    const record = await parts.tree.editable(name, context)
    if (record !== undefined) {
      await writeSide.recreated(record)
      const place = { ...name, node: record }
      const file = await records.create(writeSide.source(record), { ...call, place })
      return add(recordFile(file, pathOf(name)))
    }
    // `touch` of a calculation that waits to be deleted begins with O_CREAT; EEXIST makes the kernel look again.
    if (await removals.touch(name, context))
      throw new Failure('taken-back', `${pathOf(name)}: it is not deleted, and there again`)
    const place = await parts.tree.scratch(name, context)
    if (place === undefined) throw refusalToMake(name, writeSide.aliases.hasMade)
    return add(await scratch.create(place))
  }

  /** A handle reads one version only. */
  function contentFile(path: string, node: ContentNode): OpenFile {
    // When that came to be, as far as it has replaced another.
    const since = content.replacedAt(node.content)
    let isReadOn = false
    return {
      read(target, offset) {
        if (!isReadOn && offset >= beginningBytes) {
          isReadOn = true
          parts.foresight?.readOn(path, node)
        }
        content.check(node.content, since)
        const read =
          content.readNow(node.content, offset, target) ??
          content.read(node.content, { offset, into: target, context: until.read() })
        return chain(read, count => {
          // Another read of this file may have met another version while this one waited.
          content.check(node.content, since)
          failureLog.over(path, 'read')
          return count
        })
      },
    }
  }

  const recordFile = (file: RecordHandle, path: string): OpenFile => ({
    read(target, offset) {
      const count = file.read(target, offset)
      failureLog.over(path, 'read')
      return count
    },
    text: () => file.text(),
    write: (bytes, offset) => file.write(bytes, offset),
    truncate: size => file.truncate(size),
    sync: () => file.sync(),
    async flush() {
      const began = parts.clock.now()
      if ((await file.flush(until.save())) === 'saved') failureLog.forget(path, began)
    },
    release: () => file.release(until.save()),
  })

  return {
    open,
    create,
    read: (handle, target, offset) => openAt(handle).read(target, offset),
    textOf: handle => openAt(handle).text?.(),
    write: async (handle, bytes, offset) => openAt(handle).write?.(bytes, offset) ?? readOnly(),
    ftruncate: async (handle, size) => openAt(handle).truncate?.(size) ?? readOnly(),
    flush: handle => openAt(handle).flush?.(),
    fsync: async handle => openAt(handle).sync?.(),
    release(handle) {
      const open = openAt(handle)
      handles.delete(handle)
      return open.release?.()
    },
  }
}

const textFile = (text: TextSnapshot): OpenFile => ({
  read(target, offset) {
    const bytes = text.bytes.subarray(offset, offset + target.length)
    target.set(bytes)
    return bytes.length
  },
  text: () => ({ size: text.bytes.length, mtime: text.mtime }),
})

function readOnly(): never {
  throw new Failure('bad-handle', 'this file is open for reading only')
}
