// When a record's draft begins, is saved and ends; one save after another, and no save ends a draft that is being written.
import type { Draft } from '../../edit/journal/draft.js'
import { asFailure, Failure } from '../../failure.js'
import { noop } from '../../noop.js'
import type { Instant, RequestContext } from '../../remote/remote.js'
import { type HandleView, type RecordState, touchDraft } from './record-state.js'
import type { Editing, RecordSource } from './source.js'
import type { TextLeases } from './text-lease.js'

/** Milliseconds for which a file that was taken away may be created anew: `mv` and vim do both at once. */
export const pauseMs = 2000

export interface RecordSaving {
  /** What is known of the record of this key, from now on if nothing was. */
  stateOf(key: string): RecordState
  known(key: string): RecordState | undefined
  all(): Iterable<RecordState>
  draftFor(source: RecordSource, state: RecordState, from: DraftStart): Promise<Draft>
  save(source: RecordSource, state: RecordState, from: Writer, context: RequestContext): Promise<void>
  dropEmpty(key: string, state: RecordState): Promise<void>
  /** A program empties the file: an unsaved text is kept as history first, and a draft that had failed is remembered. */
  empty(source: RecordSource, state: RecordState, draft: Draft): Promise<void>
  /** What `empty` remembered is the draft again, unless another text was written. */
  refill(state: RecordState): Promise<boolean>
  /** The bytes that a reader would see now, and whether they are no program's own. */
  present(source: RecordSource, context: RequestContext): Promise<{ bytes: Uint8Array; isUnread: boolean }>
  /** The draft ends if the service has all of its text, nobody has written it since, and no open file shows it. */
  endIfStored(key: string, state: RecordState): Promise<void>
  /** Gives an unsaved text up. */
  drop(key: string): Promise<void>
  /** The file is gone, and its draft stays: what is written under its name is the draft's next text. */
  setAside(key: string): void
  /** Ends a draft that no file shows. */
  endAside(key: string, draft: Draft): Promise<void>
  /** The unsaved text stays on disk, and is not shown in the record's place any more, unless it is being written. */
  detach(key: string): void
  /** The same at the end of a save or of a handle, where its id stands for another thing. */
  detachIfApart(key: string, state: RecordState): void
}

/** The handle that saves, or what its program had read; neither where it is sent by a command. */
export type Writer = HandleView | { readonly base?: Uint8Array | undefined }

/** What a new draft holds, and the text that its writer had read. */
export interface DraftStart {
  readonly bytes: Uint8Array
  readonly base?: Uint8Array | undefined
}

export const nothing = new Uint8Array()

/** Bytes of a text that is held for as long as the mount lives. */
const shortText = 64 << 10

export function openRecordSaving(leases: TextLeases, now: () => Instant): RecordSaving {
  const opened = new Map<string, RecordState>()

  function stateOf(key: string): RecordState {
    const known = opened.get(key)
    if (known !== undefined) return known
    const fresh = {
      draft: undefined,
      changed: now(),
      aside: undefined,
      emptied: undefined,
      saved: undefined,
      revision: 0,
      storedRevision: undefined,
      told: false,
      awayUntil: 0,
      saving: Promise.resolve(),
      swap: Promise.resolve(),
      handles: new Set<HandleView>(),
    }
    opened.set(key, fresh)
    return fresh
  }

  async function draftFor(source: RecordSource, state: RecordState, from: DraftStart): Promise<Draft> {
    if (state.draft !== undefined) return state.draft
    if (state.aside !== undefined) {
      state.aside.takenUp ??= takeUp(source, state, state.aside.draft)
      return state.aside.takenUp
    }
    const draft = await editingOf(source).begin(from.base)
    // A write and a truncate may have come at once: the first draft is the record's.
    if (state.draft !== undefined) {
      await draft.discard()
      return state.draft
    }
    state.draft = draft
    if (from.bytes.length > 0) await draft.write(from.bytes, 0)
    return draft
  }

  async function takeUp(source: RecordSource, state: RecordState, draft: Draft): Promise<Draft> {
    await empty(source, state, draft)
    state.draft = draft
    state.aside = undefined
    return draft
  }

  /** Saves one after another; what changed while a save was on its way is saved by the next. */
  async function save(
    source: RecordSource,
    state: RecordState,
    from: Writer,
    context: RequestContext,
  ): Promise<void> {
    // Read now: another save of this handle may end before this one begins.
    const { base } = from
    const before = state.saving
    const run = before.then(() => saveNow(source, state, { from, base }, context))
    state.saving = run.catch(alreadyReported)
    await run
  }

  async function saveNow(
    source: RecordSource,
    state: RecordState,
    { from, base }: { from: Writer; base: Uint8Array | undefined },
    context: RequestContext,
  ): Promise<void> {
    const { draft } = state
    if (draft === undefined || draft.size === 0) return
    const { changed, revision } = state
    const bytes = await draft.read(0, draft.size)
    // A text that no program has read is the service's own wording still.
    const wording = draft.meta.unread === true ? {} : { wording: 'own' as const }
    const editing = editingOf(source)
    const handedOver = await editing
      .save(draft, base, context)
      .catch(async (thrown: unknown) => {
        // Another program may have written over the draft while this text was on its way.
        if (state.revision !== revision) await editing.keep(bytes)
        throw thrown
      })
      .finally(() => detachIfApart(source.key, state))
    source.written(changed)
    const others = [...state.handles].filter(handle => handle !== from)
    if (state.told || others.length > 0)
      leases.put(source.key, { bytes, mtime: changed, ...wording }, () => source.seen(bytes))
    else leases.drop(source.key)
    state.saved = bytes.length <= shortText ? bytes : undefined
    for (const handle of state.handles) {
      handle.bytes = bytes
      handle.base = bytes
    }
    // Else a stat would tell the kernel the size of the service's wording, and what they lack of it would be zeros.
    for (const handle of others) {
      handle.held?.release()
      handle.held = leases.hold(source.key)
    }
    if (state.draft === draft && state.revision === revision) {
      state.draft = undefined
      await draft.discard()
    }
    if (handedOver !== undefined) throw handedOver
  }

  /** A text whose id stands for another thing is not shown in that one's place. */
  function detachIfApart(key: string, state: RecordState): void {
    const { draft, handles } = state
    if (draft?.meta.apart !== true || draft.meta.state === 'editing' || handles.size > 0) return
    state.draft = undefined
    leases.drop(key)
  }

  /** `: > f` and nothing written after it: an empty text never becomes a save, and is not kept either. */
  async function dropEmpty(key: string, state: RecordState): Promise<void> {
    const { draft } = state
    if (draft === undefined || draft.size > 0 || state.handles.size > 0) return
    const left = pauseMs - (now() - state.changed)
    if (left > 0) {
      setTimeout(() => dropEmpty(key, state).catch(alreadyReported), left).unref()
      return
    }
    if (await refill(state)) return
    state.draft = undefined
    leases.put(key, { bytes: nothing, mtime: state.changed }, noop)
    await draft.discard()
  }

  async function empty(source: RecordSource, state: RecordState, draft: Draft): Promise<void> {
    const isKept = draft.meta.state !== 'editing' && draft.damage === undefined && draft.size > 0
    if (isKept) state.emptied = await draft.read(0, draft.size)
    await draft.replace(nothing, editingOf(source).keep)
  }

  async function refill(state: RecordState): Promise<boolean> {
    const { draft, emptied } = state
    state.emptied = undefined
    if (draft === undefined || emptied === undefined || draft.size > 0) return false
    touchDraft(state, now())
    await draft.write(emptied, 0)
    await draft.seal()
    touchDraft(state, now())
    return true
  }

  async function present(source: RecordSource, context: RequestContext) {
    const { draft } = stateOf(source.key)
    if (draft !== undefined)
      return { bytes: await draft.read(0, draft.size), isUnread: draft.meta.unread === true }
    const { bytes, wording } = await leases.stat(source.key, () => source.produce(context))
    return { bytes, isUnread: wording === undefined }
  }

  async function endIfStored(key: string, state: RecordState): Promise<void> {
    const { draft, storedRevision } = state
    const isFree = (): boolean =>
      state.draft === draft && state.revision === storedRevision && state.handles.size === 0
    if (draft === undefined || !isFree()) return
    const bytes = await draft.remains()
    // A program may have opened it meanwhile.
    if (!isFree()) return
    state.draft = undefined
    if (draft.damage !== undefined) leases.drop(key)
    else leases.put(key, { bytes, mtime: state.changed, wording: 'own' }, noop)
    await draft.discard()
  }

  return {
    stateOf,
    endIfStored,
    known: key => opened.get(key),
    all: () => opened.values(),
    draftFor,
    save,
    dropEmpty,
    empty,
    refill,
    present,
    detach(key) {
      const state = opened.get(key)
      // What a program is writing stays whole: its save is refused, and sets it apart.
      const isBusy = state !== undefined && (state.handles.size > 0 || state.draft?.meta.state === 'editing')
      if (isBusy) return
      if (state !== undefined) state.draft = undefined
      leases.drop(key)
    },
    detachIfApart,
    setAside(key) {
      const state = opened.get(key)
      if (state?.draft === undefined) return
      state.aside = { draft: state.draft }
      state.draft = undefined
      state.emptied = undefined
      leases.drop(key)
    },
    async endAside(key, draft) {
      const state = opened.get(key)
      if (state?.aside?.draft.id === draft.id) state.aside = undefined
      await draft.discard()
    },
    async drop(key) {
      const state = opened.get(key)
      const draft = state?.draft
      if (state === undefined || draft === undefined) return
      const bytes = await draft.remains()
      state.draft = undefined
      if (draft.damage !== undefined) leases.drop(key)
      else leases.put(key, { bytes, mtime: state.changed, wording: 'given-up' }, noop)
      await draft.discard()
    },
  }
}

/** @throws Failure: why this record cannot be changed */
export function editingOf(source: RecordSource): Editing {
  if (source.editing instanceof Failure) throw source.editing
  return source.editing
}

/** The failure was answered to whoever waited for it, and is kept in the draft's why. */
export function alreadyReported(thrown: unknown): void {
  asFailure(thrown)
}
