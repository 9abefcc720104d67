// Handle of a record: what its program reads and writes, and when that is saved.
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure } from '../../failure.js'
import type { ByteOffset, RequestContext } from '../../remote/remote.js'
import type { HandleView } from './handle-view.js'
import type { OpenRecord } from './open-record.js'
import { noteShown, type RecordSource } from './source.js'

/** One open file of a record. */
export interface RecordHandle {
  read(target: Uint8Array, offset: ByteOffset): Promise<number>
  write(bytes: Uint8Array, offset: ByteOffset): Promise<void>
  truncate(size: ByteOffset): Promise<void>
  /** close(2) sees this answer: the save's. */
  flush(context: RequestContext): Promise<'saved' | 'nothing'>
  sync(): Promise<void>
  release(context: RequestContext): Promise<void>
}

export function openRecordHandle(record: OpenRecord, source: RecordSource, view: HandleView): RecordHandle {
  record.attach(view)
  let underWay: Promise<'saved'> | undefined
  /** Why not all of what its program wrote is here: such a text is no save. */
  let failed: Failure | undefined

  function refuseGone(): void {
    if (view.gone !== 'no') throw staleHandleFailure()
  }

  /** What is written goes on from what this handle shows. */
  function noteShownText(): void {
    const { held, bytes } = view
    if (held?.isOvertaken && held.shown.bytes === bytes && bytes.length > 0) noteShown(source, held.shown)
  }

  async function change(work: (draft: Draft) => Promise<void>): Promise<void> {
    refuseGone()
    if (record.draft === undefined) noteShownText()
    let draft = await record.draftFor(source, view)
    // A save may have ended that draft just now.
    while (draft !== record.draft) draft = await record.draftFor(source, view)
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
      // The kernel asks for nothing beyond the size it knows: where it asks for bytes of an emptied file, it has not heard
      // yet that it is empty, and would fill up what is missing with zeros.
      const isEmptied = record.draft?.size === 0 && !view.wrote && view.bytes.length > 0
      if (record.draft !== undefined && view.gone === 'no' && !isEmptied) {
        const bytes = await record.draft.read(offset, target.length)
        target.set(bytes)
        return bytes.length
      }
      const bytes = view.bytes.subarray(offset, offset + target.length)
      target.set(bytes)
      if (view.base !== view.bytes && bytes.length > 0) {
        view.base = view.bytes
        const isOwn = view.held?.shown.wording === 'own'
        if (!isOwn && !(source.editing instanceof Failure)) source.editing.noteRead(view.bytes)
      }
      return bytes.length
    },
    write: (bytes, offset) =>
      change(async draft => {
        await draft.write(bytes, offset)
        record.wroteOn()
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
      view.held?.release()
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
  }
}

function staleHandleFailure(): Failure {
  return new Failure(
    'conflict',
    'this file was moved away, or another took its place, before it was saved: its text was not sent, and is kept as history',
  )
}
