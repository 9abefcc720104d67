// Records as files: what a handle reads and writes, when a text is saved, and what a stat says meanwhile.
import type { Draft } from '../edit/draft.js'
import { asFailure, Failure } from '../failure.js'
import type { Ask, ByteOffset, Instant } from '../remote/remote.js'
import type { Editing, RecordSource } from './record-source.js'
import { type Open, touch, type View } from './record-state.js'
import type { Held, ShownTexts } from './shown.js'

/** One open file of a record. */
export interface RecordHandle {
  read(target: Uint8Array, offset: ByteOffset): Promise<number>
  write(bytes: Uint8Array, offset: ByteOffset): Promise<void>
  truncate(size: ByteOffset): Promise<void>
  /** close(2) sees this answer: the save's. */
  flush(ask: Ask): Promise<void>
  sync(): Promise<void>
  release(ask: Ask): Promise<void>
}

export interface Records {
  stat(source: RecordSource, ask: Ask): Promise<{ size: number; mtime: Instant }>
  open(source: RecordSource, access: 'read' | 'write', ask: Ask): Promise<RecordHandle>
  /** A record whose file was taken away a moment ago is not there, until somebody makes it or the pause ends. */
  isAway(key: string): boolean
  create(source: RecordSource): Promise<RecordHandle>
  truncate(source: RecordSource, size: ByteOffset, ask: Ask): Promise<void>
  /** A finished text takes the record's place (`mv new.json 42.json`): one save, and its failure is the caller's. */
  replace(source: RecordSource, text: Replacement, ask: Ask): Promise<void>
  /** The unsaved text in the record's place is saved once more, by an explicit wish. */
  resend(source: RecordSource, ask: Ask): Promise<void>
  /** The file is unlinked or renamed away; nothing of it is given up before `keep` has what was in it. */
  takeAway(source: RecordSource, ask: Ask, keep?: (bytes: Uint8Array) => Promise<void>): Promise<void>
  /** A draft left by an earlier mount is shown in its record's place. */
  adopt(key: string, draft: Draft): void
  /** The unsaved text of a record, if it has one. */
  draftOf(key: string): Draft | undefined
  /** Resolves when no save is on its way any more. */
  settled(): Promise<void>
  /** Gives an unsaved text up; the record shows what the service has. */
  drop(key: string): Promise<void>
}

/** A finished text, and the one it was made from, where that is known. */
export interface Replacement {
  readonly text: Uint8Array
  readonly base?: Uint8Array | undefined
}

/** Milliseconds for which a file that was taken away may be created anew: `mv` and vim do both at once. */
export const pauseMs = 2000

const nothing = new Uint8Array()

export function openRecords(shown: ShownTexts, now: () => Instant): Records {
  const opened = new Map<string, Open>()

  function stateOf(key: string): Open {
    const known = opened.get(key)
    if (known !== undefined) return known
    const fresh = {
      draft: undefined,
      changed: now(),
      revision: 0,
      told: false,
      awayUntil: 0,
      saving: Promise.resolve(),
      handles: new Set<View>(),
    }
    opened.set(key, fresh)
    return fresh
  }

  const isAway = (key: string): boolean => (opened.get(key)?.awayUntil ?? 0) > now()

  function editingOf(source: RecordSource): Editing {
    if (source.editing instanceof Failure) throw source.editing
    return source.editing
  }

  async function draftFor(
    source: RecordSource,
    state: Open,
    from: { bytes: Uint8Array; base?: Uint8Array | undefined },
  ): Promise<Draft> {
    if (state.draft !== undefined) return state.draft
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

  /** Saves one after another; what changed while a save was on its way is saved by the next. */
  async function save(
    source: RecordSource,
    state: Open,
    base: Uint8Array | undefined,
    ask: Ask,
  ): Promise<void> {
    const before = state.saving
    const run = before.then(() => saveNow(source, state, base, ask))
    state.saving = run.catch(settled)
    await run
  }

  async function saveNow(
    source: RecordSource,
    state: Open,
    base: Uint8Array | undefined,
    ask: Ask,
  ): Promise<void> {
    const { draft } = state
    if (draft === undefined || draft.size === 0) return
    const { changed, revision } = state
    const bytes = await draft.read(0, draft.size)
    const handedOver = await editingOf(source).save(draft, base, ask)
    source.written(changed)
    if (state.told) shown.put(source.key, { bytes, mtime: changed, wording: 'own' }, () => source.seen(bytes))
    else shown.drop(source.key)
    for (const handle of state.handles) {
      handle.bytes = bytes
      handle.base = bytes
    }
    if (state.draft === draft && state.revision === revision) {
      state.draft = undefined
      await draft.discard()
    }
    if (handedOver !== undefined) throw handedOver
  }

  function handle(source: RecordSource, state: Open, opening: { view: View; held?: Held }): RecordHandle {
    const { view, held } = opening
    state.handles.add(view)

    async function change(work: (draft: Draft) => Promise<void>): Promise<void> {
      if (view.gone) throw new Failure('bad-handle', 'this file was replaced by another while it was open')
      let draft = await draftFor(source, state, view)
      // A save may have ended that draft just now.
      while (draft !== state.draft) draft = await draftFor(source, state, view)
      touch(state, now())
      await work(draft)
      view.wrote = true
      touch(state, now())
    }

    return {
      async read(target, offset) {
        if (state.draft !== undefined && !view.gone) {
          const bytes = await state.draft.read(offset, target.length)
          target.set(bytes)
          return bytes.length
        }
        const bytes = view.bytes.subarray(offset, offset + target.length)
        target.set(bytes)
        if (view.base !== view.bytes && bytes.length > 0) {
          view.base = view.bytes
          const isOwn = held?.shown.wording === 'own'
          if (!isOwn && !(source.editing instanceof Failure)) source.editing.noteRead(view.bytes)
        }
        return bytes.length
      },
      write: (bytes, offset) => change(draft => draft.write(bytes, offset)),
      truncate: size => change(draft => draft.truncate(size)),
      async flush(ask) {
        if (!view.wrote || view.gone) return
        // What is written while the save is under way is the next flush's.
        view.wrote = false
        try {
          await save(source, state, view.base, ask)
        } catch (thrown) {
          view.wrote = true
          throw thrown
        }
      },
      async sync() {
        await state.draft?.sync()
      },
      async release(ask) {
        held?.release()
        state.handles.delete(view)
        // Bytes written through a mapping come after the last flush; nobody waits for this answer any more.
        if (view.wrote && !view.gone && state.draft?.meta.state === 'editing') {
          await save(source, state, view.base, ask)
        }
        await dropEmpty(source.key, state)
      },
    }
  }

  /** `: > f` and nothing written after it: an empty text never becomes a save, and is not kept either. */
  async function dropEmpty(key: string, state: Open): Promise<void> {
    const { draft } = state
    if (draft === undefined || draft.size > 0 || state.handles.size > 0) return
    const left = pauseMs - (now() - state.changed)
    if (left > 0) {
      setTimeout(() => dropEmpty(key, state).catch(settled), left).unref()
      return
    }
    state.draft = undefined
    shown.put(key, { bytes: nothing, mtime: state.changed }, nothingToTell)
    await draft.discard()
  }

  async function present(source: RecordSource, ask: Ask): Promise<Uint8Array> {
    const { draft } = stateOf(source.key)
    if (draft !== undefined) return draft.read(0, draft.size)
    return (await shown.stat(source.key, () => source.produce(ask))).bytes
  }

  return {
    isAway,
    async stat(source, ask) {
      const state = opened.get(source.key)
      if (state?.draft !== undefined) {
        state.told = true
        return { size: state.draft.size, mtime: state.changed }
      }
      const { bytes, mtime } = await shown.stat(source.key, () => source.produce(ask))
      return { size: bytes.length, mtime }
    },
    async open(source, access, ask) {
      if (access === 'write') editingOf(source)
      const state = stateOf(source.key)
      if (state.draft !== undefined) {
        return handle(source, state, { view: { bytes: nothing, base: undefined, wrote: false, gone: false } })
      }
      const held = await shown.open(source.key, () => source.produce(ask))
      source.opened()
      return handle(source, state, {
        view: { bytes: held.shown.bytes, base: undefined, wrote: false, gone: false },
        held,
      })
    },
    async create(source) {
      const state = stateOf(source.key)
      await draftFor(source, state, { bytes: nothing })
      await state.draft?.truncate(0)
      state.awayUntil = 0
      touch(state, now())
      return handle(source, state, { view: { bytes: nothing, base: undefined, wrote: false, gone: false } })
    },
    async truncate(source, size, ask) {
      editingOf(source)
      const state = stateOf(source.key)
      const bytes = size === 0 || state.draft !== undefined ? nothing : await present(source, ask)
      const draft = await draftFor(source, state, { bytes })
      await draft.truncate(size)
      touch(state, now())
      // An open with O_TRUNC comes this way too, and its handle will flush; truncate(2) of a path has no handle.
      if (size === 0) await dropEmpty(source.key, state)
      else if (state.handles.size === 0) await save(source, state, undefined, ask)
    },
    async replace(source, { text, base }, ask) {
      const state = stateOf(source.key)
      const draft = await draftFor(source, state, { bytes: nothing, base })
      await draft.truncate(0)
      await draft.write(text, 0)
      touch(state, now())
      state.awayUntil = 0
      for (const view of state.handles) view.gone = true
      await save(source, state, base, ask)
    },
    resend: (source, ask) => save(source, stateOf(source.key), undefined, ask),
    async takeAway(source, ask, keep = async () => {}) {
      editingOf(source)
      const state = stateOf(source.key)
      // What is written meanwhile goes with it.
      for (let kept = -1; kept !== state.revision; ) {
        kept = state.revision
        await keep(await present(source, ask))
      }
      for (const view of state.handles) view.gone = true
      const { draft } = state
      // What was unsaved goes where the file goes; the draft of a refused save stays to be looked at.
      if (draft !== undefined && draft.meta.state === 'editing') {
        state.draft = undefined
        await draft.discard()
      }
      state.awayUntil = now() + pauseMs
    },
    adopt(key, draft) {
      const state = stateOf(key)
      state.draft ??= draft
      state.changed = draft.meta.changed as Instant
    },
    async settled() {
      await Promise.all([...opened.values()].map(({ saving }) => saving))
    },
    draftOf: key => opened.get(key)?.draft,
    async drop(key) {
      const state = opened.get(key)
      const draft = state?.draft
      if (state === undefined || draft === undefined) return
      const bytes = await draft.read(0, draft.size)
      state.draft = undefined
      shown.put(key, { bytes, mtime: state.changed }, nothingToTell)
      await draft.discard()
    },
  }
}

function nothingToTell(): void {}

/** The failure was answered to whoever waited for it, and is kept in the draft's why. */
function settled(thrown: unknown): void {
  asFailure(thrown)
}
