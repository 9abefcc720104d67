// One open file of a record: what its program reads, what it writes, and when that is saved.
import type { Draft } from '../../edit/journal/draft.js'
import { Failure } from '../../failure.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import { type HandleView, type RecordState, touchDraft } from './record-state.js'
import type { RecordSaving } from './saving.js'
import type { RecordSource } from './source.js'

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

export interface OpenedRecord {
  readonly source: RecordSource
  readonly state: RecordState
  readonly view: HandleView
}

export function openRecordHandle(
  saving: RecordSaving,
  { source, state, view }: OpenedRecord,
  now: () => Instant,
): RecordHandle {
  const { draftFor, dropEmpty, empty, save } = saving
  state.handles.add(view)
  let underWay: Promise<'saved'> | undefined

  function refuseGone(): void {
    if (view.gone !== 'no') throw staleHandleFailure()
  }

  async function change(work: (draft: Draft) => Promise<void>): Promise<void> {
    refuseGone()
    let draft = await draftFor(source, state, view)
    // A save may have ended that draft just now.
    while (draft !== state.draft) draft = await draftFor(source, state, view)
    // Another text may have taken the file's place meanwhile.
    refuseGone()
    touchDraft(state, now())
    await work(draft)
    view.wrote = true
    touchDraft(state, now())
  }

  async function flushNow(context: RequestContext): Promise<'saved'> {
    // What is written while the save is under way is the next flush's.
    view.wrote = false
    try {
      await save(source, state, view, context)
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
      const isEmptied = state.draft?.size === 0 && !view.wrote && view.bytes.length > 0
      if (state.draft !== undefined && view.gone === 'no' && !isEmptied) {
        const bytes = await state.draft.read(offset, target.length)
        target.set(bytes)
        return bytes.length
      }
      const bytes = view.bytes.subarray(offset, offset + target.length)
      target.set(bytes)
      if (view.base !== view.bytes && bytes.length > 0 && view.held?.shown.wording !== 'given-up') {
        view.base = view.bytes
        const isOwn = view.held?.shown.wording === 'own'
        if (!isOwn && !(source.editing instanceof Failure)) source.editing.noteRead(view.bytes)
      }
      return bytes.length
    },
    write: (bytes, offset) =>
      change(async draft => {
        await draft.write(bytes, offset)
        state.emptied = undefined
      }),
    truncate: size =>
      change(async draft => {
        // What another program has written and not saved yet is not emptied away.
        if (size > 0) await draft.truncate(size)
        else await empty(source, state, draft)
      }),
    async flush(context) {
      // A copy of the descriptor is closed meanwhile (dup, fork): its text is the one that is being saved.
      if (!view.wrote) return (await underWay) ?? 'nothing'
      if (view.gone === 'moved') return 'nothing'
      if (view.gone === 'replaced') throw staleHandleFailure()
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
      await state.draft?.seal()
    },
    async release(context) {
      view.held?.release()
      state.handles.delete(view)
      // Bytes written through a mapping come after the last flush; nobody waits for this answer any more.
      if (view.wrote && view.gone === 'no' && state.draft?.meta.state === 'editing') {
        await save(source, state, view, context)
      }
      await dropEmpty(source.key, state)
      await saving.endIfStored(source.key, state)
      if (state.handles.size === 0) saving.detachIfApart(source.key, state)
    },
  }
}

function staleHandleFailure(): Failure {
  return new Failure(
    'conflict',
    'this file was moved away, or another took its place, before it was saved: its text was not sent, and is kept as history',
  )
}
