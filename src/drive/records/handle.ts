// Handle of a record: what its program reads and writes, and when that is saved.
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure } from '../../failure.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import type { HandleView } from './handle-view.js'
import type { OpenRecord } from './open-record.js'
import { noteRead, type RecordSource } from './source.js'

/** One open file of a record. */
export interface RecordHandle {
  read(target: Uint8Array, offset: ByteOffset): Promise<number>
  write(bytes: Uint8Array, offset: ByteOffset): Promise<void>
  truncate(size: ByteOffset): Promise<void>
  /** close(2) sees this answer: the save's. */
  flush(context: RequestContext): Promise<'saved' | 'nothing'>
  sync(): Promise<void>
  release(context: RequestContext): Promise<void>
  /** Size and time of the text that it was opened on, and shows; undefined where a draft is shown. */
  text(): { readonly size: number; readonly mtime: Instant } | undefined
}

export function openRecordHandle(record: OpenRecord, source: RecordSource, view: HandleView): RecordHandle {
  record.attach(view)
  let underWay: Promise<'saved'> | undefined
  /** Why not all of what its program wrote is here: such a text is no save. */
  let failed: Failure | undefined

  function refuseGone(): void {
    if (view.gone !== 'no') throw staleHandleFailure()
  }

  async function change(work: (draft: Draft) => Promise<void>): Promise<void> {
    refuseGone()
    let draft = await record.draftFor(source, view.bytes)
    // A save may have ended that draft just now.
    while (draft !== record.draft) draft = await record.draftFor(source, view.bytes)
    await record.writeThrough(view.node)
    // Another text may have taken the file's place meanwhile.
    refuseGone()
    record.touch()
    try {
      await work(draft)
    } catch (thrown) {
      failed = asFailure(thrown)
      throw thrown
    }
    view.wrote = true
    record.touch()
  }

  async function flushNow(context: RequestContext): Promise<'saved'> {
    // What is written while the save is under way is the next flush's.
    view.wrote = false
    try {
      await record.save(source, view, context)
      return 'saved'
    } catch (thrown) {
      view.wrote = true
      throw thrown
    }
  }

  return {
    async read(target, offset) {
      if (record.draft !== undefined && record.isShown(view)) {
        const bytes = await record.draft.read(offset, target.length)
        target.set(bytes)
        return bytes.length
      }
      const bytes = view.bytes.subarray(offset, offset + target.length)
      target.set(bytes)
      if (bytes.length > 0) noteRead(source, view)
      return bytes.length
    },
    write: (bytes, offset) =>
      change(async draft => {
        await draft.write(bytes, offset)
        record.wroteOn(offset, bytes.length)
      }),
    truncate: size =>
      change(async draft => {
        // What another program has written and not saved yet is not emptied away.
        if (size > 0) await draft.truncate(size)
        else {
          await record.empty(source, draft)
          failed = undefined
        }
      }),
    async flush(context) {
      // A copy of the descriptor is closed meanwhile (dup, fork): its text is the one that is being saved.
      if (!view.wrote) return (await underWay) ?? 'nothing'
      if (view.gone === 'moved') return 'nothing'
      if (view.gone === 'replaced') throw staleHandleFailure()
      if (failed !== undefined) throw failed
      const run = flushNow(context)
      underWay = run
      try {
        return await run
      } finally {
        if (underWay === run) underWay = undefined
      }
    },
    async sync() {
      if (view.gone === 'replaced' && view.wrote) throw staleHandleFailure()
      await record.draft?.seal()
    },
    async release(context) {
      record.leave(view)
      // Bytes written through a mapping come after the last flush; no call waits for this answer any more.
      const isDirty = view.wrote && view.gone === 'no' && failed === undefined
      if (isDirty && record.draft?.meta.state === 'editing') {
        await record.save(source, view, context)
      }
      await record.dropEmpty()
      await record.endIfStored()
      record.detachIfApart()
    },
    text() {
      if (record.isShown(view)) return undefined
      return { size: view.bytes.length, mtime: view.mtime }
    },
  }
}

function staleHandleFailure(): Failure {
  return new Failure(
    'conflict',
    'this file was moved away, or another took its place, before it was saved: its text was not sent, and is kept as history',
  )
}
