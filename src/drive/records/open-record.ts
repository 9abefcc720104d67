// Records as files: what a stat says, when a text is saved, and what becomes of a file that is taken away.

import { untilDeadline } from '../../cache/deadline.js'
import type { Draft } from '../../edit/journal/draft.js'
import { isAbsent } from '../../failure.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import type { OpenAccess } from '../interface/verbs.js'
import { openRecordHandle, type RecordHandle } from './handle.js'
import { type HandleView, type RecordState, touchDraft } from './record-state.js'
import { alreadyReported, editingOf, nothing, openRecordSaving, pauseMs } from './saving.js'
import type { RecordSource } from './source.js'
import type { LeasedText, TextLeases } from './text-lease.js'

export interface Records {
  stat(source: RecordSource, context: RequestContext): MaybePromise<{ size: number; mtime: Instant }>
  open(source: RecordSource, access: OpenAccess, context: RequestContext): Promise<RecordHandle>
  /** A record whose file was taken away a moment ago is not there, until somebody makes it or the pause ends. */
  isAway(key: string): boolean
  /** It is there again at once: what took it away was called off. */
  bringBack(key: string): void
  /** Its pause is over, and nobody has made it anew. */
  isBack(key: string): boolean
  create(source: RecordSource): Promise<RecordHandle>
  truncate(source: RecordSource, size: ByteOffset, context: RequestContext): Promise<void>
  /** A finished text takes the record's place (`mv new.json 42.json`): one save, and its failure is the caller's. */
  replace(source: RecordSource, text: Replacement, context: RequestContext): Promise<void>
  /** The unsaved text in the record's place is saved once more, by an explicit wish. */
  resend(source: RecordSource, context: RequestContext): Promise<void>
  /**
   * The file is unlinked or renamed away; nothing of it is given up before `keep` has what was in it. `isUnread` where no
   * program has written that or read it by this.
   */
  takeAway(
    source: RecordSource,
    context: RequestContext,
    handlesAre: 'moved' | 'replaced',
    keep?: (bytes: Uint8Array, isUnread: boolean) => Promise<void>,
  ): Promise<void>
  /** A draft left by an earlier mount is shown in its record's place. */
  adopt(key: string, draft: Draft): void
  /** The unsaved text of a record, if it has one. */
  draftOf(key: string): Draft | undefined
  /** Resolves when no save is on its way any more. */
  settled(): Promise<void>
  /** Counts the changes of the unsaved text of a record. */
  revisionOf(key: string): number
  /** The service has all of the text of this revision: its draft ends, at the latest with the last file that shows it. */
  endStored(key: string, revision: number): Promise<void>
  /** Gives an unsaved text up; the record shows what the service has. */
  drop(key: string): Promise<void>
  /** The file is gone, and its draft stays: what is written under its name is the draft's next text. */
  setAside(key: string): void
  /** Ends a draft that no file shows. */
  endAside(key: string, draft: Draft): Promise<void>
  /** The unsaved text stays on disk, and is not shown in the record's place any more. */
  detach(key: string): void
}

/** A finished text, and the one it was made from, where that is known. */
export interface Replacement {
  readonly text: Uint8Array
  readonly base?: Uint8Array | undefined
  /** It is moved back as it was moved away: that proves nothing about what its mover has seen. */
  readonly isUnread?: boolean | undefined
}

export function openRecords(leases: TextLeases, now: () => Instant): Records {
  const saving = openRecordSaving(leases, now)

  /** What was written before and is not saved yet is kept as history. */
  async function swapIn(
    source: RecordSource,
    state: RecordState,
    { text, base, isUnread }: Replacement,
    context: RequestContext,
  ): Promise<void> {
    const draft = await saving.draftFor(source, state, { bytes: nothing, base })
    await draft.replace(text, before => editingOf(source).keep(before))
    if (isUnread && text.length > 0) await draft.change({ unread: true })
    touchDraft(state, now())
    // The kernel moves along what it was told of the other name: for a moment it reads no further than that size.
    state.told = true
    state.awayUntil = 0
    await saving.save(source, state, { base }, context)
  }

  /** A save under way ends first, as far as there is time: what is written then is an edit of its text, not over it. */
  async function ended({ saving, swap }: RecordState, context: RequestContext): Promise<void> {
    const patience = { now, sentence: 'another save of this record is under way' }
    await untilDeadline(context, patience, Promise.all([saving, swap])).catch(alreadyReported)
  }

  /** None where a name outlives what it was made for, and a program that reads nothing of it is about to write. */
  async function heldFor(
    source: RecordSource,
    access: OpenAccess,
    context: RequestContext,
  ): Promise<LeasedText | undefined> {
    try {
      return await leases.open(source.key, () => source.produce(context), access)
    } catch (thrown) {
      if (access !== 'write-only' || !source.outlivesText || !isAbsent(thrown)) throw thrown
      return undefined
    }
  }

  return {
    bringBack(key) {
      const state = saving.known(key)
      if (state !== undefined) state.awayUntil = 0
    },
    isBack: key => {
      const { awayUntil = 0 } = saving.known(key) ?? {}
      return awayUntil > 0 && awayUntil <= now()
    },
    isAway(key) {
      const left = (saving.known(key)?.awayUntil ?? 0) - now()
      // A clock that was set back must not keep it away.
      return left > 0 && left <= pauseMs
    },
    stat(source, context) {
      const state = saving.known(source.key)
      if (state?.draft !== undefined) {
        state.told = true
        return { size: state.draft.size, mtime: state.changed }
      }
      const told = leases.stat(source.key, () => source.produce(context))
      return chain(told, ({ bytes, mtime }) => ({ size: bytes.length, mtime }))
    },
    async open(source, access, context) {
      if (access !== 'read') editingOf(source)
      const state = saving.stateOf(source.key)
      if (access !== 'read') await ended(state, context)
      if (state.draft !== undefined) {
        const before = state.draft.size === 0 ? (state.saved ?? leases.last(source.key)) : undefined
        return openRecordHandle(saving, { source, state, view: freshView(before ?? nothing) }, now)
      }
      const held = await heldFor(source, access, context)
      if (held === undefined)
        return openRecordHandle(saving, { source, state, view: freshView(nothing) }, now)
      source.opened(access, held.shown.bytes)
      return openRecordHandle(saving, { source, state, view: freshView(held.shown.bytes, held) }, now)
    },
    async create(source) {
      const state = saving.stateOf(source.key)
      await saving.draftFor(source, state, { bytes: nothing })
      await state.draft?.truncate(0)
      state.awayUntil = 0
      touchDraft(state, now())
      return openRecordHandle(saving, { source, state, view: freshView(nothing) }, now)
    },
    async truncate(source, size, context) {
      editingOf(source)
      const state = saving.stateOf(source.key)
      await ended(state, context)
      touchDraft(state, now())
      const bytes =
        size === 0 || state.draft !== undefined ? nothing : (await saving.present(source, context)).bytes
      const draft = await saving.draftFor(source, state, { bytes })
      if (size === 0) await saving.empty(source, state, draft)
      else await draft.truncate(size)
      touchDraft(state, now())
      // An open with O_TRUNC comes this way too, and its handle will flush; truncate(2) of a path has no handle.
      if (size === 0) await saving.dropEmpty(source.key, state)
      else if (state.handles.size === 0) await saving.save(source, state, {}, context)
    },
    async replace(source, text, context) {
      const state = saving.stateOf(source.key)
      editingOf(source)
      // From here on no other handle's bytes get into the draft, whatever is waited for below.
      detachHandles(state, 'replaced')
      const swap = ended(state, context).then(() => swapIn(source, state, text, context))
      state.swap = swap.catch(alreadyReported)
      await swap
    },
    resend: (source, context) => saving.save(source, saving.stateOf(source.key), {}, context),
    async takeAway(source, context, handlesAre, keep = async () => {}) {
      editingOf(source)
      const state = saving.stateOf(source.key)
      // What is written meanwhile goes with it.
      for (let kept = -1; kept !== state.revision; ) {
        kept = state.revision
        const { bytes, isUnread } = await saving.present(source, context)
        await keep(bytes, isUnread)
      }
      const { draft } = state
      // Of what a program has not saved yet the history has a copy, whatever becomes of the file under its other name.
      const isUnsaved = [...state.handles].some(({ wrote, gone }) => wrote && gone === 'no')
      if (isUnsaved && draft !== undefined) await editingOf(source).keep(await draft.remains())
      detachHandles(state, handlesAre)
      // What was unsaved goes where the file goes; the draft of a refused save stays to be looked at.
      if (draft !== undefined && draft.meta.state === 'editing') {
        state.draft = undefined
        await draft.discard()
      }
      state.awayUntil = now() + pauseMs
    },
    adopt(key, draft) {
      const state = saving.stateOf(key)
      state.draft ??= draft
      state.changed = draft.meta.changed as Instant
    },
    revisionOf: key => saving.stateOf(key).revision,
    async endStored(key, revision) {
      const state = saving.stateOf(key)
      state.storedRevision = revision
      await saving.endIfStored(key, state)
    },
    async settled() {
      for (const state of saving.all()) await saving.refill(state)
      await Promise.all([...saving.all()].map(({ saving }) => saving))
    },
    draftOf: key => saving.known(key)?.draft,
    drop: saving.drop,
    setAside: saving.setAside,
    endAside: saving.endAside,
    detach: saving.detach,
  }
}

/** The path of these open handles leads to another file from here on. */
function detachHandles(state: { readonly handles: Iterable<HandleView> }, gone: 'moved' | 'replaced'): void {
  for (const view of state.handles) if (view.gone === 'no') view.gone = gone
}

/** What a handle sees that has neither read nor written. */
function freshView(bytes: Uint8Array, held?: LeasedText): HandleView {
  return { bytes, base: undefined, wrote: false, held, gone: 'no' }
}
