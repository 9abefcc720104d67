// Records as files, by node key: stat, open, create and truncate.

import { LRUCache } from 'lru-cache'
import type { Times } from '../../cache/metadata/times.js'
import type { Draft } from '../../edit/journal/draft.js'
import { isAbsent } from '../../failure.js'
import { upTo } from '../../growing-lru.js'
import { chain, type MaybePromise } from '../../maybe-promise.js'
import type { Clock } from '../../remote/clock.js'
import type { ByteOffset, Instant, RequestContext } from '../../remote/remote.js'
import type { Call, OpenAccess } from '../interface/verbs.js'
import type { Place } from '../nodes/place.js'
import { openRecordHandle, type RecordHandle } from './handle.js'
import { freshView, type HandleView, type Replacement } from './handle-view.js'
import { nothing, OpenRecord } from './open-record.js'
import { editingOf, noteRead, type RecordSource, type TextSnapshot } from './source.js'

/** A file that is opened: by which node of the kernel, and what for. */
export interface Opening extends Partial<Call> {
  readonly place: Place
  readonly access: OpenAccess
}

export interface Records {
  stat(source: RecordSource, context: RequestContext): MaybePromise<{ size: number; mtime: Instant }>
  open(source: RecordSource, opening: Opening, context: RequestContext): Promise<RecordHandle>
  /** A record whose file was taken away a moment ago is not there, until it is created again or the pause ends. */
  isAway(key: string): boolean
  /** It is there again at once: what took it away was called off. */
  bringBack(key: string): void
  /** Its pause is over, and it was not created again. */
  isBack(key: string): boolean
  create(source: RecordSource, making: Omit<Opening, 'access'>): Promise<RecordHandle>
  truncate(
    source: RecordSource,
    cut: { readonly place: Place; readonly size: ByteOffset },
    context: RequestContext,
  ): Promise<void>
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
  /** When a program last wrote it, emptied it, or put a text in its place; as far as it is remembered. */
  writtenAt(key: string): Instant | undefined
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

/** Records of which it is remembered when they were written, and what was shown of them last. */
const rememberedRecords = 4096

/** `tell` is told the key of a record at whose names another text is shown now, or none. */
export function openRecords(tell: (key: string) => void, clock: Clock, times: Pick<Times, 'next'>): Records {
  const opened = new Map<string, OpenRecord>()
  const writtenAt = new LRUCache<string, Instant>(upTo(rememberedRecords))
  const shownLast = new LRUCache<string, Instant>(upTo(rememberedRecords))
  const noteWriter = (key: string): void => void writtenAt.set(key, clock.now())

  function toWrite(key: string, handle: RecordHandle): RecordHandle {
    return {
      ...handle,
      write(bytes, offset) {
        noteWriter(key)
        return handle.write(bytes, offset)
      },
    }
  }

  function recordOf(key: string): OpenRecord {
    const known = opened.get(key)
    if (known !== undefined) return known
    const fresh = new OpenRecord(
      key,
      () => tell(key),
      clock,
      () => times.next(key),
    )
    opened.set(key, fresh)
    return fresh
  }

  /** The present text; what is told of another name of the record is over where it is another one than was shown last. */
  function shown(source: RecordSource, context: RequestContext): MaybePromise<TextSnapshot> {
    return chain(source.produce(context), text => {
      const before = shownLast.get(source.key)
      shownLast.set(source.key, text.mtime)
      if (before !== undefined && before !== text.mtime) tell(source.key)
      return text
    })
  }

  async function viewFor(
    source: RecordSource,
    { place, access, process }: Opening,
    context: RequestContext,
  ): Promise<HandleView> {
    const record = recordOf(source.key)
    const { draft } = record
    const mtime = record.changed
    if (draft !== undefined)
      return freshView(place, { bytes: await draft.whole(), mtime, isUnsent: true, process })
    try {
      const text = await shown(source, context)
      source.opened()
      return freshView(place, { ...text, isUnsent: text.isUnsent === true, process })
    } catch (thrown) {
      // A name outlives what it was made for, and a program that reads nothing of it is about to write.
      if (access !== 'write-only' || !source.outlivesText || !isAbsent(thrown)) throw thrown
      return freshView(place, { bytes: nothing, mtime, isUnsent: true, process })
    }
  }

  async function handleFor(
    source: RecordSource,
    opening: Opening,
    context: RequestContext,
  ): Promise<RecordHandle> {
    const view = await viewFor(source, opening, context)
    // Where it is not known who asks, the kernel keeps pages, so that no read may come.
    if (opening.access === 'read' && opening.process === undefined) noteRead(source, view)
    return openRecordHandle(recordOf(source.key), source, view)
  }

  return {
    bringBack: key => opened.get(key)?.bringBack(),
    isBack: key => opened.get(key)?.isBack ?? false,
    isAway: key => opened.get(key)?.isAway ?? false,
    stat(source, context) {
      const draft = opened.get(source.key)?.statDraft()
      if (draft !== undefined) return draft
      return chain(shown(source, context), ({ bytes, mtime }) => ({ size: bytes.length, mtime }))
    },
    async open(source, opening, context) {
      if (opening.access === 'read') return handleFor(source, opening, context)
      editingOf(source)
      await recordOf(source.key).ended(context)
      return toWrite(source.key, await handleFor(source, opening, context))
    },
    writtenAt: key => writtenAt.get(key),
    async create(source, { place, process }) {
      const record = recordOf(source.key)
      await record.draftFor(source, nothing)
      record.touch()
      const view = freshView(place, { bytes: nothing, mtime: clock.now(), isUnsent: true, process })
      await record.writeThrough(view.node)
      await record.draft?.truncate(0)
      record.bringBack()
      record.touch()
      return toWrite(source.key, openRecordHandle(record, source, view))
    },
    async truncate(source, { place, size }, context) {
      editingOf(source)
      noteWriter(source.key)
      const record = recordOf(source.key)
      await record.ended(context)
      record.touch()
      const bytes =
        size === 0 || record.draft !== undefined ? nothing : (await record.present(source, context)).bytes
      const draft = await record.draftFor(source, bytes)
      await record.writeThrough(place)
      if (size === 0) await record.empty(source, draft)
      else await draft.truncate(size)
      record.touch()
      // An open with O_TRUNC comes this way too, and its handle will flush; truncate(2) of a path has no handle.
      if (size === 0) await record.dropEmpty()
      else if (!record.hasHandles) await record.save(source, {}, context)
    },
    async replace(source, text, context) {
      editingOf(source)
      noteWriter(source.key)
      await recordOf(source.key).replace(source, text, context)
    },
    resend: (source, context) => recordOf(source.key).save(source, {}, context),
    async takeAway(source, context, handlesAre, keep = async () => {}) {
      editingOf(source)
      await recordOf(source.key).takeAway(source, context, handlesAre, keep)
    },
    adopt: (key, draft) => recordOf(key).adopt(draft),
    revisionOf: key => recordOf(key).revision,
    endStored: (key, revision) => recordOf(key).endStored(revision),
    async settled() {
      for (const record of opened.values()) await record.refill()
      await Promise.all([...opened.values()].map(({ saving }) => saving))
    },
    draftOf: key => opened.get(key)?.draft,
    drop: async key => opened.get(key)?.drop(),
    setAside: key => opened.get(key)?.setAside(),
    async endAside(key, draft) {
      const record = opened.get(key)
      if (record === undefined) await draft.discard()
      else await record.endAside(draft)
    },
    detach(key) {
      const record = opened.get(key)
      if (record === undefined) tell(key)
      else record.detach()
    },
  }
}
